"""Verification of KiloGram episodes: pieces, colors, texts and names agree, and a game has exactly one answer.

Written from the rules, independently of the generator; used for specs and for rendered episodes. Diorama's own tangrams
are compared with their drawings and descriptions; others only if their files are given, else they have to be tangrams.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diorama.scene_specs.benchmarks.kilogram.dataset import Dataset, own_annotations, own_dataset, read_drawn_dataset
from diorama.scene_specs.benchmarks.kilogram.emit import TABLE_RGB, drawn_digest
from diorama.scene_specs.benchmarks.kilogram.examples import AUG, COLORS, CONDITIONS, RGB, caption
from diorama.scene_specs.benchmarks.kilogram.pieces import PIECES, XY, Corners, inset
from diorama.scene_specs.benchmarks.kilogram.report import clipped
from diorama.scene_specs.benchmarks.kilogram.truth import Figure, Truth
from diorama.scene_specs.language.outlines import signed_area
from diorama.scene_specs.language.vocabulary import linear_of_srgb
from diorama.scene_specs.model.record import EpisodeRecord, ImageRecord, ObjectAnnotation
from diorama.scene_specs.model.spec import EpisodeData, FrameData
from diorama.scene_specs.model.stage import scene_stage

_ARTICLE = re.compile(r"\s*(an?\s+)?", re.IGNORECASE)
_OPTIONAL_ARTICLE = r"\s*(?:[Aa]n?\s+)?"
# Published pieces overlap by up to 4.8 % of the area of their figure.
_MOST_OVERLAP = 0.06
# Names of the tangrams that Diorama makes itself.
_OWN = "own-"


@dataclass(frozen=True)
class _Frame:
    """What a frame shows.

    Attributes:
        colors: piece-1 to piece-7 -> name of the visible color, or a description of what is visible instead.
        corners: the same -> corners on the canvas.
        drawn: digest of the pieces of an imported figure, if it is known.
        background: of a flat image, if the frame or its pixels have one.
    """

    name: str
    utterance: str | None
    truth: Figure
    colors: Mapping[str, str]
    corners: Mapping[str, Corners]
    drawn: str | None = None
    background: tuple[int, ...] | None = None


@dataclass(frozen=True)
class _Episode:
    """What an episode shows.

    Attributes:
        canvas: width and height of a flat one.
    """

    id: str
    split: str | None
    canvas: Sequence[float] | None
    truth: Truth
    frames: Sequence[_Frame]


def verify_spec(data: EpisodeData, svg: Path | None = None, annotations: Path | None = None) -> str:
    """Return why a spec, as JSON data, contradicts itself or its files; "" if it does not.

    Args:
        data: the spec.
        svg: folder of the drawings that figures other than Diorama's are compared with.
        annotations: file of their descriptions.

    Raises:
        SpecError: its truth or a file can't be read.
    """
    truth = Truth.of_spec(data)
    figures = Figure.of_frames((frame.get("truth") for frame in data["frames"]), data["id"])
    try:
        frames = [_frame_of(*both, bool(data.get("canvas"))) for both in zip(data["frames"], figures, strict=True)]
    except (KeyError, TypeError, ValueError) as error:
        return f"a frame or a piece can't be read: expected name, and of a piece, polygon and location ({error})"
    episode = _Episode(data["id"], data.get("split"), data.get("canvas"), truth, frames)
    return next(_problems_of(episode, _read_drawings(svg, annotations)), "")


@lru_cache(maxsize=1)
def _read_drawings(svg: Path | None, annotations: Path | None) -> Dataset | None:
    return None if svg is None else read_drawn_dataset(svg, annotations, strict=False)


def _problems_of(episode: _Episode, given: Dataset | None) -> Iterator[str]:
    """Yield contradictions. given: drawings of figures other than Diorama's, if they are at hand."""
    truth = episode.truth
    with_parts, colored = CONDITIONS.get(truth.name, (True, True))
    mixed = any(frame.truth.tangram in own_annotations() for frame in episode.frames)
    for frame in episode.frames:
        for problem in _frame_problems(frame, with_parts, colored, truth.name == AUG):
            yield f"frame {frame.name}: {problem}"
        own = frame.truth.tangram.startswith(_OWN) or (not truth.drawings and mixed and frame.drawn is None)
        known = replace(own_dataset(), annotations={}) if own and truth.drawings else own_dataset() if own else given
        for problem in _drawing_problems(frame, known, episode.canvas):
            yield f"frame {frame.name}: {problem}"
        if episode.canvas and frame.background not in (None, (255, 255, 255)):
            yield f"frame {frame.name}: its background is {frame.background}; expected white"
    if truth.answer:
        yield from _game_problems(truth, {frame.name: frame for frame in episode.frames}, len(episode.frames))
    elif {(truth.target, truth.part_count)} != {
        (frame.truth.tangram, len(frame.truth.parts)) for frame in episode.frames
    }:
        yield f"not all of its images show {truth.target!r} with {truth.part_count} parts"
    yield from _id_problems(episode)


