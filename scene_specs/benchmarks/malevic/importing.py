"""Import MALeViC's published annotations, as items with everything given; labels and answers are recomputed.

An annotation file has no question: the question file of the same split has, and an image only shows which way a
triangle points.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, ValidationError

from diorama.scene_specs.benchmarks.malevic.generate import task_of_scene
from diorama.scene_specs.benchmarks.malevic.labels import label_of
from diorama.scene_specs.benchmarks.malevic.layout import Canvas
from diorama.scene_specs.benchmarks.malevic.published import annotation
from diorama.scene_specs.benchmarks.malevic.published import question as published_question
from diorama.scene_specs.benchmarks.malevic.sets import GENERALIZATION, K_MEAN, SETS, Set, adjectives
from diorama.scene_specs.benchmarks.malevic.shapes import CANVAS, CLASSES, COLORS, SHAPES, Object, area_of, object_data
from diorama.scene_specs.benchmarks.malevic.truth import Truth
from diorama.scene_specs.errors import UsageError, spec_error
from diorama.scene_specs.files.foreign import read_foreign, read_text
from diorama.scene_specs.files.strict_json import Path as JsonPath
from diorama.scene_specs.language.validation import form_diagnostics, of_form
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.tasks.copies import Copy, lines_of
from diorama.scene_specs.tasks.importing.pictures import read_picture
from diorama.scene_specs.tasks.importing.scenes import SourceFile, parse_json

# Folders of the authors' code.
_LETTERS = {"a": "sup1", "b": "pos1", "c": "pos", "d": "set-pos", "b_hard": "pos1-hard", "c_hard": "pos-hard"}
_LETTERS |= {"d_hard": "set-pos-hard", "d_very_hard": "set-pos-very-hard"}
_FOLDER = re.compile(r"(.+?)(?:_(vague|static))?(?:_all_data|_dataset)?")
_SPLIT = re.compile(r"(?:annotations_)?(train|val|test|test_seen|test_unseen)(?:_annotation)?")
_COORDINATE = Field(pattern=r"^\d{1,4}(\.\d)?$")
# k is published with four decimals, and the numbers that follow from it may be off by this much.
_TOLERANCE = dict.fromkeys(("thresh_dist", "dist_from_thresh", "dist_from_thresh:"), 1.01e-4)
_TOLERANCE |= dict.fromkeys(("prob", "prob_RH_R_true", "prob_RH_R_false"), 4e-4)
# How far outlines may overlap, in units: published triangles are up to a pixel narrower than theirs.
_TOUCHING = (0.0, -1.0, -2.0, -3.0, -4.0)
# Points inside a triangle that points down and outside of one that points right, in units of its size class.
_PROBES = ((-1.2, 0.6), (-1.7, 1.2), (-1.5, 0.3))
# Points well inside of objects that are not turned, (row, column) in units of their size class.
_INSIDE = {
    "triangle": np.array([(-0.5, 0.0), (-1.7, -1.2), (-1.7, 1.2)]),
    "circle": np.array([(0.0, 0.0), (0.0, -0.8), (0.0, 0.8), (-0.8, 0.0), (0.8, 0.0)]),
    "square": np.array([(0.0, 0.0), (-0.8, -0.8), (-0.8, 0.8), (0.8, -0.8), (0.8, 0.8)]),
    "rectangle": np.array([(0.0, 0.0), (-1.7, -0.35), (-1.7, 0.35), (1.7, -0.35), (1.7, 0.35)]),
}
# Size classes, in pixels, from which the first of these points, and all of them, are a pixel inside.
_SMALLEST = (3.0, 7.0)

# Published files by their SHA-256, and scenes of theirs in which rounding k to four decimals turns a label.
_EXCEPTIONS = {"455a5c8628ebf3d20494330a2bcec43f08a4656da27c975255c585d1f7cfa5fc": frozenset({"660"})}

Form = TypeVar("Form", bound=BaseModel)
log = logging.getLogger(__name__)
_canvas = Canvas("published")


class _Object(BaseModel):
    """An object of an annotation, whose values are all strings. k: missing in SUP1."""

    rr: str = _COORDINATE
    cc: str = _COORDINATE
    color: Literal["red", "blue", "yellow", "green", "white"]
    shape: Literal["triangle", "circle", "square", "rectangle"]
    radius: int = Field(ge=CLASSES[0], le=CLASSES[-1], multiple_of=10)
    k: float = Field(default=K_MEAN, ge=-1, le=2)

    def found(self) -> Object:
        """Return the object; a triangle points down. A rectangle's coordinate along its short side has decimals."""
        turned, area = self.shape == "rectangle" and "." in self.rr, area_of(self.shape, self.radius)
        return Object(self.shape, self.color, self.radius, area, float(self.rr), float(self.cc), turned)


