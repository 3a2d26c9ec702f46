"""What older versions made is still read, exported, compared and rendered again alike.

Everything goes through the installed commands and `diorama.open_store`, so that no test depends on how the code is
arranged. Each `v<version>.tar.xz` beside this file was made by `python -m tools compatibility` of that version.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

import diorama
from diorama.render.machine.blender_series import installed_series
from diorama.scene_specs.language.model_names import is_model
from tests.compatibility.commands import command, run, run_json
from tests.compatibility.contents import (
    ABOUT,
    DIGESTS,
    EXPORTS,
    FIRST,
    GALLERY,
    GAMES,
    PLAYED,
    SCORE,
    SPECS,
    SPECS_BEFORE,
    SPECS_MORE,
    STORE,
    close,
    differing,
    differing_export,
    differing_gallery,
    export_arguments,
    files_of,
    gallery_files,
    png_digest,
    truth_digests,
    unpack,
)

ARCHIVES = sorted(Path(__file__).parent.glob("v*.tar.xz"))
# On the other series of Blender, additions are of another series than the archive.
MIXING = () if installed_series() == "4.5" else ("--mix-series",)
# What another instruction set or another Blender may change: the mean error of an image, of 255, and its PSNR in dB.
MOST_MEAN_ERROR = 1.0
LEAST_PSNR = 30.0
# Truth that is measured in pixels. All other truth comes from the Scene and must be equal everywhere.
MEASURED = re.compile(
    r"(\.(visible_pixels|visible_fraction|coverage_pixels|bbox(\[\d\])?|rle\.counts): )|(^and \d+ more$)"
)


class Archive(NamedTuple):
    """root: where it was unpacked."""

    root: Path
    about: dict[str, Any]
    digests: dict[str, Any]

    @property
    def store(self) -> Path:
        return self.root / STORE

    @property
    def is_first(self) -> bool:
        """Whether IDENTITY_VERSION was raised since, which makes every episode outdated: that was for 0.2."""
        return bool(self.about["version"] == FIRST)

    @property
    def kept(self) -> int:
        """How many episodes are outdated: also those with models, which Blender reads since 0.3."""
        store = diorama.open_store(str(self.store))
        keys = [store.get(name).job for name in self.digests["episodes"]]
        return sum(self.is_first or any(map(is_model, key.assets)) for key in keys)

    def check_added(self, summary: dict[str, Any], rendered: int) -> None:
        assert (summary["rendered"], summary["kept"]) == (rendered, self.kept)
        assert summary["skipped"] == len(self.digests["episodes"]) - self.kept


@pytest.fixture(scope="module", params=ARCHIVES, ids=lambda path: path.name.removesuffix(".tar.xz"))
def archive(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Archive:
    """An unpacked archive, for tests that don't write into its store."""
    root = tmp_path_factory.mktemp("archive")
    unpack(request.param, root)
    about, digests = (json.loads((root / name).read_text()) for name in (ABOUT, DIGESTS))
    return Archive(root, about, digests)


@pytest.fixture
def writable(archive: Archive, tmp_path: Path) -> Path:
    """A copy of the store, for a test that writes."""
    shutil.copytree(archive.store, tmp_path / STORE)
    return tmp_path / STORE


def test_the_first_archive_is_there() -> None:
    assert "v0.1.0.tar.xz" in [path.name for path in ARCHIVES]


def test_verify_finds_nothing(archive: Archive) -> None:
    found = run_json("render-store", "verify", archive.store)
    assert (found["damaged"], found["unreadable"]) == ([], [])
    assert found["episodes"] == len(archive.digests["episodes"])


def test_ls_lists_every_episode(archive: Archive) -> None:
    rows = [json.loads(line) for line in run("render-store", "ls", archive.store, "--json").splitlines()]
    assert [row["episode_id"] for row in rows] == list(archive.digests["episodes"])