def _id_problems(episode: _Episode) -> Iterator[str]:
    """Yield what an id that Diorama gave says otherwise; an id of another form says nothing."""
    truth, segments = episode.truth, episode.id.split("/")
    if segments[0] != "kilogram" or len(segments) < 4:
        return
    published = segments[1] == "published"
    if segments[1 + published : 3 + published] != [episode.split, truth.name]:
        yield f"its id is {episode.id!r}; its split is {episode.split!r}, its condition {truth.name!r}"
    if truth.unconstrained != ("random" in segments):
        yield f"its id is {episode.id!r}; its task says unconstrained: {truth.unconstrained}"
    if published:
        return
    target = next(frame.truth for frame in episode.frames if truth.answer in ("", frame.name))
    key = f"{target.tangram}_{target.annotation}"
    if key not in segments or (truth.answer and segments[-1] != str(truth.number)):
        yield f"its id is {episode.id!r}; it is about {key}, number {truth.number}"


def _frame_problems(frame: _Frame, with_parts: bool, colored: bool, augmented: bool) -> Iterator[str]:
    truth, parts = frame.truth, frame.truth.parts
    pieces = [piece for part in parts for piece in part.pieces]
    if sorted(pieces) != [*PIECES] or not all(part.pieces for part in parts):
        yield f"its parts have the pieces {sorted(pieces)}; expected each of 1 to 7 once, and no empty part"
        return
    shown = [part for part in parts if part.shown]
    if len(shown) < len(parts) and not augmented:
        yield f"only {len(shown)} of its {len(parts)} parts are shown"
    expected = dict.fromkeys(PIECES, "black")
    if colored:
        taken = [part.color for part in shown]
        if sorted(taken) != sorted(COLORS[: len(shown)]):
            yield f"its parts have the colors {', '.join(taken)}; expected {', '.join(COLORS[: len(shown)])}"
            return
        for part in shown:
            expected |= dict.fromkeys(part.pieces, part.color)
        shown = sorted(shown, key=lambda part: COLORS.index(part.color))
    for part in parts:
        if part.color != expected[part.pieces[0]]:
            yield f"part {part.name!r} has the color {part.color!r}; its pieces are {expected[part.pieces[0]]}"
    if {*frame.colors} != {f"piece-{piece}" for piece in PIECES}:
        yield f"it has {', '.join(map(str, frame.colors))}; expected piece-1 to piece-7"
        return
    for piece in PIECES:
        if (seen := frame.colors[f"piece-{piece}"]) != expected[piece]:
            yield f"piece {piece} is {seen}; its part has {expected[piece]}"
    names = [part.name for part in shown] if with_parts else []
    if not _is_caption(frame.utterance or "", truth.whole, names, with_parts):
        expected_text = caption(truth.whole, names) if with_parts else truth.whole
        yield f"its text is {frame.utterance!r}; expected {expected_text!r}"
    hashed = "#".join([truth.whole, *names])
    if truth.hash_text != hashed:
        yield f"its hash_text is {truth.hash_text!r}; expected {hashed!r}"
    subset = sum(part.shown << k for k, part in enumerate(parts))
    name = truth.tangram + f"_{truth.annotation}" * colored + f"_{subset}" * augmented
    if truth.drawn is not None and augmented and re.fullmatch("[0-9]{1,3}", number := truth.image.rpartition("_")[2]):
        # Published subsets are counted in a random order.
        name = f"{name.rpartition('_')[0]}_{number}"
    if truth.image != name:
        yield f"its image is called {truth.image!r}; expected {name!r}"


