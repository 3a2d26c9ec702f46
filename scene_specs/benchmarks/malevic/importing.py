"""Import MALeViC's published annotations, as items with everything given; labels and answers are recomputed.

An annotation file has no question: the question file of the same split has, and an image only shows which way a
triangle points.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pydantic import BaseModel, Field, ValidationError

from scene_specs.benchmarks.malevic.generate import task_of_scene
from scene_specs.benchmarks.malevic.labels import K_MEAN, label_of
from scene_specs.benchmarks.malevic.layout import Canvas
from scene_specs.benchmarks.malevic.published import annotation
from scene_specs.benchmarks.malevic.sets import GENERALIZATION, SETS, Set, adjectives
from scene_specs.benchmarks.malevic.shapes import (
    CANVAS,
    CLASSES,
    COLORS,
    SHAPES,
    Object,
    anchor,
    area_of,
    extent,
    placed,
)
from scene_specs.importing.text import parse_json
from scene_specs.language.diagnostics import form_diagnostics, path_text, preview_json
from scene_specs.language.errors import Diagnostic, SpecError, spec_error
from scene_specs.language.foreign import read_text
from scene_specs.language.spec import EpisodeSpec
from scene_specs.language.strict_json import Path as JsonPath

# The authors' names of the sets, and of the folders of build_data.py and extract_dataset.py.
_LETTERS = {
    **dict(zip("abcd", ("sup1", "pos1", "pos", "set-pos"), strict=True)),
    **{"b_hard": "pos1-hard", "c_hard": "pos-hard", "d_hard": "set-pos-hard", "d_very_hard": "set-pos-very-hard"},
}
_FOLDER = re.compile(r"(.+?)(?:_(vague|static))?(?:_all_data|_dataset)?")
_COORDINATE = r"^\d{1,4}(\.\d)?$"
_SPLIT = re.compile(r"(?:annotations_)?(train|val|test|test_seen|test_unseen)(?:_annotation)?")
# k is published with four decimals. The numbers that depend on it may be off by this much.
_TOLERANCE = {"k": 0.0, "thresh_dist": 1.01e-4, "dist_from_thresh": 1.01e-4, "dist_from_thresh:": 1.01e-4}
_TOLERANCE |= {"prob": 4e-4, "prob_RH_R_true": 4e-4, "prob_RH_R_false": 4e-4}
# How far outlines may overlap, in units: published triangles are up to a pixel narrower than theirs.
_TOUCHING = (0.0, -1.0, -2.0, -3.0, -4.0)
# Points inside a triangle that points down and outside of one that points right, in units of its size class.
_PROBES = ((-1.2, 0.6), (-1.7, 1.2), (-1.5, 0.3))

Form = TypeVar("Form", bound=BaseModel)
log = logging.getLogger(__name__)
_canvas = Canvas("published")


class _Object(BaseModel):
    """An object of an annotation, whose values are all strings. k: missing in SUP1."""

    rr: str = Field(pattern=_COORDINATE)
    cc: str = Field(pattern=_COORDINATE)
    color: Literal["red", "blue", "yellow", "green", "white"]
    shape: Literal["triangle", "circle", "square", "rectangle"]
    radius: int = Field(ge=CLASSES[0], le=CLASSES[-1], multiple_of=10)
    k: float = Field(default=K_MEAN, ge=-1, le=2)


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

    strict: a disagreement is a diagnostic instead of a warning. images: folder of `<image number>.png`, which show how
    triangles point; without it, those beside the file. Folder names tell the set, file names the split.
    Ids: `malevic/published/<set>/<split>/<6 digits>`. Raises SpecError, after the last item, with all diagnostics.
    """
    reader = _Reader(path, questions, images)
    yield from reader.items()
    for reason in reader.disagreements if not strict else ():
        log.warning("%s", reason)
    if reader.open_poses:
        hint = "" if images else "; pass --images FOLDER"
        log.warning("%s: how triangles point is open in %d scenes%s", path, reader.open_poses, hint)
    found = [Diagnostic.of(reason, file=str(path)) for reason in reader.disagreements if strict]
    if reader.diagnostics or found:
        raise SpecError([*reader.diagnostics, *found])


