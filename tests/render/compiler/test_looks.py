"""A look changes light, ground, patterns and finish of a Scene, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from diorama.render.compiler import compile_episode
from diorama.render.compiler.looks import with_look
from diorama.render.compiler.render_key import picture_key, recipes_of, render_key_of
from diorama.scene_specs.model.look import LookError, load_look, look_names
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import EpisodeSpec

SETTINGS = settings_for("draft", 64, 48)


def spec(look: Any = None, **changes: Any) -> EpisodeSpec:
    things = [{"shape": "cube", "color": color, "material": "rubber"} for color in ("red", "blue", "gray")]
    data = {"version": 1, "id": "l/1", "seed": 3, "frames": [{"objects": things}], "look": look, **changes}
    return EpisodeSpec.model_validate(data)


def without_look(scene: Scene) -> dict[str, Any]:
    """What no look may change."""
    data = scene.model_dump(mode="json", exclude={"look"})
    data["assets"] = {name: value for name, value in data["assets"].items() if not name.startswith("look:")}
    for frame in data["frames"]:
        del frame["lights"]
        for item in frame["objects"]:
            item["material"].pop("pattern", None)
    return data


@pytest.mark.parametrize("name", look_names())
def test_nothing_else_changes(name: str) -> None:
    plain, scene = compile_episode(spec(), SETTINGS), compile_episode(spec(name), SETTINGS)
    assert without_look(scene) == without_look(plain)
    assert (scene == plain) == (name == "plain")
    assert scene == compile_episode(spec(name), SETTINGS) == with_look(plain, name)
    if name != "plain":
        assert scene.look is not None and scene.look.variant < len(load_look(name).variants)
        assert Scene.model_validate_json(scene.to_json()) == scene


@pytest.mark.parametrize(("name", "least", "most"), [("daylight", 0.35, 0.6), ("evening", 0.35, 0.6), ("wood", 1, 1)])
def test_looks_with_lamps_of_their_own_are_exposed_for_the_stage(name: str, least: float, most: float) -> None:
    """CLEVR's lamps have a third of the power of MEWL's, so what has lamps of its own would be far too light."""
    for variant in range(len(load_look(name).variants)):
        look = {"name": name, "variant": variant}
        clevr, mewl = (compile_episode(spec(look, stage=stage), SETTINGS) for stage in ("clevr", "mewl"))
        assert clevr.look is not None and mewl.look is not None
        assert least <= clevr.look.gain[1] / mewl.look.gain[1] <= most


def test_plain_has_the_key_of_no_look() -> None:
    for key in (render_key_of, lambda one, *rest: compile_episode(one, SETTINGS).to_json()):
        assert key(spec(), SETTINGS, "cycles") == key(spec("plain"), SETTINGS, "cycles")
    wood = render_key_of(spec("wood"), SETTINGS, "cycles")
    assert wood.hash() != render_key_of(spec(), SETTINGS, "cycles").hash()
    assert "look:wood" in wood.assets
    assert wood.assets == render_key_of(compile_episode(spec("wood"), SETTINGS), SETTINGS, "cycles").assets


def test_variants_are_drawn_by_the_seed() -> None:
    drawn = {compile_episode(spec("wood", seed=seed), SETTINGS).look.variant for seed in range(24)}  # type: ignore[union-attr]
    assert drawn == {*range(len(load_look("wood").variants))}
    first, second = (compile_episode(spec({"name": "wood", "variant": n}), SETTINGS) for n in (0, 1))
    assert first.look is not None and second.look is not None and first.look.ground != second.look.ground
    assert first.look.offset == second.look.offset
    keys = {picture_key(scene, scene.frames[0], scene.frames[0].views[0]) for scene in (first, second)}
    assert len(keys) == 2
    with pytest.raises(LookError, match=r"variant 99 .*allowed: 0 to 3"):
        with_look(compile_episode(spec(), SETTINGS), "wood", 99)


def test_patterns_are_for_what_scatters_light() -> None:
    things = [{"shape": "sphere", "color": "red", "material": name} for name in ("rubber", "metal", "glass")]
    scene = with_look(compile_episode(spec(frames=[{"objects": things}]), SETTINGS), "patterns", words=False)
    assert [item.material.pattern is not None for item in scene.frames[0].objects] == [True, True, False]
    assert {*recipes_of("patterns")} > {"pattern:dots", "ground:concrete"}


def test_what_has_no_look_or_no_words() -> None:
    flat = {
        "version": 1,
        "id": "f",
        "stage": "flat",
        "frames": [{"objects": [{"shape": "circle", "location": [0, 0]}]}],
    }
    with pytest.raises(LookError, match="no ground"):
        with_look(compile_episode(EpisodeSpec.model_validate(flat), SETTINGS), "wood")
    glass = [{"shape": "sphere", "color": "blue", "material": "glass"}]
    plain = compile_episode(spec(frames=[{"objects": glass}]), SETTINGS)
    lost = next(name for name in look_names()[1:] if not load_look(name).keeps_word("blue", "glass"))
    with pytest.raises(LookError, match="blue glass"):
        with_look(plain, lost)
    assert with_look(plain, lost, words=False).look is not None
