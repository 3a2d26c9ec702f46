"""Every kind of input that a user can name by mistake: files and folders of Diorama, files of others, and traps."""

from __future__ import annotations

import json
import os
import shutil
import socket
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lance
import numpy as np
from lance.fragment import FragmentMetadata

import diorama
from diorama.render.episode.make_record import make_record
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.uses.export import format_of
from diorama.scene_specs.language.registry import plugins
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.spec import EpisodeSpec
from tests import factories
from tests.compatibility.commands import run
from tests.render.store.rendered import rendered
from tests.scene_specs.tasks.importing import published

# Benchmark -> options of a small episode; the first of what they write is taken.
BENCHMARKS: dict[str, dict[str, Any]] = {
    "clevr": {"count": 1, "objects": (3, 3)},
    "icca": {"contexts": 1, "difficulty": "hard", "source": "clevr"},
    "iwisdm": {"benchmark": "low", "count": 1},
    "kilogram": {"condition": "whole+black"},
    "malevic": {"name": "pos1", "split": "val", "count": 1},
    "mewl": {"task": "shape", "split": "val", "count": 1},
}
Make = Callable[[Path], object]


class Good:
    """Files that commands made, in a folder; `path` makes what is asked for first, so that few tests need few."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, name: str) -> Path:
        """The file or folder with this name: `mewl.jsonl`, `all.lance`, `export-coco`, see the methods."""
        path = self.folder / name
        if not path.exists():
            getattr(self, f"_{path.stem.partition('-')[0]}")(path)
        return path

    def _specs(self, path: Path, names: tuple[str, ...]) -> None:
        specs = (next(diorama.generate(name, **BENCHMARKS[name])) for name in names)
        path.write_text("".join(f"{json.dumps(spec)}\n" for spec in specs))

    def __getattr__(self, name: str) -> Make:
        benchmark = name.removeprefix("_")
        if benchmark not in BENCHMARKS:
            raise AttributeError(name)
        return lambda path: self._specs(path, (benchmark,))

    def _every(self, path: Path) -> None:
        self._specs(path, tuple(BENCHMARKS))

    def _one(self, path: Path) -> None:
        path.write_text(json.dumps(json.loads(self.path("clevr.jsonl").read_text()), indent=1))

    def _scene(self, path: Path) -> None:
        run("render-specs", "resolve", self.path("clevr.jsonl"), "--out", path)

    def _all(self, path: Path) -> None:
        store = LanceStore.create(str(path), fsync=False)
        for line in self.path("every.jsonl").read_text().splitlines():
            spec, settings = json.loads(line), settings_for("draft", 64, 48)
            job = factories.make_job(spec, assets={})
            store.put([make_record(FakeRenderer(), EpisodeSpec.model_validate(spec), job, settings)])
        store.close()

    def _export(self, path: Path) -> None:
        name = path.stem.partition("-")[2]
        # 4: episodes of other benchmarks are left out.
        run("render-export", self.path("all.lance"), "--format", name, "--out", path, exit_codes=(0, 4))

    def _gallery(self, path: Path) -> None:
        run("render-gallery", self.path("all.lance"), "--out", path)

    def _games(self, path: Path) -> None:
        run("render-specs", "icca", "games", self.path("all.lance"), "--out", path)

    def _published(self, path: Path) -> None:
        size = (480, 320)
        rng = np.random.default_rng(1)
        published.clevr_file(path, [published.scene(rng, published.jittered(rng), 3, size)])

    def _played(self, path: Path) -> None:
        players = ("--speaker", "scripted", "--listener", "oracle")
        run("render-specs", "icca", "play", self.path("games"), *players, "--out", path)

    def _tangrams(self, path: Path) -> None:
        run("render-specs", "kilogram", "tangrams", "--count", "2", "--out", path)

    def _annotations(self, path: Path) -> None:
        text = {"whole": {"wholeAnnotation": "bird"}, "part": {str(piece): "wing" for piece in range(1, 8)}}
        drawings = sorted(self.path("tangrams").glob("*.svg"))
        path.write_text(json.dumps({drawing.stem: {"annotations": [text] * 3} for drawing in drawings}))


def _sparse(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(5 << 30)


def _without_permission(path: Path) -> None:
    path.mkdir()
    (path / "a.json").write_text("{}")
    path.chmod(0)


def _unreadable(path: Path) -> None:
    path.write_text("{}")
    path.chmod(0)


def _socket(path: Path) -> None:
    # The name of a socket is at most 107 bytes long.
    here = Path.cwd()
    os.chdir(path.parent)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path.name)
    os.chdir(here)


def _text(content: str | bytes) -> Make:
    return lambda path: path.write_bytes(content if isinstance(content, bytes) else content.encode())


def _foreign_folder(path: Path) -> None:
    (path / "deep").mkdir(parents=True)
    (path / "deep/thesis.tex").write_text("years of work\n")
    (path / "precious.txt").write_text("mine\n")


def _spec(**more: Any) -> str:
    return json.dumps({"version": 1, "id": "a", "frames": [{}], **more})


def _small_cubes() -> str:
    cube = {"shape": "cube", "size": 0.1, "color": "red", "material": "rubber"}
    objects = [{**cube, "location": [k % 8 * 0.5 - 1.75, k // 8 * 0.5 - 1]} for k in range(40)]
    return _spec(frames=[{"objects": objects}])


def _grammar(words: str = "Count {S}?", of: str = "set", **more: Any) -> str:
    return json.dumps({"families": {"count": [{"program": ["count", f"{of}:S"], "words": [words]}]}, **more})


def _doubled_phrases(most: int) -> str:
    noun = {"program": ["filter:N", ["scene"]], "words": ["{N}"]}
    phrases: dict[str, Any] = {f"p{most}": [noun]}
    for k in range(most):
        phrases[f"p{k}"] = [{"program": ["union", f"p{k + 1}:A", f"p{k + 1}:B"], "words": ["{A} or {B}"]}]
    return _grammar(of="p0", phrases=phrases)


def _png_of(side: int) -> bytes:
    """The beginning of an image; what it says of its size is all that it has."""
    head = b"IHDR" + struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head))


def _store_with_pipe(name: str) -> Make:
    def make(path: Path) -> None:
        _store(path)
        lance.dataset(str(path)).tags.create("first", 1)
        file = min(path.glob(name))
        file.unlink()
        os.mkfifo(file)

    return make


def _store(path: Path) -> None:
    store = LanceStore.create(str(path), fsync=False)
    store.put([rendered("demo/a", 1)])
    store.close()


def _store_of_small_cubes(path: Path) -> None:
    """And one episode about which questions can be asked."""
    store, settings = LanceStore.create(str(path), fsync=False), settings_for("draft", 128, 96)
    for spec in (json.loads(_small_cubes()), next(diorama.generate("clevr", **BENCHMARKS["clevr"]))):
        job = factories.make_job(spec, assets={})
        store.put([make_record(FakeRenderer(), EpisodeSpec.model_validate(spec), job, settings)])
    store.close()


def store_with_rows(path: Path, rows: int) -> None:
    """Make a store whose manifest says a number of rows of its file, which has one."""
    _store(path)
    dataset = lance.dataset(str(path))
    (fragment,) = dataset.get_fragments()
    forged = FragmentMetadata.from_json(json.dumps({**fragment.metadata.to_json(), "physical_rows": rows}))
    lance.LanceDataset.commit(str(path), lance.LanceOperation.Overwrite(dataset.schema, [forged]))


LISTS = '{"images": [{"id": 1, "file_name": "a.png"}], "annotations": []}'
_SVG = "http://www.w3.org/2000/svg"
# Small files that ask for much work: kind -> name of the file, contents.
BOMBS: dict[str, tuple[str, str | bytes]] = {
    "grammar of 2^20 wordings": ("wordings.json", _grammar("Count {S}" + " [a]" * 20 + "?")),
    "grammar of phrases doubled 25 times": ("phrases.json", _doubled_phrases(25)),
    "grammar of 3,000 colors": ("colors.json", _grammar(values={"color": {f"c{k}": ["c"] for k in range(3000)}})),
    "spec of forty small cubes": ("cubes.jsonl", _small_cubes()),
    "canvas of 10,000 x 10,000": ("canvas.jsonl", _spec(stage="flat", canvas=[10_000, 10_000])),
    "spec of 2,000 frames": ("frames.jsonl", _spec(frames=[{"objects": [{"shape": "cube"}]}] * 2000)),
    "spec with a count of 10^18": ("count.jsonl", _spec(frames=[{"random_objects": {"count": [10**18, 10**18]}}])),
    "mask of 10^9 pixels": ("mask.json", json.dumps({"size": [10**9, 10**9], "counts": [10**18]})),
    "PNG of 30,000 x 30,000": ("huge.png", _png_of(30_000)),
    "SVG of 10^9 units": ("huge.svg", f'<svg xmlns="{_SVG}" viewBox="0 0 1e9 1e9">{"<g>" * 9000}</svg>'),
}
# Kind -> name of the file (so that readers who go by the ending read it), how to make it.
TRAPS: dict[str, tuple[str, Make]] = {
    "PNG": ("a.png", _text(factories.png())),
    "PNG called .json": ("a.json", _text(factories.png())),
    "random bytes": ("a.jsonl", _text(bytes(range(256)) * 40)),
    "other JSON": ("other.json", _text(LISTS)),
    "JSON list": ("list.json", _text("[1, [2], {}]")),
    "JSON string": ("string.json", _text('"x"')),
    "JSON with NaN": ("nan.json", _text('{"version": NaN, "id": Infinity, "frames": [1e999]}')),
    "JSON with a long integer": ("long.json", _text('{"version": ' + "9" * 5000 + "}")),
    "JSON with a lone surrogate": ("odd.json", _text('{"version": 1, "id": "\\ud800", "frames": []}')),
    "JSONL with a bad line": ("bad.jsonl", _text('{"version": 1, "id": "a", "frames": [{"objects": []}]}\n{"versi\n')),
    "nested JSON": ("nested.json", _text("[" * 200_000)),
    "nested JSON objects": ("nested.jsonl", _text('{"a":' * 100_000 + "1" + "}" * 100_000)),
    "JSON of 30 MB": ("wide.json", _text('{"id": "' + "x" * 30_000_000 + '"}')),
    "JSONL of 200,000 lines": ("many.jsonl", _text("{}\n" * 200_000)),
    "sparse file of 5 GB": ("sparse.json", _sparse),
    "sparse .jsonl of 5 GB": ("sparse.jsonl", _sparse),
    "empty file": ("empty.json", _text("")),
    "empty .jsonl": ("empty.jsonl", _text("")),
    "empty folder": ("empty", lambda path: path.mkdir()),
    "folder of others": ("theirs", _foreign_folder),
    "file of others": ("precious.txt", _text("mine\n")),
    "missing": ("missing.json", lambda path: None),
    "below a file": ("file/x.json", lambda path: path.parent.write_text("{}")),
    "name too long": ("x" * 300, lambda path: None),
    "folder without permission": ("locked", _without_permission),
    "in a folder without permission": ("shut/a.json", lambda path: _without_permission(path.parent)),
    "file without permission": ("locked.json", _unreadable),
    "FIFO": ("fifo.json", lambda path: os.mkfifo(path)),
    "socket": ("socket.json", _socket),
    "broken link": ("link.json", lambda path: path.symlink_to("nowhere")),
    "link to itself": ("loop.json", lambda path: path.symlink_to(path.name)),
    "/dev/null": ("null.json", lambda path: path.symlink_to("/dev/null")),
    "/dev/zero": ("zero.json", lambda path: path.symlink_to("/dev/zero")),
    "escape sequence in the name": ("\x1b[2Ja\n.json", _text("{}")),
    "not UTF-8 in the name": ("\udcff.json", _text("{}")),
    **{name: (file, _text(content)) for name, (file, content) in BOMBS.items()},
    "store of forty small cubes": ("cubes.lance", _store_of_small_cubes),
    "store with a pipe as manifest": ("manifest.lance", _store_with_pipe("_versions/*.manifest")),
    "store with a pipe as tag": ("tag.lance", _store_with_pipe("_refs/tags/*")),
    "store with a pipe as data": ("data.lance", _store_with_pipe("data/*")),
    "store with 2^31 rows in its manifest": ("rows.lance", lambda path: store_with_rows(path, 2**31 - 1)),
}
FORMATS = [name for name in plugins("exports") if not format_of(name).from_files]
OWN = [
    *(f"{name}.jsonl" for name in BENCHMARKS), "every.jsonl", "one.json", "scene.jsonl", "all.lance", "gallery",
    "games", "played.jsonl", "tangrams", "annotations.json", "published.json", *(f"export-{name}" for name in FORMATS),
]  # fmt: skip
KINDS = [*OWN, *TRAPS]


def make_input(kind: str, good: Good, folder: Path) -> Path:
    """Make a new input of a kind in an empty folder, and return its path."""
    if kind in TRAPS:
        name, make = TRAPS[kind]
        make(folder / name)
        return folder / name
    found, path = good.path(kind), folder / kind
    (shutil.copytree if found.is_dir() else shutil.copyfile)(found, path)
    return path