def test_show_tells_the_truth_of_an_episode(archive: Archive) -> None:
    name = archive.about["replaced"]
    shown = run_json("render-store", "show", archive.store, name)
    assert truth_digests(shown["truth"]) == archive.digests["episodes"][name]
    assert list(run_json("render-store", "show", archive.store)["tags"]) == [archive.about["tag"]]


def test_every_record_has_its_truth_and_its_images(archive: Archive) -> None:
    store = diorama.open_store(str(archive.store))
    for name, expected in archive.digests["episodes"].items():
        record = store.get(name)
        assert truth_digests(record.truth) == expected, name
        assert {image.name: png_digest(image.png) for image in record.images} == expected["images"], name


def test_the_replaced_episode_is_still_there_under_the_tag(archive: Archive) -> None:
    name, tag = archive.about["replaced"], archive.about["tag"]
    before = run_json("render-store", "show", archive.store, name, "--at", tag)
    assert truth_digests(before["truth"]) == archive.digests["before"]
    history = run_json("render-store", "history", archive.store, name)
    assert [(step["present"], step["attempt"]) for step in history] == [(True, 1), (True, 2)]
    assert history[0]["job_hash"] == before["job"]


@pytest.mark.slow
def test_every_export_is_written_alike(archive: Archive, tmp_path: Path) -> None:
    assert set(archive.about["exports"]) <= set(run("render-export", "--list-formats").split())
    for name, arguments in export_arguments(archive.about, archive.root):
        run("render-export", *arguments, "--out", tmp_path / name)
        old, new = files_of(archive.root / EXPORTS / name), files_of(tmp_path / name)
        assert old, name
        assert differing_export(archive.about["version"], name, old, new) == [], name


@pytest.mark.slow
def test_the_gallery_holds_the_same_data_and_images(archive: Archive, tmp_path: Path) -> None:
    run("render-gallery", archive.store, "--out", tmp_path / "made", "--workers", "1")
    old, new = files_of(archive.root / GALLERY), gallery_files(tmp_path / "made", archive.store)
    # What came after 0.1.0 is left out for it.
    assert (differing_gallery if archive.is_first else differing)(old, new) == []


@pytest.mark.slow
def test_episodes_rendered_again_are_identical(archive: Archive, tmp_path: Path) -> None:
    assert len(archive.about["rendered_again"]) >= 4
    store = diorama.open_store(str(archive.store))
    for number, name in enumerate(archive.about["rendered_again"]):
        out = ("--device", "cpu", "--compare", "--out", tmp_path / str(number))
        again = run_json("render-episode", archive.store, name, *out, exit_codes=(0, 1))
        if same_making(store.get(name).provenance.model_dump(), again["provenance"]):
            assert again["comparison"]["identical"], f"{name}: {again['comparison']}"
        else:
            assert strays(again["comparison"]) == [], name


def same_making(before: dict[str, Any], now: dict[str, Any]) -> bool:
    """Whether byte identity is promised: the same kind of processor, instruction set and Blender.

    Processors of two makers with the same instruction set were seen to differ: by one level in two pixels of one image.
    """
    return all(before[key] == now[key] for key in ("device", "cpu")) and (
        before["versions"].get("bpy") == now["versions"].get("bpy")
    )


def strays(comparison: dict[str, Any]) -> list[str]:
    """What another processor or Blender does not explain."""
    found = [f"{name} is missing" for name in (*comparison["missing"], *comparison["gone"])]
    for image in comparison["images"]:
        psnr = image["psnr"]  # None where the images are equal
        if image["mean"] > MOST_MEAN_ERROR or (psnr is not None and psnr < LEAST_PSNR):
            found.append(f"{image['name']}: mean error {image['mean']:.3f}, PSNR {psnr} dB")
        found += [f"{image['name']}: {line}" for line in image["truth"] if not MEASURED.search(line)]
    return found


