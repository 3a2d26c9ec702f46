"""Finding models by name, the settings that say where, and the cache of what was read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diorama.scene_specs.errors import AssetError, DioramaError, UsageError
from diorama.scene_specs.shapes.shapenet import Library, library, load_model, loading
from diorama.scene_specs.shapes.shapenet.loading import ModelCache
from diorama.scene_specs.shapes.shapenet.model import FileState, Model
from tests.scene_specs.shapes.shapenet.trees import CHAIR, Tree, obj, png, textured

IDS = ("0b", "0a", "10", "9")
NAMES = tuple(f"shapenet:chairs/{identity}" for identity in IDS)


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache, a working directory and settings of the test's own; nothing held from other tests."""
    monkeypatch.setenv("DIORAMA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("DIORAMA_SHAPENET", "DIORAMA_SHAPENET_UP", "DIORAMA_SHAPENET_FRONT"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(loading, "_held", type(loading._held)())


@pytest.fixture
def four(tmp_path: Path) -> Library:
    for identity in IDS:
        Tree(tmp_path / "root", obj(), identity=identity).write()
    return Library((tmp_path / "root").resolve())


def test_the_packaged_library_counts_where_nothing_is_said() -> None:
    source = library()
    assert source.root.name == "shapenet_mini"
    assert CHAIR in source.categories()
    assert load_model("shapenet:chairs/#1").name.startswith(f"shapenet:{CHAIR}/")


@pytest.mark.parametrize("word", ["chairs", "chair", "Chairs", CHAIR])
def test_names_mean_one_model(four: Library, word: str) -> None:
    assert four.models(word) == sorted(IDS)
    assert four.find(f"shapenet:{word}/#2") == four.find(f"shapenet:{word}/0b")
    assert four.find(f"shapenet:{word}/#2")[0] == f"shapenet:{CHAIR}/0b"


@pytest.mark.parametrize(
    ("shape", "part"),
    [
        ("shapenet:chairs/#5", "has 4 models"),
        ("shapenet:chairs/0c", "there are 4, such as 0a"),
        ("shapenet:tables/#1", "no category 'tables'"),
        ("shapenet:chairz/#1", "did you mean 'chair"),
        ("shapenet:../#1", "is not the name of a model"),
        ("shapenet:chairs/..", "is not the name of a model"),
        ("shapenet:chairs/../../x", "is not the name of a model"),
        ("shapenet:/etc/passwd", "is not the name of a model"),
        ("shapenet:chairs/#0", "is not the name of a model"),
    ],
)
def test_what_is_not_there_is_named(four: Library, shape: str, part: str) -> None:
    with pytest.raises(AssetError) as caught:
        four.find(shape)
    assert part in str(caught.value)


def test_an_empty_folder_is_no_model(four: Library) -> None:
    (four.root / CHAIR / "empty").mkdir()
    with pytest.raises(AssetError, match="holds no model"):
        four.find("shapenet:chairs/empty")


def test_the_environment_comes_before_the_file(tmp_path: Path, four: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(four.root.parent)
    Path("assets.toml").write_text(f'[shapenet]\nroot = "{four.root.name}"\nfront = "+x"\n')
    assert library() == Library(four.root, "+y", "+x")
    monkeypatch.setenv("DIORAMA_SHAPENET", str(four.root))
    assert library() == four
    monkeypatch.delenv("DIORAMA_SHAPENET")
    Path("assets.toml").unlink()
    home = tmp_path / "config" / "diorama"
    home.mkdir(parents=True)
    (home / "assets.toml").write_text(f'[shapenet]\nroot = "{four.root}"\n')
    assert library() == four


@pytest.mark.parametrize(
    ("text", "kind", "part"),
    [
        ("[shapenet", UsageError, "can't be read"),
        ("[shapenet]\nroots = 1\n", UsageError, "takes root, up and front"),
        ("[shapenet]\n", UsageError, "has no root"),
        (f"[shapenet]\nx = {'[' * 100_000}", UsageError, "can't be read"),
        ("#" * 2_000_000, UsageError, "larger than 1 MiB"),
        ('[shapenet]\nroot = "gone"\n', AssetError, "no such folder"),
        ('[shapenet]\nroot = "."\nup = "y"\n', UsageError, "allowed: +x"),
        ('[shapenet]\nroot = "."\nup = "+z"\n', UsageError, "same axis"),
    ],
)
def test_wrong_settings_are_named(text: str, kind: type[DioramaError], part: str) -> None:
    Path("assets.toml").write_text(text)
    with pytest.raises(kind) as caught:
        library()
    assert part in str(caught.value)


def test_the_cache_gives_back_what_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, mtl = textured("gone.bmp")
    tree = Tree(tmp_path / "root", text, mtl).write()
    source = Library(tree.root.resolve())
    made = load_model(tree.shape, source)
    loading._held.clear()
    monkeypatch.setattr(loading, "_reader", None)
    found = load_model(tree.shape, source)
    assert found.sha256 == made.sha256 and found.notes == made.notes
    assert found.hull == made.hull and found.files == made.files
    for name in ("vertices", "triangles", "uv", "slots"):
        np.testing.assert_array_equal(getattr(found, name), getattr(made, name))


def test_a_changed_or_damaged_entry_is_read_anew(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "root", *textured("skin.png")).write()
    source = Library(tree.root.resolve())
    first = load_model(tree.shape, source)
    assert "is not there" in first.notes[0]
    # A texture that was missing is put there.
    (tree.folder / "skin.png").write_bytes(png())
    second = load_model(tree.shape, source)
    assert not second.notes and second.sha256 != first.sha256
    loading._held.clear()
    entry = ModelCache(second.path, source)._entry
    entry.write_bytes(entry.read_bytes()[:200])
    assert load_model(tree.shape, source).sha256 == second.sha256
    assert entry.stat().st_size > 200


def replace_file(path: Path) -> None:
    """Put another file of the same size and date in the place of one, as `cp -p` and `unzip` do."""
    facts, data = path.stat(), path.read_bytes()
    other = path.with_name("other")
    # Another corner.
    other.write_bytes(data.replace(b"1", b"2", 1))
    os.utime(other, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    other.rename(path)
    now = path.stat()
    assert (now.st_size, now.st_mtime_ns) == (facts.st_size, facts.st_mtime_ns) and path.read_bytes() != data


@pytest.mark.parametrize("held", [True, False])
def test_a_file_replaced_by_one_of_the_same_size_and_date_is_read_anew(tmp_path: Path, held: bool) -> None:
    tree = Tree(tmp_path / "root", obj()).write()
    source = Library(tree.root.resolve())
    first = load_model(tree.shape, source).sha256
    replace_file(tree.main)
    if not held:
        loading._held.clear()
    assert load_model(tree.shape, source).sha256 != first


def test_an_entry_is_compared_with_the_contents_of_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a file had got its old number and times back."""
    tree = Tree(tmp_path / "root", obj()).write()
    source = Library(tree.root.resolve())
    first = load_model(tree.shape, source).sha256
    loading._held.clear()
    monkeypatch.setattr(FileState, "is_current", lambda self: True)
    replace_file(tree.main)
    assert load_model(tree.shape, source).sha256 != first


@pytest.mark.parametrize("place", ["", "models", "models/*", "models/*/*.npz"])
def test_a_cache_that_all_may_write_is_not_used(tmp_path: Path, caplog: Any, place: str) -> None:
    trees = [Tree(tmp_path / name, obj()).write() for name in ("a", "b")]
    sources = [Library(tree.root.resolve()) for tree in trees]
    model = load_model(trees[0].shape, sources[0])
    (path,) = (tmp_path / "cache").glob(place) if place else [tmp_path / "cache"]
    path.chmod(0o777)
    # An entry with another digest, by somebody who may write there.
    entry = ModelCache(model.path, sources[0])._entry
    with np.load(entry) as stored:
        facts = json.loads(bytes(stored["facts"])) | {"sha256": "0" * 64}
        arrays = {key: stored[key] for key in loading.ARRAYS}
    with entry.open("wb") as stream:
        np.savez(stream, facts=np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8), **arrays)
    loading._held.clear()
    loading._warned.clear()
    for tree, source in zip(trees, sources, strict=True):
        assert load_model(tree.shape, source).sha256 == model.sha256
    warnings = [one.getMessage() for one in caplog.records if "isn't used" in one.getMessage()]
    assert len(warnings) == 1 and f"{path} belongs to another user, or all may write it" in warnings[0]


@pytest.mark.root
def test_an_entry_of_another_user_is_not_used(tmp_path: Path, caplog: Any) -> None:
    tree = Tree(tmp_path / "root", obj()).write()
    source = Library(tree.root.resolve())
    model = load_model(tree.shape, source)
    entry = ModelCache(model.path, source)._entry
    os.chown(entry, 12345, 12345)
    loading._held.clear()
    loading._warned.clear()
    assert load_model(tree.shape, source).sha256 == model.sha256
    assert f"{entry} belongs to another user" in caplog.text
    # It is replaced, as the folder is ours.
    assert entry.stat().st_uid == os.geteuid()


def test_a_model_is_read_anew_when_a_file_appears_that_is_looked_for_earlier(tmp_path: Path) -> None:
    text, mtl = textured("sub/skin.png", "own.mtl")
    tree = Tree(tmp_path / "root", text, None).write()
    source = Library(tree.root.resolve())
    found = [load_model(tree.shape, source).sha256]
    guess = tree.main.with_suffix(".mtl").name
    for number, name in enumerate((guess, "textures/skin.png", "images/skin.png", "sub/skin.png", "own.mtl")):
        (tree.folder / name).parent.mkdir(exist_ok=True)
        (tree.folder / name).write_bytes(png((number, 0, 0)) if name.endswith("png") else f"{mtl}# {number}\n".encode())
        held = load_model(tree.shape, source).sha256
        loading._held.clear()
        assert load_model(tree.shape, source).sha256 == held
        assert held not in found, name
        found.append(held)
    files = load_model(tree.shape, source).files
    assert len({state.path for state in files}) == len(files)


def test_without_a_cache_models_are_read_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DIORAMA_CACHE", str(tmp_path / "file"))
    tree = Tree(tmp_path / "root", obj()).write()
    assert len(load_model(tree.shape, Library(tree.root.resolve())).triangles) == 24


def test_memory_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, four: Library) -> None:
    monkeypatch.setattr(loading, "_HELD", 2)
    models = [load_model(name, four) for name in NAMES]
    assert held_of(models, four) == 2


def held_of(models: list[Model], library: Library) -> int:
    """How many of these models, one per name, are still the ones in memory. Asks for the newest first."""
    newest_first = reversed([*zip(NAMES, models, strict=True)])
    return sum(load_model(name, library) is model for name, model in newest_first)


def test_large_models_are_held_by_their_bytes(monkeypatch: pytest.MonkeyPatch, four: Library) -> None:
    one = loading._bytes_of_model(load_model(NAMES[0], four))
    for most, held in ((3 * one, 3), (one, 1), (0, 1)):
        monkeypatch.setattr(loading, "_HELD_BYTES", most)
        models = [load_model(name, four) for name in NAMES]
        assert held_of(models, four) == held


def test_the_blend_of_a_packaged_model_is_not_taken_from_a_cache_that_all_may_write(tmp_path: Path) -> None:
    model = load_model("shapenet:chairs/#1")
    assert model.blend != Path()
    model.blend.parent.mkdir(parents=True, exist_ok=True)
    model.blend.write_bytes(b"planted")
    (tmp_path / "cache").chmod(0o777)
    loading._held.clear()
    loading._warned.clear()
    assert not load_model("shapenet:chairs/#1").blend.is_file()


READERS = {
    "import time; time.sleep(60)": (AssetError, "the process that reads it did not answer in 2 s"),
    "raise SystemExit(1)": (AssetError, "the process that reads it was killed"),
    'print(\'{"missing": "no Blender here"}\')': (UsageError, "was not read before; no Blender here"),
}


@pytest.mark.parametrize("code", READERS)
def test_a_reader_that_is_silent_ends_or_lacks_blender_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    (tmp_path / "strange_reader.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(loading, "_READER", "strange_reader")
    monkeypatch.setattr(loading, "_reader", loading.ReadingProcess())
    monkeypatch.setattr(loading, "_WAIT", 2)
    tree = Tree(tmp_path / "root", obj()).write()
    kind, part = READERS[code]
    with pytest.raises(kind, match=part):
        load_model(tree.shape, Library(tree.root.resolve()))
    loading._reader.close()