def _drawing_problems(frame: _Frame, known: Dataset | None, canvas: Sequence[float] | None) -> Iterator[str]:
    """Yield what makes the visible figure no tangram, or not the one that it is said to be. canvas: of flat images."""
    truth = frame.truth
    if known is not None and truth.tangram not in known.figures:
        yield f"there is no usable drawing of {truth.tangram}"
        return
    if known is not None and known.annotations:
        described = {item.number: item for item in known.annotations.get(truth.tangram, ())}.get(truth.annotation)
        groups = {part.name: tuple(sorted(part.pieces)) for part in truth.parts}
        if described is None or (described.whole, described.groups()) != (truth.whole, groups):
            yield f"description {truth.annotation} of {truth.tangram} is another one"
    if frame.drawn not in (None, truth.drawn):
        yield f"its pieces or parts are not those of {truth.image} as it was imported"
    if canvas is None or not frame.corners:
        return
    if missing := {*frame.colors} - {*frame.corners}:
        yield f"{', '.join(sorted(missing))}: expected corners at a place of the canvas"
        return
    shapes = [np.array(frame.corners[f"piece-{piece}"]) for piece in PIECES]
    shapes = [shape if signed_area(shape.tolist()) > 0 else shape[::-1] for shape in shapes]
    for piece, shape in zip(PIECES, shapes, strict=True):
        if len(shape) != (expected := 4 if piece <= 2 else 3):
            yield f"piece {piece} has {len(shape)} corners; expected {expected}"
            return
        if shape.min() < -0.01 or (shape > np.array(canvas) + 0.01).any():
            yield f"piece {piece} reaches beyond the canvas"
    lists = [shape.tolist() for shape in shapes]
    shared = sum(signed_area(cut) for a, b in combinations(lists, 2) if len(cut := clipped(a, b)) > 2)
    if shared > _MOST_OVERLAP * sum(map(signed_area, lists)):
        yield "its pieces overlap"
    if known is not None and not _follows(known.figures[truth.tangram].placed(1.0), shapes, canvas):
        yield f"its pieces are not those of the drawing of {truth.tangram}"


def _follows(drawing: Sequence[Sequence[XY]], shapes: Sequence[NDArray[np.float64]], canvas: Sequence[float]) -> bool:
    """Return whether the pieces are those of a drawing in the unit square, of any size, with a white line of any width.

    A piece that the line would cover has none.
    """
    # A line leaves the middles of the square and the parallelogram where they are.
    placed = [np.array(polygon if signed_area(polygon) > 0 else polygon[::-1]) - 0.5 for polygon in drawing]
    middles = [[shape.mean(axis=0) for shape in ones[:2]] for ones in (placed, shapes)]
    own, seen = (math.dist(*pair) for pair in middles)
    placed = [np.array(canvas) / 2 + seen / own * polygon for polygon in placed]
    # The larger triangles are the last that a line covers.
    area, outer = signed_area(shapes[6].tolist()), signed_area(placed[6].tolist())
    lengths = np.linalg.norm(np.roll(placed[6], -1, axis=0) - placed[6], axis=1)
    line = 2 * outer / lengths.sum() * (1 - math.sqrt(area / outer))
    close = 1e-4 * min(canvas)
    return bool(line > -close) and all(
        np.abs(np.array(inset(polygon.tolist(), line) or polygon) - shape).max() < close
        for polygon, shape in zip(placed, shapes, strict=True)
    )


def _is_caption(text: str, whole: str, names: Sequence[str], with_parts: bool) -> bool:
    """Return whether a text names the whole and these parts. Articles are free: versions differ in them."""
    if not with_parts:
        return text == whole
    head, *parts = (_OPTIONAL_ARTICLE + re.escape(_ARTICLE.sub("", phrase, 1)) for phrase in (whole, *names))
    joined = ", ".join(parts[:-1]) + ", and " * (len(parts) > 1) + "".join(parts[-1:])
    return re.fullmatch(f"{head} with {joined}" if parts else head, text) is not None


def _game_problems(truth: Truth, frames: Mapping[str, _Frame], count: int) -> Iterator[str]:
    size = len(truth.options)
    if not count == len(frames) == size > 1 or sorted(truth.options) != sorted(frames):
        yield f"{count} frames and {size} options; expected as many of each, by the same names"
        return
    figures = [frame.truth for frame in frames.values()]
    unlike = {"tangram": [figure.tangram for figure in figures]}
    if truth.name == AUG and figures[0].drawn is not None:
        # Of the published games of subsets, only texts and images differ.
        looks = [f"{frame.truth.tangram}, {', '.join(frame.colors.values())}" for frame in frames.values()]
        unlike = {"text": [figure.hash_text for figure in figures], "look": looks}
    elif not truth.unconstrained:
        unlike["whole"] = [figure.whole for figure in figures]
    for what, values in unlike.items():
        if (twice := next((value for value in values if values.count(value) > 1), None)) is not None:
            yield f"two of its tangrams have the {what} {twice!r}"
    counts = [figure.counts for figure in figures]
    if len({*counts}) > 1 and not truth.unconstrained:
        yield f"its tangrams have {', '.join(str(parts) for parts, _ in counts)} parts; expected equal numbers"
    if truth.answer not in frames:
        yield f"the stored answer is {truth.answer!r}; expected one of {', '.join(frames)}"
        return
    answer = frames[truth.answer]
    if answer.truth.counts != (truth.part_count, truth.shown_parts):
        actual = f"its target has {answer.truth.counts}"
        yield f"it is said to have {truth.part_count} parts, {truth.shown_parts} shown; {actual}"
    if truth.text != answer.utterance or truth.target != answer.truth.tangram:
        meant = [name for name, frame in frames.items() if frame.utterance == truth.text]
        yield f"the stored answer is {truth.answer!r}, but the text is that of {', '.join(meant) or 'none'}"


