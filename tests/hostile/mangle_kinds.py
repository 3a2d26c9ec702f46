"""The kinds of foreign files that `mangle` mangles: valid inputs, and the function that reads one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from diorama.render.store.row_checks import problems_in
from diorama.render.store.rows import complete_row, record_of, row_of, text_digest
from diorama.render.uses.export.formats.clevr_masks import export
from diorama.render.uses.export.protocol import ExportOptions
from diorama.render.uses.gallery.episode_facts import page_data, search_row
from diorama.scene_specs.benchmarks.clevr.importing import import_published as import_clevr
from diorama.scene_specs.benchmarks.icca.game_folders import read_game
from diorama.scene_specs.benchmarks.icca.transcripts import lines_of, read_transcripts
from diorama.scene_specs.benchmarks.kilogram.annotations import read_annotations
from diorama.scene_specs.benchmarks.kilogram.dataset import OWN_FOLDER, own_tangrams
from diorama.scene_specs.benchmarks.kilogram.pieces import figure_of, svg_text
from diorama.scene_specs.benchmarks.kilogram.report import measure
from diorama.scene_specs.benchmarks.kilogram.svg import read_svg
from diorama.scene_specs.benchmarks.mewl.importing import import_published as import_mewl
from diorama.scene_specs.errors import Diagnostic, SpecError, StoreError
from diorama.scene_specs.files.foreign import read_text
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.reading.source import SpecSource
from diorama.scene_specs.shapes.shapenet.library import Library
from diorama.scene_specs.shapes.shapenet.loading import ModelCache
from diorama.scene_specs.tasks.questions.generate import Questioner
from diorama.scene_specs.tasks.questions.grammar import read_grammar
from tests.render.store.rendered import rendered
from tests.scene_specs.benchmarks.icca import pieces
from tests.scene_specs.shapes.shapenet import trees
from tests.scene_specs.tasks.importing import published
from tests.scene_specs.tasks.questions.images import stacked

EXAMPLES = Path(__file__).resolve().parents[2] / "scene_specs" / "examples"
_TEXTS = ("annotations", "job", "provenance", "scene")
GAME = pieces.game()
# A file of a grammar with everything that one may add.
SUPPORT = json.dumps(
    {
        "values": {"color": {"red": ["red", "crimson"]}},
        "phrases": {
            "beside": [
                {"program": ["relate:R", ["unique", ["filter:N", ["scene"]]]], "words": ["things {R} the {N.one}"]},
                {"program": ["union", "beside:A", "set:B"], "words": ["{A} or {B.many}"], "weight": 0.2},
            ]
        },
        "families": {"beside": [{"program": ["count", "beside:S"], "words": ["How many [different] {S} are there?"]}]},
    }
)


@dataclass(frozen=True)
class Kind:
    """file: path of the input in a folder. seeds: write what belongs beside the input, and return valid inputs.

    read: read an input. Raises DioramaError where it is refused.
    """

    file: str
    seeds: Callable[[Path], list[bytes]]
    read: Callable[[Path], object]


def _raise(found: list[Diagnostic]) -> None:
    if found:
        raise SpecError(found)


def _read_grammar(path: Path) -> None:
    grammar = read_grammar(path)
    for families in ((), tuple(grammar.forms)):
        for _ in Questioner(grammar, 0, families, 3).ask(stacked()):
            pass


def _models(_: Path) -> list[bytes]:
    return [trees.obj().encode(), trees.obj(form="{0}/{0}/{0}").encode(), trees.textured("skin.png")[0].encode()]


def _obj_seeds(folder: Path) -> list[bytes]:
    (folder / "model.mtl").write_text(trees.textured("skin.png")[1])
    (folder / "skin.png").write_bytes(trees.png())
    return [text.replace(b"model_normalized.mtl", b"model.mtl") for text in _models(folder)]


def _mtl_seeds(folder: Path) -> list[bytes]:
    _obj_seeds(folder)
    (folder / "model.obj").write_text(trees.textured("skin.png", "model.mtl")[0])
    return [(folder / "model.mtl").read_bytes()]


def _glb_seeds(folder: Path) -> list[bytes]:
    tree = trees._glb(folder / "tree", True)
    return [(tree.folder / "model.glb").read_bytes()]


def _read_model(path: Path) -> None:
    main = path.with_suffix(".obj") if path.suffix == ".mtl" else path
    ModelCache(main, Library(path.parent)).make("shapenet:a/b")


def _transcripts(_: Path) -> list[bytes]:
    setup = pieces.setup()
    trials = pieces.played(GAME, "scripted", "oracle", setup)
    return ["\n".join(lines_of(GAME, setup, ("a", "b"), trials)).encode()]


def _game(folder: Path, file: str) -> list[bytes]:
    made = pieces.write(folder.parent / "made", GAME)
    for path in made.iterdir():
        path.rename(folder / path.name)
    return [(folder / file).read_bytes()]


def _scenes(folder: Path) -> list[bytes]:
    rng, size = np.random.default_rng(1), (480, 320)
    scenes = [published.scene(rng, published.jittered(rng), count, size) for count in (3, 4, 5)]
    made = published.clevr_file(folder / "scenes.json", scenes).read_bytes()
    return [made, json.dumps(scenes[0]).encode()]


def _mewl(folder: Path) -> list[bytes]:
    made, _ = published.mewl_folder(folder / "made", np.random.default_rng(1))
    return [(made / "question.json").read_bytes()]


def _mewl_info(folder: Path) -> list[bytes]:
    made, _ = published.mewl_folder(folder / "made", np.random.default_rng(1))
    for path in made.iterdir():
        path.rename(folder / path.name)
    return [(folder / "info.json").read_bytes()]


def _row(record: EpisodeRecord) -> bytes:
    row = complete_row(row_of(record))
    texts = {key: json.loads(row[key]) for key in _TEXTS}
    return json.dumps({**texts, "png": [image.png.decode("latin-1") for image in record.images]}).encode()


def _read_row(path: Path) -> None:
    """A row whose maker computed the digests of what it holds, as a hostile one would."""
    row = dict(complete_row(row_of(rendered())))
    try:
        found: dict[str, Any] = json.loads(path.read_bytes())
        row |= {key: json.dumps(found[key]) for key in _TEXTS}
        row["images"] = [{**row["images"][0], "bytes": text.encode("latin-1")} for text in found["png"]]
        row["text_sha256"] = text_digest(row)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise StoreError(f"not a row of text columns: {error}") from error
    record = record_of(row)
    problems = problems_in(row, record)
    search_row("0", record, problems)
    page_data(record, [image.name for image in record.images], problems)


def _annotations(_: Path) -> list[bytes]:
    named = json.loads((OWN_FOLDER / "annotations.json").read_text("utf-8"))
    return [json.dumps(dict(list(named.items())[:3]), indent=1).encode()]


KINDS = {
    "spec": Kind("a.json", lambda _: [p.read_bytes() for p in sorted(EXAMPLES.glob("*.json"))],
                 lambda path: _raise(SpecSource([path]).check()[0])),
    "obj": Kind("model.obj", _obj_seeds, _read_model),
    "mtl": Kind("model.mtl", _mtl_seeds, _read_model),
    "glb": Kind("model.glb", _glb_seeds, _read_model),
    "svg": Kind("a.svg", lambda _: [svg_text(figure_of(one)).encode() for one in own_tangrams()[:5]],
                lambda path: measure(read_svg(path))),
    "annotation": Kind("a.json", _annotations, lambda path: _raise(read_annotations(read_text(path), "a")[1])),
    "transcript": Kind("a.jsonl", _transcripts, read_transcripts),
    "clevr": Kind("a.json", _scenes, lambda path: list(import_clevr(path))),
    "masks": Kind("a.json", _scenes,
                  lambda path: export(path, path.parent / "out", ExportOptions(overwrite=True), lambda _: None)),
    "mewl": Kind("a.json", _mewl, lambda path: list(import_mewl(path))),
    "mewl-info": Kind("train/info.json", _mewl_info, lambda path: list(import_mewl(path.parent))),
    "row": Kind("row.json", lambda _: [_row(rendered())], _read_row),
    "table": Kind(f"{GAME.name}/trials_for_{GAME.name}.csv", lambda at: _game(at, f"trials_for_{GAME.name}.csv"),
                  lambda path: read_game(path.parent)),
    "graphs": Kind(f"{GAME.name}/game.json", lambda at: _game(at, "game.json"), lambda path: read_game(path.parent)),
    "grammar": Kind("grammar.json", lambda _: [SUPPORT.encode()], _read_grammar),
}  # fmt: skip
