"""Import KiloGram's published reference games: names of images and texts, in blocks of ten with the target first.

The files of the four conditions are made of `part+color.json`, so the games of a file are read from the one beside it,
and the file is compared with what follows from these. Games of subsets of parts are in `aug_dev.json` itself.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from diorama.scene_specs.benchmarks.kilogram import Options
from diorama.scene_specs.benchmarks.kilogram.annotations import TANGRAM, Annotation, is_text
from diorama.scene_specs.benchmarks.kilogram.dataset import MOST_BYTES, read_drawn_dataset
from diorama.scene_specs.benchmarks.kilogram.emit import drawn_digest, game_spec, kinds_of
from diorama.scene_specs.benchmarks.kilogram.examples import AUG, COLORS, CONDITIONS, RGB, SIZE, Example, Game
from diorama.scene_specs.benchmarks.kilogram.pieces import PIECES
from diorama.scene_specs.benchmarks.kilogram.truth import Figure
from diorama.scene_specs.errors import spec_error
from diorama.scene_specs.files.foreign import read_text
from diorama.scene_specs.language.diagnostics import value_at
from diorama.scene_specs.language.rng import generator
from diorama.scene_specs.language.validation import of_form
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.tasks.copies import Copy, lines_of
from diorama.scene_specs.tasks.importing.pictures import read_picture
from diorama.scene_specs.tasks.importing.scenes import SourceFile, parse_json

_FILE = re.compile(rf"({'|'.join(map(re.escape, CONDITIONS))}|{AUG})(_dev)?(_caption)?")
_PUBLISHED = (
    "KiloGram (Ji et al., EMNLP 2022), https://github.com/lil-lab/kilogram: annotations under the MIT license; "
    "tangrams digitized from J. Slocum, The Tangram Book (2003), available for educational and research use only"
)
_LISTS = ("targets", "images", "texts")
# Our splits, by the published folders.
_SPLITS: Mapping[str, str] = {"development": "dev", "heldout": "heldout", "validation": "val", "val-texts": "val"}
_PALETTE: Mapping[str, tuple[int, int, int]] = {**RGB, "white": (255, 255, 255)}
_FOLDER = re.compile(r"(controlled|random|augmented)(?:-([0-9]+))?")
log = logging.getLogger(__name__)


def sources(task: Mapping[str, Any]) -> list[str]:
    """See diorama.scene_specs.tasks.benchmark; tangrams that Diorama makes itself are called own-..."""
    return [] if str(task.get("target")).startswith("own-") else [_PUBLISHED]


def import_published(
    path: Path,
    camera: str = "",
    strict: bool = False,
    svg: Path | None = None,
    annotations: Path | None = None,
    images: Path | None = None,
) -> Iterator[EpisodeSpec]:
    """Yield the games of a file `<condition>.json`, `aug_dev.json`, or one of their captions, in its order.

    Args:
        svg: folder of drawings; without it, those of Diorama.
        annotations: file that says which pieces form a part; without it, the colored images
            `<tangram>_<annotation>.png` of the folder `images` do. Games of subsets need it.
        strict: a row that does not follow from `part+color.json` is a diagnostic instead of a warning. Folder names
            tell the split, and whether games are unconstrained. Ids: `kilogram/published/<split>/<condition>/<6
            digits>`, with `kinds_of` before the digits.

    Raises:
        SpecError: after the last game.
    """
    reader = _Reader(path, strict, svg, annotations, images)
    yield from reader.episodes()
    reader.source.raise_diagnostics()


class _Reader:
    """A file that is being read."""

    def __init__(
        self, path: Path, strict: bool, svg: Path | None, annotations: Path | None, images: Path | None
    ) -> None:
        self.source, self._path, self._images = SourceFile(str(path), strict=strict), path, images
        name = _FILE.fullmatch(path.stem)
        if name is None or (name[1] == AUG) != bool(name[2]):
            names = ", ".join(f"{condition}.json" for condition in CONDITIONS)
            raise spec_error(f"expected a name such as {names} or aug_dev.json", file=str(path))
        self._condition, self._caption = name[1], bool(name[3])
        games = path.with_name("aug_dev.json" if name[1] == AUG else "part+color.json")
        self._rows, self._games, self._games_name = _read_rows(path), _read_rows(games), games.name
        if len(self._rows) != len(self._games):
            raise spec_error(f"{len(self._rows)} rows; {games.name} beside it has {len(self._games)}", file=str(path))
        folders = path.absolute().parts[-2::-1]
        kind = _FOLDER.fullmatch(folders[0])
        if kind and kind[2] and not re.fullmatch("[2-9]|[1-9][0-9]|100", kind[2]):
            raise spec_error(f"its folder is {folders[0]}; expected games of 2 to 100 tangrams", file=str(path))
        self._options = Options.model_validate(
            {
                "split": next((_SPLITS[part] for part in folders if part in _SPLITS), "all"),
                "unconstrained": kind is not None and kind[1] == "random",
                "context_size": int(kind[2] or SIZE) if kind else SIZE,
                "condition": self._condition,
                "published_border": True,
            }
        )
        self._dataset = read_drawn_dataset(svg, annotations, strict)
        # As every game needs them ten times.
        self._example = lru_cache(maxsize=50_000)(self._read_example)

    def episodes(self) -> Iterator[EpisodeSpec]:
        """Yield what can be read."""
        size, numbers = self._options.context_size, Counter[str]()
        # A description has one text, with its parts in one order, in all games.
        texts: dict[str, Counter[str]] = {}
        for _, image, text in self._games:
            texts.setdefault(image, Counter())[text] += 1
        if len(self._games) % size:
            self.source.diagnostic((), f"{len(self._games)} rows; expected blocks of {size}")
        for index, start in enumerate(range(0, len(self._games) - size + 1, size)):
            block = self._games[start : start + size]
            target = block[0][1]
            if {shown_target for shown_target, _, _ in block} != {target}:
                self.source.diagnostic(("targets", start), f"expected {size} times {target!r}, the first image")
                continue
            for row, (_, image, text) in enumerate(block, start):
                if text != (usual := texts[image].most_common(1)[0][0]):
                    problem = f"{self._games_name} gives {image} the text {text!r}, elsewhere {usual!r}"
                    self._report_disagreement(f"row {row}: {problem}")
            try:
                examples = tuple(self._example(image, text) for _, image, text in block)
            except ValueError as error:
                self.source.diagnostic(("images", start), str(error))
                continue
            if what := self._repeated_list(examples):
                self.source.diagnostic((what, start), f"two {what} of the game are equal, so it has two answers")
                continue
            self._compare_rows(start, examples)
            for problem in lines_of(self._in_game(examples)):
                self._report_disagreement(f"row {start}: {problem}")
            yield self._read_game(index, numbers[target], examples, [image for _, image, _ in block])
            numbers[target] += 1
        stimuli = self._path.with_name(f"{self._path.stem}_stimuli.json")
        for problem in lines_of(self._in_stimuli(stimuli)) if stimuli.is_file() else ():
            self._report_disagreement(f"{stimuli.name}: {problem}")

    def _in_stimuli(self, file: Path) -> Iterator[Copy]:
        """Yield what the file beside this one says of games; it has at most one of each target."""
        size, games = self._options.context_size, dict[str, list[Any]]()
        for start in range(0, len(self._rows), size):
            targets, images, texts = zip(*self._rows[start : start + size], strict=True)
            games.setdefault(targets[0], []).append({"targets": targets[0], "images": [*images], "texts": texts[0]})
        data: Any = parse_json(read_text(file, MOST_BYTES), str(file))
        listed = of_form(list[dict[str, str | list[str]]], data, "expected a list of games", str(file))
        for index, stimulus in enumerate(listed):
            of_target = games.get(str(stimulus.get("targets")), [None])
            yield Copy((index,), stimulus, stimulus if stimulus in of_target else of_target[0])
        yield Copy("number of targets", len({str(stimulus.get("targets")) for stimulus in listed}), len(listed))

    def _read_game(self, index: int, number: int, examples: tuple[Example, ...], images: Sequence[str]) -> EpisodeSpec:
        kind = "/".join(["", *kinds_of(self._options.unconstrained, len(examples)), f"{index:06d}"])
        identity = f"kilogram/published/{self._options.split}/{self._condition}{kind}"
        # Only the target changes its position: the others keep their order when they are written again.
        position = int(generator(0, identity, "order").integers(len(examples)))
        order = (*range(1, position + 1), 0, *range(position + 1, len(examples)))
        spec = game_spec(self._dataset, Game(number, examples, order), self._condition, self._options)
        for frame, k in zip(spec["frames"], order, strict=True):
            frame["truth"]["drawn"] = drawn_digest(frame["objects"], Figure.of_task(frame["truth"]).parts)
            if self._condition == AUG:
                # Subsets are counted in the order in which the published script drew them.
                frame["truth"]["image"] = images[k]
        return EpisodeSpec.model_validate({**spec, "id": identity})

    def _repeated_list(self, examples: Sequence[Example]) -> str:
        """Return which list of a game of subsets has two equal rows, or "".

        The published script excludes the target itself from its distractors, not its tangram.
        """
        if self._condition != AUG:
            return ""
        images, texts = ({(row.tangram, row.colors(AUG)) for row in examples}, {row.hashed(AUG) for row in examples})
        return "images" if len(images) < len(examples) else "texts" if len(texts) < len(examples) else ""

    def _in_game(self, examples: Sequence[Example]) -> Iterator[Copy]:
        """Yield how many tangrams, wholes and numbers of parts a game has; of subsets, only texts and images differ."""
        if self._condition == AUG:
            return
        size = len(examples)
        yield Copy("different tangrams", len({example.tangram for example in examples}), size)
        if not self._options.unconstrained:
            yield Copy("different wholes", len({example.annotation.whole for example in examples}), size)
            yield Copy("numbers of parts", len({len(example.parts) for example in examples}), 1)

    def _compare_rows(self, start: int, examples: Sequence[Example]) -> None:
        """Report each row of a game that does not follow from `part+color.json`."""
        images = [
            image if self._condition == AUG else example.image(self._condition)
            for example, (_, image, _) in zip(examples, self._games[start : start + len(examples)], strict=True)
        ]
        for row, (example, image) in enumerate(zip(examples, images, strict=True), start):
            text = example.text(self._condition) if self._caption else example.hashed(self._condition)
            for problem in lines_of([Copy(f"row {row}", self._rows[row], (images[0], image, text))]):
                self._report_disagreement(problem)

    def _report_disagreement(self, problem: str) -> None:
        if self.source.strict:
            self.source.diagnostic((), problem)
        else:
            log.warning("%s: %s", self.source.file, problem)

    def _read_example(self, image: str, text: str) -> Example:
        """Return what an image shows. Raises ValueError."""
        subset = self._condition == AUG
        tangram, _, digits = (image.rpartition("_")[0] if subset else image).rpartition("_")
        whole, *parts = text.split("#")
        if not TANGRAM.fullmatch(tangram) or not re.fullmatch("[0-9]{1,4}(_[0-9]{1,3})?", image[len(tangram) + 1 :]):
            raise ValueError(f"image {image!r}; expected a name such as page1-0_0{'_0' * subset}")
        if tangram not in self._dataset.figures:
            raise ValueError(f"image {image!r}: the drawing {tangram}.svg is missing or can't be used")
        if not all(map(is_text, (whole, *parts))) or not 1 - subset <= len({*parts}) == len(parts) <= len(PIECES):
            raise ValueError(f"text {text!r}; expected whole#part#part with one to seven different parts")
        described = {item.number: item for item in self._dataset.annotations.get(tangram, ())}
        if int(digits) in described:
            item = described[int(digits)]
            groups = item.groups()
            if item.whole != whole or not ({*parts} <= {*groups} if subset else {*parts} == {*groups}):
                raise ValueError(f"text {text!r}; description {image} is {'#'.join([item.whole, *groups])!r}")
            if subset:
                return Example(item, tuple(groups.items()), tuple([*groups].index(part) for part in parts))
        elif subset:
            raise ValueError(f"nothing says which parts {tangram}_{digits} has; pass --annotations")
        else:
            by_color = self._pieces_by_color(tangram, image)
            if len(by_color) != len(parts):
                raise ValueError(f"text {text!r} has {len(parts)} parts; its image has {len(by_color)} colors")
            groups = dict(zip(parts, by_color, strict=True))
            names = {piece: part for part, pieces in groups.items() for piece in pieces}
            item = Annotation(tangram, int(digits), whole, tuple(names[piece] for piece in PIECES))
        example = Example(item, tuple((part, groups[part]) for part in parts), tuple(range(len(parts))))
        image = example.image(self._condition)
        if (shown := self._colors_in(tangram, image)) is not None:
            for problem in lines_of([Copy(f"{image}.png: colors of pieces", shown, example.colors(self._condition))]):
                self._report_disagreement(problem)
        return example

    def _pieces_by_color(self, tangram: str, image: str) -> list[tuple[int, ...]]:
        """Return the pieces of each color of a published image, in the order of the colors. Raises ValueError."""
        shown = self._colors_in(tangram, image)
        if shown is None:
            raise ValueError(f"nothing says which pieces form the parts of {image}; pass --annotations or --images")
        used = sorted({*shown}, key=[*_PALETTE].index)
        if used != [*COLORS[: len(used)]]:
            raise ValueError(f"{image}.png: expected colored parts, in the published order of colors")
        return [tuple(piece for piece, own in zip(PIECES, shown, strict=True) if own == color) for color in used]

    @cache  # noqa: B019 - A reader lives as long as its import.
    def _colors_in(self, tangram: str, image: str) -> tuple[str, ...] | None:
        """Return the color of each piece in an image, None if there is no file. Raises ValueError.

        Black images are in a folder beside the colored ones.
        """
        images = self._images or Path()
        names = (images.name, images.name.replace("color", "black"), f"{images.name}-black") if self._images else ()
        file = next((file for name in names if (file := images.with_name(name) / f"{image}.png").is_file()), None)
        if file is None:
            return None
        picture = read_picture(file)
        if picture.shape[0] != picture.shape[1]:
            raise ValueError(f"{file}: {picture.shape[1]} x {picture.shape[0]} pixels; expected a square")
        shown = []
        for polygon in self._dataset.figures[tangram].placed(len(picture)):
            corners = np.array(polygon)
            # Inside the piece, halfway from its middle to its corners.
            x, y = np.clip((corners + corners.mean(axis=0)) / 2, 0, len(picture) - 1).astype(int).T
            off = np.abs(picture[y, x][:, None].astype(int) - [*_PALETTE.values()]).sum(axis=2)
            shown.append([*_PALETTE][np.bincount(off.argmin(axis=1)).argmax()])
        return tuple(shown)


def _read_rows(path: Path) -> list[tuple[str, str, str]]:
    """Return target, image and text of each row. Raises SpecError."""
    data: Any = parse_json(read_text(path, MOST_BYTES), str(path))
    expected = f"expected equally long lists of texts: {', '.join(_LISTS)}"
    columns = of_form(list[list[str]], [value_at(data, (name,)) for name in _LISTS], expected, str(path))
    if len({*map(len, columns)}) != 1:
        raise spec_error(expected, file=str(path))
    return list(zip(*columns, strict=True))