def _frame_of(frame: FrameData, truth: Figure, flat: bool) -> _Frame:
    """Return what a frame of a spec, as JSON data, shows. Raises KeyError, TypeError or ValueError.

    Args:
        flat: on a canvas, where pieces have corners.
    """
    names = {rgb: name for name, rgb in (*RGB.items(), *TABLE_RGB.items())}
    objects: Any = frame.get("objects") or ()
    colors, corners = {}, {}
    for item in objects:
        color, shape, place = item.get("color"), item.get("shape"), item.get("location") or ()
        colors[item["name"]] = names.get(tuple(color), str(color)) if isinstance(color, list) else color
        if flat and isinstance(shape, dict) and place:
            turn = math.radians(item.get("rotation_deg") or 0)
            corners[item["name"]] = _corners_of(shape["polygon"], place, turn, item.get("size") or 1)
    drawn = drawn_digest(objects, truth.parts) if truth.drawn is not None and objects else None
    background = frame.get("background")
    ground = None if background is None else (*background,)
    return _Frame(frame["name"], frame.get("utterance"), truth, colors, corners, drawn, ground)


def _corners_of(polygon: Sequence[XY], place: Sequence[float], turn: float = 0.0, size: float = 1.0) -> Corners:
    """Return the corners of a piece on the canvas. turn: radians."""
    cos, sin = size * math.cos(turn), size * math.sin(turn)
    return tuple((place[0] + cos * x - sin * y, place[1] + sin * x + cos * y) for x, y in polygon)


def _shown_color(item: ObjectAnnotation, image: ImageRecord) -> str:
    """Return the most frequent color of a visible piece's pixels, by name if it is one of KiloGram's."""
    colors, counts = np.unique(image.color()[item.rle.mask()], axis=0, return_counts=True)
    most = tuple(map(int, colors[int(counts.argmax())]))
    return next((name for name, rgb in RGB.items() if rgb == most), f"{most}")


def _paint(item: ObjectAnnotation) -> str:
    """Return the color of a piece on the table by its material, as its pixels depend on the light."""
    for name, rgb in TABLE_RGB.items():
        if np.allclose(item.color_linear, linear_of_srgb(rgb), atol=1e-5):
            return name
    return f"{item.color_linear}"


def verify_record(episode: EpisodeRecord, svg: Path | None = None, annotations: Path | None = None) -> str:
    """Return why a rendered episode contradicts itself, by its pixels on a flat stage; "" if it does not.

    Args:
        episode: the episode.
        svg: as for `verify_spec`.
        annotations: as for `verify_spec`.

    Raises:
        SpecError: its truth or a file can't be read.
    """
    truth, scene, flat = Truth.of_record(episode), episode.scene, scene_stage(episode.scene).pixels == "center"
    images = {image.frame: image for image in episode.images}
    requested = {frame.get("name"): frame.get("objects") or () for frame in episode.job.spec.get("frames", ())}
    frames = []
    figures = Figure.of_frames((frame.truth for frame in scene.frames), episode.episode_id)
    for frame, figure in zip(scene.frames, figures, strict=True):
        image = images[frame.name]
        colors = {
            item.name: "not visible" if not item.visible_pixels else _shown_color(item, image) if flat else _paint(item)
            for item in image.annotation.objects
        }
        corners = {
            item.name: _corners_of(item.outline.polygon, item.location)
            for item in frame.objects
            if flat and item.outline is not None and item.outline.polygon is not None
        }
        drawn, ground = None, None
        if flat:
            around = image.color()[~np.any([drawn.rle.mask() for drawn in image.annotation.objects], axis=0)]
            # The median: edges of pieces are antialiased.
            median = tuple(map(int, np.median(around, axis=0))) if len(around) else (255, 255, 255)
            ground = median if min(median) != 255 else None
        if figure.drawn is not None and flat:
            # As requested: compiling rounds.
            drawn = drawn_digest(requested[frame.name], figure.parts)
        frames.append(_Frame(frame.name, frame.utterance, figure, colors, corners, drawn, ground))
    # The camera of a flat stage looks at the middle of its canvas.
    canvas = [2 * at for at in scene.frames[0].views[0].camera.look_at[:2]] if flat else None
    shown = _Episode(episode.episode_id, scene.split, canvas, truth, frames)
    return next(_problems_of(shown, _read_drawings(svg, annotations)), "")
