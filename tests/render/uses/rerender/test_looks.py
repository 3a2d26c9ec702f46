"""An episode in several looks."""

from __future__ import annotations

import pytest

from diorama.render.compiler import compile_episode
from diorama.render.uses.rerender.looks import look_scenes
from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import SceneContrast
from diorama.scene_specs.model.spec import EpisodeSpec

SETTINGS = settings_for("draft", 64, 48)
SPEC = EpisodeSpec.model_validate({"version": 1, "id": "l/1", "seed": 3, "frames": [{"objects": [{"color": "red"}]}]})


def test_a_scene_for_each_look() -> None:
    plain, wood = look_scenes(SPEC, SETTINGS, ["plain", "wood"], ())
    assert (plain.id, wood.id) == ("l/1+plain", "l/1+wood")
    assert plain.look is None and wood.look is not None
    assert plain.frames == wood.frames
    with pytest.raises(UsageError, match="has the look 'wood'"):
        look_scenes(wood, SETTINGS, ["tiles"], ())


def test_members_of_a_contrast_stay_together() -> None:
    source = compile_episode(SPEC, SETTINGS)
    names = {"pair": "l/1+color", "source": "l/1", "frame": "frame-0", "objects": ("x",)}
    part = SceneContrast.model_validate({**names, "change": "color", "member": 0, "members": 2, "values": (1, 2)})
    (wood,) = look_scenes(source.model_copy(update={"contrast": part, "id": "l/1+color-0"}), SETTINGS, ["wood"], ())
    assert wood.contrast is not None
    assert (wood.id, wood.contrast.pair) == ("l/1+color-0+wood", "l/1+color+wood")