def test_the_tolerance_for_another_processor_allows_noise_and_nothing_else() -> None:
    image = {"name": "a", "mean": 0.02, "psnr": 52.0, "truth": ["objects[0].visible_pixels: 90, now 91"]}
    noisy = {"missing": [], "gone": [], "images": [image, {**image, "mean": 0.0, "psnr": None, "truth": []}]}
    assert strays(noisy) == []
    moved = {**image, "mean": 3.0, "psnr": 22.0, "truth": ["objects[0].location[1]: 1.0, now 2.0"]}
    assert len(strays({"missing": ["b"], "gone": ["c"], "images": [moved]})) == 4
    now = {"device": "CPU A", "cpu": "x86_64 avx2", "versions": {"bpy": "4.5.1"}}
    assert same_making(dict(now), now)
    for other in ({"device": "CPU B"}, {"cpu": "x86_64 sse4.2"}, {"versions": {"bpy": "4.5.0"}}):
        assert not same_making({**now, **other}, now)


def test_a_batch_of_the_same_specs_is_refused_or_keeps_them_all(archive: Archive, writable: Path) -> None:
    rendering = (archive.root / SPECS, "--out", writable, *archive.about["rendering"])
    assert archive.kept >= 3
    refused = CliRunner().invoke(command("render-batch"), [*map(str, rendering), *MIXING])
    assert refused.exit_code == 2 and "--replace" in refused.output
    named = re.search(r"model 'shapenet:\S+' has changed, or another version of Diorama read it", refused.output)
    assert archive.is_first or named
    archive.check_added(run_json("render-batch", *rendering, "--keep", *MIXING), 0)


@pytest.mark.slow
def test_a_batch_with_one_more_spec_renders_that_one(archive: Archive, writable: Path) -> None:
    specs = (archive.root / SPECS, archive.root / SPECS_MORE)
    options = ("--workers", "1", *archive.about["rendering"], "--keep", *MIXING)
    archive.check_added(run_json("render-batch", *specs, "--out", writable, *options), 1)
    added = json.loads((archive.root / SPECS_MORE).read_text())["id"]
    ids = {json.loads(line)["episode_id"] for line in run("render-store", "ls", writable, "--json").splitlines()}
    assert ids - set(archive.digests["episodes"]) == {added}


def test_a_batch_of_the_older_spec_is_a_conflict(archive: Archive, writable: Path) -> None:
    run("render-batch", archive.root / SPECS_BEFORE, "--out", writable, *archive.about["rendering"], exit_codes=(2,))


def test_icca_games_and_a_transcript_are_made_alike(archive: Archive, tmp_path: Path) -> None:
    games, played = tmp_path / GAMES, tmp_path / PLAYED
    run("render-specs", "icca", "games", archive.store, "--count", "2", "--out", games)
    made = files_of(games)
    if archive.is_first:
        # It wrote no checksums.
        made = {name: re.sub(rb'"sha256": "[0-9a-f]{64}",\s*', b"", content) for name, content in made.items()}
        made = {name: content for name, content in made.items() if not name.endswith("SHA256SUMS")}
    assert differing(files_of(archive.root / GAMES), made) == []
    # The scripted speaker has other messages since 0.1.0: the transcript's own are said again.
    again = f"replay:{archive.root / PLAYED}" if archive.is_first else "scripted"
    players = [again if value == "scripted" else value for value in archive.about["players"]]
    run("render-specs", "icca", "play", archive.root / GAMES, *players, "--out", played)
    text = played.read_text()
    if archive.is_first:
        text = re.sub(r',\s*"sha256": "[0-9a-f]{64}"', "", text)
    assert text.replace(json.dumps(again), '"scripted"') == (archive.root / PLAYED).read_text()


def test_the_transcript_has_its_scores(archive: Archive) -> None:
    scores = run_json("render-specs", "icca", "score", archive.root / PLAYED)
    # NumPy decides in which order it adds the bootstrap draws, so the last digits of a mean may differ.
    assert close(json.loads((archive.root / SCORE).read_text()), scores, 1e-9)
