"""The identity of an episode is data: stored and read, it is the same."""

from __future__ import annotations

from diorama.render.compiler.render_key import render_key_of
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.record import RenderKey
from diorama.scene_specs.model.spec import EpisodeSpec


def test_a_key_is_the_same_after_storing() -> None:
    frame = {
        "objects": [{"location": [0.5, 1.0], "rotation_deg": [10, 20, 30], "color": [9, 8, 7]}],
        "random_objects": {"count": [1, 3]},
        "passes": ["depth"],
    }
    spec = EpisodeSpec.model_validate({"version": 1, "id": "key", "frames": [frame]})
    key = render_key_of(spec, settings_for("draft", 64, 48), "fake")
    assert RenderKey.model_validate_json(key.model_dump_json()) == key
    assert key.spec == spec.model_dump(mode="json", exclude_none=True)
    assert (key.settings["width"], key.renderer) == (64, "fake")