class _Entry(BaseModel):
    """Scene and objects of an annotation."""

    image_id: int = Field(ge=0)
    objects: list[_Object] = Field(min_length=1, max_length=9)


class _Question(BaseModel):
    """An entry of a question file."""

    image_index: int = Field(ge=0)
    question: str
    answer: Literal["yes", "no"]


def import_published(
    path: Path, camera: str = "", strict: bool = False, questions: Path | None = None, images: Path | None = None
) -> Iterator[EpisodeSpec]:
    """Yield the scenes of an annotation file in the order of their numbers, or the questions of a question file.

    Args:
        strict: a disagreement is a diagnostic instead of a warning.
        images: folder of `<image number>.png`, which show how triangles point; without it, those beside the file.
            Folder names tell the set, file names the split. Ids: `malevic/published/<set>/<split>/<6 digits>`, with
            `static/` before the digits for a folder of this variant, and `/2`, ... after them for further questions
            about a scene.

    Raises:
        SpecError: after the last item, with all diagnostics.
        UsageError: the folder `images` has no image of a scene.
    """
    reader = _Reader(path, strict, questions, images)
    yield from reader.episodes()
    if images is not None and not reader.pictures:
        raise UsageError(f"--images {images}: has <image number>.png of no scene of {path}; expected unpacked images")
    if reader.open_poses:
        hint = "" if images else "; pass --images FOLDER"
        log.warning("%s: how triangles point is open in %d scenes%s", path, reader.open_poses, hint)
    reader.source.raise_diagnostics()


