"""Apply a look to a compiled Scene: nothing that ids, depth or boxes depend on changes."""

from __future__ import annotations

from diorama.scene_specs.language.model_names import is_model
from diorama.scene_specs.language.rng import Keys, pick
from diorama.scene_specs.model.look import PLAIN, Look, LookError, Recipe, SceneLook, load_look, look_digest
from diorama.scene_specs.model.materials import scatters
from diorama.scene_specs.model.scene import Scene, SceneFrame, SceneLight, SceneObject
from diorama.scene_specs.model.stage import scene_stage
from diorama.scene_specs.rotation import rounded, rounded3

# Textures repeat, if at all, after much more than that, Blender units.
_FAR = 64.0


def with_look(scene: Scene, name: str, variant: int | None = None, words: bool = True) -> Scene:
    """Return a plain Scene in a look.

    Args:
        variant: number of the look's variant, None to draw it from the seed.
        words: whether to refuse objects whose color words do not hold.

    Raises:
        LookError: there is no such look or variant, or the stage has no ground.
    """
    if name == PLAIN:
        return scene
    if (stage := scene_stage(scene)).ground is None:
        raise LookError(f"episode {scene.id}: stage {scene.stage!r} has no ground, so it has no look but {PLAIN}")
    look, keys = load_look(name), Keys(scene.seed, scene.id, "look")
    rng = keys.generator(name)
    drawn, offset = int(rng.integers(max(len(look.variants), 1))), (rng.random(2) * _FAR).tolist()
    number = drawn if variant is None else variant
    if number >= (count := max(len(look.variants), 1)):
        raise LookError(f"episode {scene.id}: found variant {number} of look {name!r}; allowed: 0 to {count - 1}")
    chosen = look.variant(number, stage.name)
    resolved = SceneLook(
        name=name,
        variant=number,
        ground=chosen.ground,
        offset=(rounded(offset[0]), rounded(offset[1])),
        sky=chosen.sky,
        gain=rounded3([chosen.exposure * part for part in chosen.white]),
        finish=chosen.finish,
    )
    if words:
        _check_words(scene, name, chosen)
    frames = tuple(_frame_in_look(frame, chosen, Keys(scene.seed, scene.id, frame.name)) for frame in scene.frames)
    assets = dict(sorted({**scene.assets, f"look:{name}": look_digest(name)}.items()))
    return scene.model_copy(update={"look": resolved, "frames": frames, "assets": assets})


def _check_words(scene: Scene, name: str, look: Look) -> None:
    """Raise LookError for an object whose color word does not hold."""
    for frame in scene.frames:
        for item in frame.objects:
            if not look.keeps_word(item.color, item.material.name):
                raise LookError(
                    f"episode {scene.id}: frame {frame.name}: object {item.name!r} is {item.color} "
                    f"{item.material.name}, whose color does not hold in look {name!r}; use another color, "
                    "material or look"
                )


def _frame_in_look(frame: SceneFrame, look: Look, keys: Keys) -> SceneFrame:
    changes = {change.name: change.model_dump(exclude_none=True) for change in look.lights}
    lights = tuple(
        SceneLight.model_validate({**light.model_dump(), **changes.get(light.name, {})}) for light in frame.lights
    )
    rng = keys.generator("patterns")
    objects = frame.objects
    if look.patterns:
        pointer = frame.pointer and frame.pointer.index
        objects = tuple(
            item if item.index == pointer else _with_pattern(item, pick(rng, look.patterns)) for item in frame.objects
        )
    return frame.model_copy(update={"lights": lights, "objects": objects})


def _with_pattern(item: SceneObject, pattern: Recipe) -> SceneObject:
    if is_model(item.shape) or item.material.blend is not None or not scatters(item.material.name):
        return item
    return item.model_copy(update={"material": item.material.model_copy(update={"pattern": pattern})})