class _Reader:
    """A file that is being read. open_poses: scenes in which a triangle may point either way."""

    def __init__(self, path: Path, questions: Path | None, images: Path | None) -> None:
        self.path, self._images = path, images or path.parent
        self.diagnostics: list[Diagnostic] = []
        self.disagreements: list[str] = []
        self.open_poses = 0
        self._which, self._variant = _set_of(path)
        split = _SPLIT.fullmatch(path.stem)
        self._split = split[1].replace("_", "-") if split else "raw"
        self._entries = _read(path, dict, "{index: [scene, objects, captions ...]}")
        self._questions: list[Any] | None = None
        if questions is not None:
            data = _read(questions, dict, '{"questions": [...]}')
            self._questions = data["questions"] if isinstance(data.get("questions"), list) else []
            letter = questions.stem.removeprefix(self._split)
            if self._which.compositional and letter in GENERALIZATION:
                self._which = SETS[f"generalization-{letter}"]

    def items(self) -> Iterator[EpisodeSpec]:
        """Yield what can be read."""
        if self._questions is None:
            for key in sorted(self._entries, key=lambda key: (len(key), key)):
                yield from self._item(key, None, ())
            return
        for index, data in enumerate(self._questions):
            question = self._form(_Question, data, ("questions", index))
            if question is not None:
                yield from self._item(str(question.image_index), question, ("questions", index))

    def _form(self, model: type[Form], data: Any, at: JsonPath) -> Form | None:
        try:
            return model.model_validate(data)
        except ValidationError as error:
            for found in form_diagnostics(error, model, data):
                self._wrong((*at, *found.path), found.problem, found.hint)
            return None

    def _wrong(self, at: JsonPath, problem: str, hint: str = "") -> None:
        self.diagnostics.append(Diagnostic(str(self.path), 0, "", path_text(at), problem, hint))

    def _item(self, key: str, question: _Question | None, at: JsonPath) -> Iterator[EpisodeSpec]:
        entry = self._entries.get(key)
        parts = entry if isinstance(entry, list) and all(isinstance(part, dict) for part in entry) else []
        if len(parts) < 2 or not re.fullmatch("[0-9]{1,6}", key):
            self._wrong(at or (key,), f"no scene {key[:20]}; expected a list of scene, objects and captions")
            return
        form = self._form(_Entry, {**parts[0], "objects": parts[1].get("objects")}, (key,))
        if form is None:
            return
        k = form.objects[0].k
        objects = self._posed(f"scene {key}", [_object(item) for item in form.objects], self._picture(key))
        given = {"split": self._split, "number": form.image_id}
        given |= {"world": "flat", "variant": self._variant, "areas": "published"}
        query = None if question is None else _query(self._which, objects, k, question)
        if question is not None and query is None:
            self._wrong(at, f"{question.question!r} asks about no single object of scene {key}")
            return
        task = task_of_scene(self._which, objects, k, query, **given)
        self._compare(f"scene {key}", parts, task, question)
        name = f"malevic/published/{self._which.name}/{self._split}/{int(key):06d}"
        shown = [{"name": f"object-{index}", **placed(item)} for index, item in enumerate(objects)]
        frame = {"name": "scene", "utterance": task.get("question"), "objects": shown}
        data = {"version": 1, "id": name, "stage": "flat", "split": self._split, "frames": [frame], "task": task}
        yield EpisodeSpec.model_validate(data)

    def _picture(self, key: str) -> NDArray[np.uint8] | None:
        """Return the image of a scene, (H, W, 3); None if there is none."""
        file = self._images / f"{key}.png"
        if not file.is_file():
            return None
        try:
            with Image.open(file) as picture:
                return np.asarray(picture.convert("RGB"))
        except (OSError, ValueError, Image.DecompressionBombError) as error:
            raise spec_error(f"not an image: {error}", file=str(file)) from error

    def _posed(self, at: str, objects: list[Object], picture: NDArray[np.uint8] | None) -> tuple[Object, ...]:
        """Return the objects with each triangle as the image shows it, or as it fits among the others."""
        triangles = [index for index, item in enumerate(objects) if item.shape == "triangle"]
        poses = np.array([*product((0, 1), repeat=len(triangles))], dtype=np.intp).reshape(2 ** len(triangles), -1)
        turned = np.tile([int(item.turned) for item in objects], (len(poses), 1))
        turned[:, triangles] = poses
        tried = (_fitting(objects, turned, gap) for gap in _TOUCHING)
        fitting = next((fits for fits in tried if fits.any()), np.zeros(len(turned), dtype=bool))
        if not fitting.any():
            self.disagreements.append(f"{at}: its objects overlap, however triangles point")
            fitting[:] = True
        seen = np.zeros(len(poses))
        if picture is not None:
            for index, pose in zip(triangles, poses.T, strict=True):
                shares = [_seen(objects[index], picture, way) for way in (False, True)]
                seen += np.take(shares, pose)
                if max(shares) < 1:
                    self.disagreements.append(f"{at}: its image does not show the triangle objects[{index}]")
        best = seen == seen[fitting].max()
        self.open_poses += int((best & fitting).sum() > 1)
        chosen = turned[int((best & fitting).argmax())]
        return tuple(replace(item, turned=bool(way)) for item, way in zip(objects, chosen, strict=True))

    def _compare(self, at: str, entry: list[Any], task: Mapping[str, Any], question: _Question | None) -> None:
        """Report what is published and not found again."""
        scene, described, *pairs = annotation(task)
        found = [*_differences(entry[0], scene)]
        objects = zip(entry[1]["objects"], described["objects"], strict=True)
        found += [f"objects[{k}].{text}" for k, (old, new) in enumerate(objects) for text in _differences(old, new)]
        published = {_sentences(pair): pair for pair in entry[2:]}
        ours = {_sentences(pair): pair for pair in pairs}
        for sentences, pair in ours.items():
            old = published.get(sentences)
            if old is None:
                found.append(f"the captions {sentences} are missing")
                continue
            for one, other in zip(_sentence_entries(old), pair["captions"], strict=False):
                found += [f"caption {sentences[0]!r}: {text}" for text in _differences(one, other)]
        found += [f"the captions {sentences} do not follow" for sentences in published if sentences not in ours]
        if question is not None and question.answer != task["answer"]:
            found.append(f"{question.question!r}: the published answer is {question.answer}, found {task['answer']}")
        self.disagreements += [f"{at}: {text}" for text in found]


