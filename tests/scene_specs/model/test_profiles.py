"""Profiles: their file, and Settings made of them."""

import pytest

from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.model.profiles import DEFAULT_PROFILE, episode_settings, profiles, settings_for
from diorama.scene_specs.model.scene import Settings
from diorama.scene_specs.model.spec import EpisodeSpec
from tests.factories import make_scene

SIZE = {"profile", "width", "height"}


@pytest.mark.parametrize("name", profiles())
def test_each_profile_says_every_setting(name: str) -> None:
    # A field left to its default would mean what older Scenes meant, not what the profile wants.
    assert set(profiles()[name]) == set(Settings.model_fields) - SIZE
    settings = settings_for(name, 64, 48)
    assert (settings.profile, settings.width, settings.height) == (name, 64, 48)


def test_the_usual_ones_cost_more_from_draft_to_reference() -> None:
    assert DEFAULT_PROFILE == "standard"
    samples = [settings_for(name, 64, 48).samples for name in ("draft", "standard", "fine", "clevr-512", "reference")]
    assert samples == sorted(set(samples))


def test_an_unknown_profile_is_named_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"unknown profile 'standart'; allowed: draft, .* did you mean 'standard'"):
        settings_for("standart", 64, 48)


def test_a_file_can_not_ask_for_a_huge_image() -> None:
    canvas = {"version": 1, "id": "a", "stage": "flat", "canvas": [10_000, 10_000], "frames": [{}]}
    own = make_scene().model_copy(update={"settings": settings_for("standard", 10_000, 1000)})
    for episode, size in ((EpisodeSpec.model_validate(canvas), (10_000, 10_000)), (own, (10_000, 1000))):
        asked = f"{size[0]}x{size[1]}"
        with pytest.raises(UsageError, match=f"allowed: at most 8,388,608 pixels, unless you pass --size {asked}"):
            episode_settings(episode)
        assert episode_settings(episode, size=size).width == 10_000


def test_a_scene_keeps_its_own_settings_unless_another_profile_is_asked_for() -> None:
    own = settings_for("standard", 64, 48).model_copy(update={"samples": 5})
    scene = make_scene().model_copy(update={"settings": own})
    assert episode_settings(scene) == own
    assert episode_settings(scene, size=(32, 24)) == own.model_copy(update={"width": 32, "height": 24})
    assert episode_settings(scene, "draft") == settings_for("draft", 64, 48)


def test_a_spec_has_the_default_profile_at_its_stages_size() -> None:
    spec = EpisodeSpec.model_validate({"version": 1, "id": "a", "frames": [{"objects": [{"shape": "cube"}]}]})
    assert episode_settings(spec) == settings_for(DEFAULT_PROFILE, 320, 240)
    assert episode_settings(spec, "draft", (64, 48)) == settings_for("draft", 64, 48)
