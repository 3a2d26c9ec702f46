"""What a learner sees of an episode: the only input of verification.

The view leaves out names of objects and the stored truth, which verification must not use.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations, permutations, product
from typing import Any, NamedTuple, TypeVar

from diorama.scene_specs.benchmarks.mewl import TaskName
from diorama.scene_specs.benchmarks.mewl.draft import AXES, CONTEXTS, TYPES, VALUES, Object
from diorama.scene_specs.benchmarks.mewl.truth import Truth
from diorama.scene_specs.errors import Diagnostic, SpecError
from diorama.scene_specs.language.invented import is_invented
from diorama.scene_specs.language.vocabulary import OPPOSITE
from diorama.scene_specs.model.record import EpisodeRecord, ImageRecord, ObjectAnnotation, PointerAnnotation
from diorama.scene_specs.model.spec import EpisodeData, FrameData
from diorama.scene_specs.model.stage import load_stage, scene_stage

_Object = TypeVar("_Object", bound=ObjectAnnotation)
_Related = tuple[str, int, int]
_Open = tuple[int, int, int]


class SeenImage(NamedTuple):
    """What an image shows; the hand is not an object.

    Attributes:
        utterance: of a context; "" for the query.
        objects: "" stands for a color or size without a name.
        relations: (relation, i, j): object i stands in the relation to object j. All that follow from the constraints,
            or from locations and camera if the spec gives all of them.
        open: (axis, i, j), i < j: pairs with unknown relation along axis 0 (left, right) or 1 (front, behind). If a
            pair is neither related nor open along an axis, no relation along it is true.
        pointed: index of the object that the hand points at, None without a hand.
    """

    utterance: str
    objects: Sequence[Object]
    relations: Collection[_Related] = ()
    open: Collection[_Open] = ()
    pointed: int | None = None


class View(NamedTuple):
    """What a learner sees.

    Attributes:
        images: the six contexts, then the query.
    """

    task: TaskName
    images: Sequence[SeenImage]
    options: Sequence[str]

    @property
    def query(self) -> SeenImage:
        """The image that an option names."""
        return self.images[CONTEXTS]


def learner_view(data: EpisodeData, truth: Truth | None = None) -> View:
    """Return the view of an episode, as JSON data.

    Args:
        truth: that of the episode, if it was read before.

    Raises:
        SpecError: the spec is not a MEWL episode, or leaves open what a learner sees; has locations.
    """
    truth, diagnostics, images = truth or Truth.of_spec(data), [], []
    for number, frame in enumerate(data["frames"]):
        problems, image = _image_of_frame(frame, f"frames[{number}]")
        diagnostics += problems
        images.append(image)
    return _build_view(truth, images, str(data.get("id", "")), diagnostics)


def _build_view(truth: Truth, images: list[SeenImage], episode: str, diagnostics: list[tuple[str, str]]) -> View:
    """Return the view of images and a task. Raises SpecError if there are diagnostics, or not seven images."""
    if len(images) != CONTEXTS + 1:
        diagnostics.append(("frames", f"found {len(images)}; allowed: {CONTEXTS} contexts and the query"))
    diagnostics += [
        (f"frames[{k}].utterance", "found nothing; allowed: what the context says")
        for k, image in enumerate(images[:-1])
        if not image.utterance
    ]
    if diagnostics:
        raise SpecError([Diagnostic("", 0, episode, path, problem) for path, problem in diagnostics])
    return View(truth.name, [*images[:-1], images[-1]._replace(utterance="")], truth.options)


def without_pointer(objects: Sequence[_Object], pointer: PointerAnnotation | None) -> list[_Object]:
    """Return the objects of an image without the pointer, which takes part in no relation."""
    return [item for item in objects if pointer is None or item.name != pointer.name]


def view_of_record(episode: EpisodeRecord, truth: Truth) -> View:
    """Return the view of a rendered episode: visible objects, measured relations, the pointed object.

    An object counts as visible if it has at least half the pixels that the stage requires. Raises SpecError if the
    episode is not a MEWL episode.
    """
    stage = scene_stage(episode.scene)
    utterances = {frame.name: frame.utterance or "" for frame in episode.scene.frames}
    images = []
    for image in episode.images:
        share = image.width * image.height / (stage.size[0] * stage.size[1])
        least = 0.5 * stage.placement.min_visible_pixels * share
        images.append(_seen_image(image, least, utterances.get(image.frame, "")))
    return _build_view(truth, images, episode.episode_id, [])


def _seen_image(image: ImageRecord, least: float, utterance: str) -> SeenImage:
    """Return what an image shows of its objects with `least` visible pixels or more."""
    truth = image.annotation
    items = [item for item in without_pointer(truth.objects, truth.pointer) if item.visible_pixels >= least]
    at = {item.name: k for k, item in enumerate(items)}
    relations = [
        (relation, at[subject], at[of])
        for relation, table in truth.relations.items()
        for of, subjects in table.items()
        for subject in subjects
        if subject in at and of in at
    ]
    objects = [(o.shape, o.color or "", o.material, o.size or "") for o in items]
    return SeenImage(utterance, objects, relations, (), at.get(truth.pointer.target) if truth.pointer else None)


def _image_of_frame(frame: FrameData, path: str) -> tuple[list[tuple[str, str]], SeenImage]:
    diagnostics, objects = [], list[Object]()
    listed: Any = frame.get("objects", ())
    names = [item.get("name") or f"object-{k}" for k, item in enumerate(listed)]
    for k, item in enumerate(listed):
        objects.append((item.get("shape"), item.get("color"), item.get("material"), item.get("size")))
        for kind in TYPES:
            if item.get(kind) not in VALUES[kind] and not (kind == "shape" and is_invented(item.get(kind))):
                allowed = f"verification needs one of {', '.join(VALUES[kind])}"
                diagnostics.append((f"{path}.objects[{k}].{kind}", f"found {item.get(kind)!r}; {allowed}"))
    if frame.get("random_objects"):
        diagnostics.append((f"{path}.random_objects", "verification needs all objects in the spec"))
    target = (frame.get("pointer") or {}).get("target")
    if target is not None and target not in names:
        diagnostics.append((f"{path}.pointer.target", f"found {target!r}; allowed: {', '.join(names)}"))
    relations, unknown = _implied(frame.get("constraints", ()), names)
    locations, camera = [item.get("location") for item in listed], _fixed_camera(frame)
    if camera is not None and None not in locations:
        relations, unknown = _from_locations(locations, camera), []
    pointed = names.index(target) if target in names else None
    return diagnostics, SeenImage(frame.get("utterance") or "", objects, relations, unknown, pointed)


def _implied(constraints: Sequence[Mapping[str, Any]], names: list[str]) -> tuple[list[_Related], list[_Open]]:
    """Return all relations that follow from the constraints, and the pairs with unknown relations."""
    relations: list[_Related] = []
    unknown: list[_Open] = []
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
                relations += [(first, a, b), (OPPOSITE[first], b, a)]
            elif (b, a) in before:
                relations += [(first, b, a), (OPPOSITE[first], a, b)]
            else:
                unknown.append((axis, a, b))
    return relations, unknown


def _fixed_camera(frame: FrameData) -> Mapping[str, Any] | None:
    """Return the camera that defines relations, None if its location is not fixed."""
    views = frame.get("views")
    camera: Mapping[str, Any] = (views[0] if views else frame.get("camera")) or {}
    return None if camera.get("location") is None or camera.get("jitter") else camera


def _from_locations(locations: Sequence[Sequence[float]], camera: Mapping[str, Any]) -> list[_Related]:
    """Return CLEVR's relations of locations: along the camera's axes on the ground, by more than 0.2."""
    stage = load_stage("mewl")
    aim = camera.get("look_at") or stage.camera.look_at
    x, y = aim[0] - camera["location"][0], aim[1] - camera["location"][1]
    length = math.hypot(x, y)
    if length == 0:
        return []
    behind = (x / length, y / length)
    axes = {"left": (-behind[1], behind[0]), "front": (-behind[0], -behind[1])}
    relations: list[_Related] = []
    for (a, here), (b, there) in permutations(enumerate(locations), 2):
        for relation, axis in axes.items():
            if (here[0] - there[0]) * axis[0] + (here[1] - there[1]) * axis[1] > stage.placement.relation_threshold:
                relations += [(relation, a, b), (OPPOSITE[relation], b, a)]
    return relations
