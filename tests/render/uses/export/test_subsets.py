"""Exports of other episodes into one folder, of subsets, and of ids that are names of files."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from diorama.render.cli.export import main as export_main
from diorama.render.cli.gallery import main as gallery_main
from diorama.render.cli.specs import main as specs_main
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.uses.export.formats import folder as folder_format
from diorama.scene_specs.errors import SpecError
from diorama.scene_specs.reading.source import parse_episode
from tests.render.store.rendered import rendered
from tests.render.uses.export.test_publish import ABOUT

LISTS = {"coco": "annotations/instances_{}.json", "clevr": "scenes/CLEVR_{}_scenes.json"}


def call(*arguments: object, command: Any = export_main) -> Result:
    return CliRunner().invoke(command, [*map(str, arguments)])


@pytest.fixture
def store(tmp_path: Path) -> LanceStore:
    """Episodes of `clevr` in the splits a and b."""
    made = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    made.put([plain(f"demo/{number}", "ab"[number % 2], number) for number in range(6)])
    return made


def plain(name: str, split: str, seed: int) -> Any:
    """An episode that CLEVR's words describe."""
    return rendered(name, split=split, seed=seed)


@pytest.mark.parametrize("name", LISTS)
def test_a_list_of_a_split_that_is_gone_is_removed_and_named(name: str, store: LanceStore, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert call(store.url, "--format", name, "--out", out).exit_code == 0
    stale, foreign = out / LISTS[name].format("b"), out / LISTS[name].format("mine")
    assert stale.exists()
    done = call(store.url, "--format", name, "--out", out, "--split", "a", "--overwrite")
    assert done.exit_code == 0 and str(stale) in done.output and not stale.exists()
    # Of others: named and kept.
    foreign.write_text("{}")
    done = call(store.url, "--format", name, "--out", out, "--split", "a", "--overwrite")
    assert done.exit_code == 2 and str(foreign) in done.output and foreign.read_text() == "{}"
    foreign.unlink()
    assert call(store.url, "--format", name, "--out", out, "--overwrite").exit_code == 0
    stale.write_text(stale.read_text() + "\n")
    done = call(store.url, "--format", name, "--out", out, "--split", "a", "--overwrite")
    assert done.exit_code == 2 and str(stale) in done.output and stale.exists()


def test_tables_of_a_folder_follow_its_episodes(store: LanceStore, tmp_path: Path) -> None:
    out, about = tmp_path / "out", tmp_path / "about.toml"
    about.write_text(ABOUT)
    assert call(store.url, "--out", out, "--about", about).exit_code == 0
    store.delete(["demo/1"])
    store.put([plain("demo/1", "a", 1)])
    done = call(store.url, "--out", out, "--overwrite")
    assert done.exit_code == 0, done.output
    rows = {split: pq.read_table(out / f"metadata-{split}.parquet").to_pylist() for split in "ab"}
    assert "demo/1" in {row["episode_id"] for row in rows["a"]}
    assert "demo/1" not in {row["episode_id"] for row in rows["b"]}
    store.delete(["demo/3", "demo/5"])
    store.put([plain(f"demo/{number}", "a", number) for number in (3, 5)])
    done = call(store.url, "--out", out, "--overwrite")
    assert done.exit_code == 0 and "metadata-b.parquet removed" in done.output
    assert len({*pq.read_table(out / "metadata-a.parquet")["episode_id"]}) == 6
    assert not (out / "metadata-b.parquet").exists()


def coco_images(out: Path) -> dict[tuple[str, str], tuple[int, list[int]]]:
    found = {}
    for path in (out / "annotations").iterdir():
        data = json.loads(path.read_text())
        for image in data["images"]:
            own = [one["id"] for one in data["annotations"] if one["image_id"] == image["id"]]
            found[image["episode_id"], image["name"]] = (image["id"], own)
    return found


@pytest.mark.parametrize(
    "chosen",
    [
        ("--split", "b"),
        ("--where", "episode_id > 'demo/2'"),
        ("--limit", "3"),
        ("--where", "episode_id IN ('demo/2', 'demo/5')"),
    ],
)
def test_numbers_tie_files_of_a_subset(chosen: tuple[str, str], store: LanceStore, tmp_path: Path) -> None:
    """They are those of the whole: a question file over the whole fits each part, and that of a part the whole."""
    # CLEVR has no word for an object, and counts the episode nowhere.
    nameless = rendered("demo/00", split="a")
    nameless.images[0].annotation.objects[0] = (
        nameless.images[0].annotation.objects[0].model_copy(update={"size": None})
    )
    store.put([nameless])
    if "IN" in chosen[1]:
        store.delete(["demo/1"])
    for name in LISTS:
        done = call(store.url, "--format", name, "--out", tmp_path / name)
        assert done.exit_code == {"clevr": 4, "coco": 0}[name], done.output
        call(store.url, "--format", name, "--out", tmp_path / f"{name}-some", *chosen)
    whole, some = coco_images(tmp_path / "coco"), coco_images(tmp_path / "coco-some")
    assert 0 < len(some) < len(whole) and {key: whole[key] for key in some} == some
    keys = ("split", "episode_id", "image_name", "image_index", "image_filename")
    numbered = []
    for options in ((), chosen):
        done = call("questions", store.url, "--kind", "scenes", *options, "--out", tmp_path / "g", command=specs_main)
        assert done.exit_code == 0, done.output
        graphs = map(json.loads, (tmp_path / "g").read_text().splitlines())
        numbered.append({tuple(one[key] for key in keys) for one in graphs if one["image_index"] is not None})
    for folder, expected in zip((tmp_path / "clevr", tmp_path / "clevr-some"), numbered, strict=True):
        shown = []
        for path in (folder / "scenes").iterdir():
            listed = json.loads(path.read_text())["scenes"]
            # As the published executor of ns-vqa takes them: by place.
            assert [one["image_index"] for one in listed] == [*range(len(listed))]
            shown += [one for one in listed if one["objects"]]
        assert {tuple(one[key] for key in keys) for one in shown} == expected
        files = {path.name for path in folder.rglob("*.png")}
        assert files == {one["image_filename"] for one in shown} and len(files) == len(shown)
    assert numbered[1] < numbered[0]


def test_questions_are_selected_as_exports_are(store: LanceStore, tmp_path: Path) -> None:
    def asked(*options: object) -> set[str]:
        out = tmp_path / "q.jsonl"
        done = call("questions", store.url, "--kind", "scenes", *options, "--out", out, command=specs_main)
        assert done.exit_code == 0, done.output
        return {json.loads(line)["episode_id"] for line in out.read_text().splitlines()}

    version = store.version
    store.delete(["demo/5"])
    assert asked("--where", "episode_id > 'demo/2'") == {"demo/3", "demo/4"}
    assert asked("--limit", 2) == {"demo/0", "demo/1"}
    assert "demo/5" in asked("--at", version) and "demo/5" not in asked()
    (tmp_path / "spec.json").write_text('{"version": 1, "id": "a", "frames": [{"random_objects": {"count": 2}}]}')
    done = call("questions", tmp_path / "spec.json", "--where", "true", command=specs_main)
    assert done.exit_code == 2 and "are for stores" in done.output


@pytest.mark.alike
@pytest.mark.parametrize("name", ["coco", "clevr", "folder", "huggingface", "webdataset", "eval", "gallery"])
def test_pipes_in_a_folder_hold_nothing_up(name: str, store: LanceStore, tmp_path: Path) -> None:
    """A pipe that nobody writes to, in the place of each file of an earlier export in turn."""
    out = tmp_path / "out"
    command: Any = gallery_main if name == "gallery" else export_main
    more = {"gallery": [], "eval": ["--format", "eval", "--questions", "2"]}.get(name, ["--format", name])
    assert call(store.url, *more, "--out", out, command=command).exit_code == 0
    signal.signal(signal.SIGALRM, lambda *_: pytest.fail("it waits for a pipe"))
    for path in sorted(path for path in out.rglob("*") if path.is_file())[:12]:
        kept = path.rename(tmp_path / "kept")
        os.mkfifo(path)
        signal.alarm(60)
        for option in ([], ["--overwrite"]):
            done = call(store.url, *more, "--out", out, *option, command=command)
            assert done.exit_code in (0, 2, 4) and "Traceback" not in done.output, (path, done.output, done.exception)
            assert isinstance(done.exception, SystemExit | None)
        signal.alarm(0)
        path.unlink(missing_ok=True)
        kept.rename(path)


def test_a_format_of_a_package_may_lack_update(
    store: LanceStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, about = tmp_path / "out", tmp_path / "about.toml"
    about.write_text(ABOUT)
    monkeypatch.setattr(folder_format, "write_tables", lambda out, written: None)
    assert call(store.url, "--out", out, "--about", about).exit_code == 0
    store.put([plain("demo/7", "a", 7)])
    done = call(store.url, "--out", out)
    assert done.exit_code == 0 and "update them with --about" in done.output, done.output


@pytest.mark.parametrize("name", ["coco", "folder"])
def test_an_id_that_is_the_file_of_another_episode_is_left_out(name: str, tmp_path: Path) -> None:
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    first = rendered("a/b")
    nested = f"a/b/{first.images[0].name}.png"
    store.put([first, rendered(nested), rendered("a/b/other.png"), rendered("c")])
    done = call(store.url, "--format", name, "--out", tmp_path / "out")
    assert done.exit_code == 1, done.output
    assert nested in done.output and "file of episode a/b;" in done.output and "exported 3 episodes" in done.output
    if name == "coco":
        assert {key for key, _ in coco_images(tmp_path / "out")} == {"a/b", "a/b/other.png", "c"}
    else:
        assert (tmp_path / "out/a/b/episode.json").exists() and (tmp_path / "out/c/episode.json").exists()


@pytest.mark.parametrize("name", ["a/b/frame-0.png", "a/x.json/c", "a/x.npz"])
def test_a_new_spec_has_no_such_id(name: str) -> None:
    text = json.dumps({"version": 1, "id": name, "frames": [{"random_objects": {"count": 2}}]})
    with pytest.raises(SpecError, match=r"don't end in \.png"):
        parse_episode(text)
    parse_episode(text.replace(name, "a.png/frame-0.jpg"))
