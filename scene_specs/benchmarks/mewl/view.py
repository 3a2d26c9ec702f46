"""What a learner sees of an episode, as JSON data: the only input of verification.

    {"task": "relation",
     "images": [{"utterance": "cyan cube sapito red sphere",
                 "objects": [{"shape": "cube", "color": "cyan", "material": "rubber", "size": "large"}, ...],
                 "relations": [["left", 0, 1], ["front", 2, 0], ...],
                 "open": [],
                 "pointed": null},
                ...],
     "options": ["red cube sapito gray sphere", ...]}

images: the six contexts, then the query, whose utterance is null.
relations: [relation, i, j]: object i (index in `objects`) stands in the relation to object j. The list has all
relations that follow from the constraints, or from locations and camera if the spec gives all of them.
open: [axis, i, j], i < j: pairs with unknown relation along axis 0 (left, right) or 1 (front, behind). If a pair is
neither related nor open along an axis, no relation along it is true.
pointed: index of the object that the hand points at, null without a hand. The hand is not an object.
The view leaves out names of objects and the stored truth, which verification must not use.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations, permutations, product
from typing import Any, TypeGuard, TypeVar

from diorama.scene_specs.benchmarks.mewl.draft import AXES, CONTEXTS, TYPES, VALUES
from diorama.scene_specs.benchmarks.mewl.lexicons import KNOWN
from diorama.scene_specs.language.diagnostics import preview_json
from diorama.scene_specs.language.errors import Diagnostic, SpecError
from diorama.scene_specs.language.invented import is_invented
from diorama.scene_specs.language.rendered import ImageRecord, ObjectAnnotation, PointerAnnotation, RenderedEpisode
from diorama.scene_specs.language.stage import load_stage
from diorama.scene_specs.language.vocabulary import OPPOSITE

# The published tasks have five.
MOST_OPTIONS = 50

View = dict[str, Any]
_Object = TypeVar("_Object", bound=ObjectAnnotation)


def learner_view(data: Mapping[str, Any]) -> View:
    """Return the view of an episode, as JSON data; the module docstring describes the form.

    Raises SpecError, with locations, if the spec is not a MEWL episode or leaves open what a learner sees.
    """
    diagnostics, images = [], []
    for number, frame in enumerate(data["frames"]):
        found, image = _image(frame, f"frames[{number}]")
        diagnostics += found
        images.append({"utterance": frame.get("utterance"), **image})
    if diagnostics:
        raise _spec_error(str(data.get("id", "")), diagnostics)
    return with_images(data.get("task") or {}, images, str(data.get("id", "")))


def with_images(task: Mapping[str, Any], images: list[dict[str, Any]], episode: str) -> View:
    """Return the view of seven images and a task. Raises SpecError if they are not a MEWL episode."""
    diagnostics = _task_problems(task, len(images))
    diagnostics += [
        (f"frames[{k}].utterance", "found nothing; allowed: what the context says")
        for k, image in enumerate(images[:-1])
        if not isinstance(image["utterance"], str)
    ]
    if diagnostics:
        raise _spec_error(episode, diagnostics)
    query = {**images[-1], "utterance": None}
    return {"task": task["name"], "images": [*images[:-1], query], "options": list(task["options"])}


def without_pointer(objects: Sequence[_Object], pointer: PointerAnnotation | None) -> list[_Object]:
    """Return the objects of an image without the pointer, which takes part in no relation."""
    return [item for item in objects if pointer is None or item.name != pointer.name]


def view_of_record(episode: RenderedEpisode) -> View:
    """Return the view of a rendered episode: visible objects, measured relations, the pointed object.

    An object counts as visible if it has at least half the pixels that the stage requires. Raises SpecError if the
    episode is not a MEWL episode.
    """
    stage = load_stage(episode.scene.stage)
    utterances = {frame.name: frame.utterance for frame in episode.scene.frames}
    images = []
    for image in episode.images:
        share = image.width * image.height / (stage.size[0] * stage.size[1])
        least = 0.5 * stage.placement.min_visible_pixels * share
        images.append({"utterance": utterances.get(image.frame), **_visible(image, least)})
    return with_images(episode.scene.task or {}, images, episode.episode_id)


def _visible(image: ImageRecord, least: float) -> dict[str, Any]:
    """Return what an image shows of its objects with `least` visible pixels or more."""
    truth = image.annotation
    items = [item for item in without_pointer(truth.objects, truth.pointer) if item.visible_pixels >= least]
    at = {item.name: k for k, item in enumerate(items)}
    relations = [
        [relation, at[subject], at[of]]
        for relation, table in truth.relations.items()
        for of, subjects in table.items()
        for subject in subjects
        if subject in at and of in at
    ]
    objects = [{"shape": o.shape, "color": o.color, "material": o.material, "size": o.size} for o in items]
    pointed = at.get(truth.pointer.target) if truth.pointer is not None else None
    return {"objects": objects, "relations": relations, "open": [], "pointed": pointed}


def _spec_error(episode: str, diagnostics: list[tuple[str, str]]) -> SpecError:
    return SpecError([Diagnostic("", 0, episode, path, problem) for path, problem in diagnostics])


def _task_problems(task: Mapping[str, Any], frames: int) -> list[tuple[str, str]]:
    diagnostics = []
    if task.get("benchmark") != "mewl" or not isinstance(task.get("name"), str) or task["name"] not in KNOWN:
        found = f"found benchmark {task.get('benchmark')!r}, name {task.get('name')!r}"
        diagnostics.append(("task", f"{found}; allowed: benchmark 'mewl' and one of {', '.join(KNOWN)}"))
    options = task.get("options")
    if not _is_texts(options) or not 0 < len(options) <= MOST_OPTIONS or "" in options:
        problem = f"found {preview_json(options)}; allowed: a list of 1 to {MOST_OPTIONS} texts, none of them empty"
        diagnostics.append(("task.options", problem))
    for key in ("words", "lexicon"):
        if not isinstance(task.get(key), Mapping | None):
            problem = f"found {preview_json(task[key])}; allowed: a map from words to meanings"
            diagnostics.append((f"task.{key}", problem))
    if not _is_texts(task.get("types", ())):
        diagnostics.append(("task.types", f"found {preview_json(task['types'])}; allowed: a list of texts"))
    if not isinstance(task.get("answer"), str):
        diagnostics.append(("task.answer", f"found {task.get('answer')!r}; allowed: one of the options"))
    if frames != CONTEXTS + 1:
        diagnostics.append(("frames", f"found {frames}; allowed: {CONTEXTS} contexts and the query"))
    return diagnostics


def _is_texts(value: object) -> TypeGuard[Sequence[str]]:
    return isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(one, str) for one in value)


def _image(frame: Mapping[str, Any], path: str) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    diagnostics, objects = [], []
    listed = frame.get("objects", ())
    names = [item.get("name") or f"object-{k}" for k, item in enumerate(listed)]
    for k, item in enumerate(listed):
        objects.append({kind: item.get(kind) for kind in TYPES})
        for kind in TYPES:
            if item.get(kind) not in VALUES[kind] and not (kind == "shape" and is_invented(item.get(kind))):
                allowed = f"verification needs one of {', '.join(VALUES[kind])}"
                diagnostics.append((f"{path}.objects[{k}].{kind}", f"found {item.get(kind)!r}; {allowed}"))
    if frame.get("random_objects"):
        diagnostics.append((f"{path}.random_objects", "verification needs all objects in the spec"))
    target = (frame.get("pointer") or {}).get("target")
    if target is not None and target not in names:
        diagnostics.append((f"{path}.pointer.target", f"found {target!r}; allowed: {', '.join(names)}"))
    relations, unknown = _required(frame.get("constraints", ()), names)
    locations, camera = [item.get("location") for item in listed], _fixed_camera(frame)
    if camera is not None and None not in locations:
        relations, unknown = _from_locations(locations, camera), []
    pointed = names.index(target) if target in names else None
    return diagnostics, {"objects": objects, "relations": relations, "open": unknown, "pointed": pointed}


def _required(constraints: Sequence[Mapping[str, Any]], names: list[str]) -> tuple[list[list[Any]], list[list[int]]]:
    """Return all relations that follow from the constraints, and the pairs with unknown relations."""
    relations: list[list[Any]] = []
    unknown: list[list[int]] = []
    number = len(names)
    for axis, (first, second) in enumerate(AXES):
        before = set()
        for constraint in constraints:
            relation = constraint.get("relation")
            if relation in (first, second) and constraint["subject"] in names and constraint["of"] in names:
                pair = (names.index(constraint["subject"]), names.index(constraint["of"]))
                before.add(pair if relation == first else pair[::-1])
        # Warshall's algorithm: the intermediate object k is the outermost loop.
        for k, a, b in product(range(number), repeat=3):
            if (a, k) in before and (k, b) in before:
                before.add((a, b))
        for a, b in combinations(range(number), 2):
            if (a, b) in before:
                relations += [[first, a, b], [OPPOSITE[first], b, a]]
            elif (b, a) in before:
                relations += [[first, b, a], [OPPOSITE[first], a, b]]
            else:
                unknown.append([axis, a, b])
    return relations, unknown


def _fixed_camera(frame: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the camera that defines relations, None if its location is not fixed."""
    views = frame.get("views")
    camera: Mapping[str, Any] = (views[0] if views else frame.get("camera")) or {}
    return None if camera.get("location") is None or camera.get("jitter") else camera


def _from_locations(locations: Sequence[Sequence[float]], camera: Mapping[str, Any]) -> list[list[Any]]:
    """Return CLEVR's relations of locations: along the camera's axes on the ground, by more than 0.2."""
    stage = load_stage("clevr")
    aim = camera.get("look_at") or stage.camera.look_at
    x, y = aim[0] - camera["location"][0], aim[1] - camera["location"][1]
    length = math.hypot(x, y)
    if length == 0:
        return []
    behind = (x / length, y / length)
    axes = {"left": (-behind[1], behind[0]), "front": (-behind[0], -behind[1])}
    relations: list[list[Any]] = []
    for (a, one), (b, two) in permutations(enumerate(locations), 2):
        for relation, axis in axes.items():
            if (one[0] - two[0]) * axis[0] + (one[1] - two[1]) * axis[1] > stage.placement.relation_threshold:
                relations += [[relation, a, b], [OPPOSITE[relation], b, a]]
    return relations