class _Reader:
    """A file that is being read. open_poses: scenes in which a triangle may point either way. pictures: images read."""

    def __init__(self, path: Path, strict: bool, questions: Path | None, images: Path | None) -> None:
        self.source, self._images = SourceFile(str(path), strict=strict), images or path.parent
        self.open_poses = self.pictures = 0
        self._asked = Counter[str]()
        self._which, self._variant = _set_of(path)
        split = _SPLIT.fullmatch(path.stem)
        self._split = split[1].replace("_", "-") if split else "raw"
        self._entries = _read_file(path, "{index: [scene, objects, captions ...]}")
        self._questions: list[Any] | None = None
        if questions is not None:
            listed = _read_file(questions, '{"questions": [...]}').get("questions")
            expected = "no list `questions`; expected a question file of MALeViC"
            self._questions = of_form(list[Any], listed, expected, str(questions))
            letter = questions.stem.removeprefix(self._split)
            if self._which.compositional and letter in GENERALIZATION:
                self._which = SETS[f"generalization-{letter}"]

    def episodes(self) -> Iterator[EpisodeSpec]:
        """Yield what can be read."""
        if self._questions is None:
            for key in sorted(self._entries, key=lambda key: (len(key), key)):
                yield from self._read_item(key, None, (), {})
            return
        for index, data in enumerate(self._questions):
            if (question := self._validate_form(_Question, data, ("questions", index))) is not None:
                yield from self._read_item(str(question.image_index), question, ("questions", index), data)

    def _validate_form(self, model: type[Form], data: Any, at: JsonPath) -> Form | None:
        try:
            return model.model_validate(data)
        except ValidationError as error:
            for diagnostic in form_diagnostics(error, model, data):
                self.source.diagnostic((*at, *diagnostic.path), diagnostic.problem)
            return None

    def _read_item(
        self, key: str, question: _Question | None, at: JsonPath, data: Mapping[str, Any]
    ) -> Iterator[EpisodeSpec]:
        entry = self._entries.get(key)
        parts = entry if isinstance(entry, list) and all(isinstance(part, dict) for part in entry) else []
        if len(parts) < 2 or not re.fullmatch("0|[1-9][0-9]{0,5}", key):
            self.source.diagnostic(at or (key,), f"no scene {key[:20]}; expected a list of scene, objects and captions")
            return
        form = self._validate_form(_Entry, {**parts[0], "objects": parts[1].get("objects")}, (key,))
        if form is None:
            return
        k = form.objects[0].k
        objects = self._with_poses(key, [item.found() for item in form.objects])
        query = None if question is None else _recompute_query(self._which, objects, k, question.question)
        if question is not None and query is None:
            words = " or ".join(adjectives(self._which))
            self.source.diagnostic(at, f"{question.question!r} asks about no single object of scene {key} as {words}")
            return
        given = {"world": "flat", "variant": self._variant, "areas": "published"}
        task = task_of_scene(self._which, objects, k, query, split=self._split, number=form.image_id, **given)
        truth = Truth.model_validate(task)
        self._compare_published(key, parts, truth)
        if question is not None:
            ours = published_question(truth, question.image_index, self._split.replace("-", "_"))
            # Published generalization sets say train in all their splits.
            open_split = self._split == "raw" or self._which.name.startswith("generalization-")
            names = (ours.keys() & data.keys()) - ({"split"} if open_split else set())
            for problem in lines_of(Copy((*at, name), data[name], ours[name]) for name in sorted(names)):
                self._report(key, problem)
        self._asked[key] += 1
        kinds = ["static"] * (self._variant == "static")
        further = [str(self._asked[key])] * (self._asked[key] > 1)
        name = "/".join(["malevic/published", self._which.name, self._split, *kinds, f"{int(key):06d}", *further])
        shown = [{"name": f"object-{index}", **object_data(item)} for index, item in enumerate(objects)]
        frame = {"name": "scene", "utterance": task.get("question"), "objects": shown}
        spec = {"version": 1, "id": name, "stage": "flat", "split": self._split, "frames": [frame], "task": task}
        yield EpisodeSpec.model_validate(spec)

    def _report(self, key: str, problem: str) -> None:
        if self.source.strict and key not in self._known_exceptions():
            self.source.diagnostic((key,), problem)
        else:
            log.warning("%s: scene %s: %s", self.source.file, key, problem)

    @cache  # noqa: B019 - A reader lives as long as its import.
    def _known_exceptions(self) -> frozenset[str]:
        """Return the scenes of this file in which the published values are known to disagree."""
        return _EXCEPTIONS.get(hashlib.sha256(read_foreign(Path(self.source.file))).hexdigest(), frozenset())

    def _read_picture(self, key: str) -> NDArray[np.uint8] | None:
        """Return the image of a scene, (H, W, 3); None if there is none."""
        file = self._images / f"{key}.png"
        if not file.is_file():
            return None
        self.pictures += 1
        return read_picture(file)

    def _with_poses(self, key: str, objects: list[Object]) -> tuple[Object, ...]:
        """Return the objects with each triangle as the image shows it, or as it fits among the others."""
        triangles = [index for index, item in enumerate(objects) if item.shape == "triangle"]
        poses = np.array([*product((0, 1), repeat=len(triangles))], dtype=np.intp).reshape(2 ** len(triangles), -1)
        turned = np.tile([int(item.turned) for item in objects], (len(poses), 1))
        turned[:, triangles] = poses
        tried = (_poses_that_fit(objects, turned, gap) for gap in _TOUCHING)
        fitting = next((fits for fits in tried if fits.any()), None)
        if fitting is None:
            self._report(key, "its objects overlap, however triangles point")
            fitting = np.ones(len(poses), dtype=bool)
        picture = self._read_picture(key)
        seen = np.zeros(len(poses))
        for index, pose in zip(triangles, poses.T, strict=True):
            if picture is not None:
                seen += np.take([_share_of_probes(objects[index], picture, way) for way in (False, True)], pose)
        best = fitting & (seen == seen[fitting].max())
        self.open_poses += int(best.sum() > 1)
        ways = turned[int(best.argmax())]
        posed = tuple(replace(item, turned=bool(way)) for item, way in zip(objects, ways, strict=True))
        for problem in [] if picture is None else lines_of(_in_picture(posed, picture)):
            self._report(key, problem)
        return posed

    def _compare_published(self, key: str, entry: list[Any], truth: Truth) -> None:
        """Report each published value that is not found again."""
        published, ours = _parts_by_name(entry), _parts_by_name(annotation(truth))
        copies = [Copy(part, part in published, part in ours) for part in sorted({*published, *ours})]
        copies += [
            Copy(f"{part}: {name}", value, ours[part].get(name), _TOLERANCE.get(name, 0.0))
            for part in sorted(published.keys() & ours.keys())
            for name, value in published[part].items()
        ]
        for problem in lines_of(copies):
            self._report(key, problem)


def _parts_by_name(entry: list[Any]) -> dict[str, dict[str, Any]]:
    """Return the parts of an annotation by name; the order of sentences is arbitrary."""
    scene, described, *pairs = entry
    parts = {"its scene": scene} | {f"object {k}": item for k, item in enumerate(described["objects"])}
    for pair in pairs:
        captions = pair.get("captions")
        for item in captions if isinstance(captions, list) else ():
            if isinstance(item, dict):
                true = "caption_true" in item
                parts[f"{true} sentence {item.get('caption_true' if true else 'caption_false')!r}"] = item
    return parts