def _read(path: Path, kind: type[dict[str, Any]], form: str) -> dict[str, Any]:
    data = parse_json(read_text(path), str(path))
    if not isinstance(data, kind):
        raise spec_error(f"not a file of MALeViC; expected {form}", file=str(path))
    return data


def _set_of(path: Path) -> tuple[Set, str]:
    """Return the set that a folder of the path names, and its variant. Raises SpecError."""
    for part in reversed(path.absolute().parts):
        found = _FOLDER.fullmatch(part)
        name = _LETTERS.get(found[1], found[1]) if found else ""
        if found and name in SETS:
            return SETS[name], found[2] or "vague"
    hint = "keep the published folders, such as set-pos-hard/annotation/test_annotation.json"
    raise spec_error("no folder of this path names a set of MALeViC", hint, file=str(path))


def _object(item: _Object) -> Object:
    """Return an object; triangles point down. Only the coordinate along a rectangle's short side has decimals."""
    turned, area = item.shape == "rectangle" and "." in item.rr, area_of(item.shape, item.radius)
    return Object(item.shape, item.color, item.radius, area, float(item.rr), float(item.cc), turned)


def _fitting(objects: list[Object], turned: NDArray[np.intp], gap: float) -> NDArray[np.bool_]:
    """Return for each row of poses, (S, n), whether all objects are on the canvas, and no two are nearer than `gap`."""
    looks = np.array([(SHAPES.index(item.shape), CLASSES.index(item.radius)) for item in objects])
    shape, size = (np.tile(numbers, (len(turned), 1)) for numbers in looks.T)
    ways = [[anchor(item.shape, item.radius, way) for way in (False, True)] for item in objects]
    ends = [[extent(item.shape, item.radius, way) for way in (False, True)] for item in objects]
    columns = np.arange(len(objects))
    offset, box = np.array(ways)[columns, turned], np.array(ends)[columns, turned]
    corner = np.array([(item.column, item.row) for item in objects]) - offset
    inside = ((corner >= 0) & (corner + box <= CANVAS)).all(axis=(1, 2))
    gaps = np.full((len(turned), len(objects), len(objects)), gap)
    fits: NDArray[np.bool_] = inside & _canvas.clear(shape, size, turned, corner[..., 0], corner[..., 1], gaps)
    return fits


def _seen(item: Object, picture: NDArray[np.uint8], turned: bool) -> float:
    """Return the share of probes inside a triangle in one pose, outside in the other, that have its color."""
    height, width = picture.shape[:2]
    hits = 0
    for row, column in _PROBES:
        down, right = (column, row) if turned else (row, column)
        y, x = (item.row + down * item.radius) / CANVAS * height, (item.column + right * item.radius) / CANVAS * width
        inside = 0 <= y < height and 0 <= x < width
        hits += inside and tuple(picture[int(y), int(x)].tolist()) == COLORS[item.color]
    return hits / len(_PROBES)


def _query(which: Set, objects: tuple[Object, ...], k: float, question: _Question) -> tuple[int, str, bool] | None:
    """Return index of the object in question, adjective, and recomputed truth; None if that is no single object."""
    words = question.question.split(" ")
    named = [k for k, item in enumerate(objects) if words[1:3] == [item.color, item.shape]]
    if len(named) != 1 or len(words) != 7 or words[5] not in adjectives(which):
        return None
    return named[0], words[5], label_of(which, objects, objects[named[0]], k).size == words[5]


def _sentence_entries(pair: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the entries of a true and a false sentence, of which only a list of two dictionaries has any."""
    found = pair.get("captions")
    whole = isinstance(found, list) and len(found) == 2 and all(isinstance(one, dict) for one in found)
    return found if whole and found is not None else []


def _sentences(pair: Mapping[str, Any]) -> tuple[str, ...]:
    keys = ("caption_true", "caption_false")
    return tuple(str(one.get(key)) for one, key in zip(_sentence_entries(pair), keys, strict=False))


def _differences(published: Mapping[str, Any], ours: Mapping[str, str]) -> Iterator[str]:
    """Yield each published value that is not found again."""
    for key, value in published.items():
        other = ours.get(key)
        try:
            near = other is not None and abs(float(value) - float(other)) <= _TOLERANCE[key]
        except (KeyError, TypeError, ValueError):
            near = False
        if not near and value != other:
            yield f"{key}: published {preview_json(value)}, found {preview_json(other)}"