def _read_file(path: Path, form: str) -> dict[str, Any]:
    data = parse_json(read_text(path), str(path))
    return of_form(dict[str, Any], data, f"not a file of MALeViC; expected {form}", str(path))


def _set_of(path: Path) -> tuple[Set, str]:
    """Return the set that a folder of the path names, and its variant. Raises SpecError."""
    for match in filter(None, map(_FOLDER.fullmatch, reversed(path.absolute().parts))):
        if (name := _LETTERS.get(match[1], match[1])) in SETS:
            return SETS[name], match[2] or "vague"
    hint = "keep the published folders, such as set-pos-hard/annotation/test_annotation.json"
    raise spec_error("no folder of this path names a set of MALeViC", hint, file=str(path))


def _poses_that_fit(objects: list[Object], turned: NDArray[np.intp], gap: float) -> NDArray[np.bool_]:
    """Return for each row of poses, (S, n), whether all objects are on the canvas, and no two are nearer than `gap`."""
    looks = np.array([(SHAPES.index(item.shape), CLASSES.index(item.radius)) for item in objects])
    shape, size = (np.tile(numbers, (len(turned), 1)) for numbers in looks.T)
    box = _canvas.boxes[shape, size, turned]
    # The location of a triangle is that of its apex, 2r from both sides of its box.
    apex = np.array([[2 * item.radius if item.shape == "triangle" else np.nan] for item in objects])
    corner = [(item.column, item.row) for item in objects] - np.where(np.isnan(apex), box / 2, apex)
    inside = ((corner >= 0) & (corner + box <= CANVAS)).all(axis=(1, 2))
    gaps = np.full((*turned.shape, len(objects)), gap)
    fits: NDArray[np.bool_] = inside & _canvas.clear(shape, size, turned, corner[..., 0], corner[..., 1], gaps)
    return fits


def _share_of_probes(item: Object, picture: NDArray[np.uint8], turned: bool) -> float:
    """Return the share of probes inside a triangle in one pose, outside in the other, that have its color."""
    points = np.array(_PROBES)[:, ::-1] if turned else np.array(_PROBES)
    return float(_pixels_at(item, points, picture).mean())


def _pixels_at(figure: Object, points: NDArray[np.float64], picture: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which points, (N, 2) rows and columns in units of an object's size class, have its color."""
    height, width = picture.shape[:2]
    unit = min(height, width) / CANVAS
    # Images that are not square have margins.
    corner = (np.array((height, width)) - min(height, width)) / 2
    place = corner + ((figure.row, figure.column) + points * figure.radius) * unit
    rows, columns = np.clip(place.astype(np.intp), 0, (height - 1, width - 1)).T
    same: NDArray[np.bool_] = (picture[rows, columns] == COLORS[figure.color]).all(axis=1)
    return same


def _in_picture(objects: tuple[Object, ...], picture: NDArray[np.uint8]) -> Iterator[Copy]:
    """Yield whether each object is there in its color, and how many pixels are colored."""
    unit = min(picture.shape[:2]) / CANVAS
    for index, figure in enumerate(objects):
        points = _INSIDE[figure.shape]
        # Of small images, only points that are a pixel inside.
        points = points[
            : 0 if figure.radius * unit < _SMALLEST[0] else 1 if figure.radius * unit < _SMALLEST[1] else None
        ]
        same = _pixels_at(figure, points[:, ::-1] if figure.turned else points, picture)
        yield Copy(
            f"objects[{index}], a {figure.color} {figure.shape}: points of its color", int(same.sum()), len(points)
        )
    area = sum(figure.area for figure in objects) * unit * unit
    colored = int(np.count_nonzero(picture[..., 0] | picture[..., 1] | picture[..., 2]))
    # Pixels at edges are in or out.
    edges = sum(8 * figure.radius for figure in objects) * unit
    yield Copy("number of colored pixels", colored, round(area), edges)


def _recompute_query(which: Set, objects: tuple[Object, ...], k: float, sentence: str) -> tuple[int, str, bool] | None:
    """Return index of the object in question, adjective, and recomputed truth.

    None if that is no single object, or if the set has no such adjective.
    """
    words = sentence.split(" ")
    named = [index for index, item in enumerate(objects) if words[1:3] == [item.color, item.shape]]
    if len(named) != 1 or len(words) != 7 or words[5] not in adjectives(which):
        return None
    return named[0], words[5], label_of(which, objects, objects[named[0]], k).size == words[5]
