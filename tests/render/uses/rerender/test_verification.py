"""Verification from Python, without a command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.uses.rerender.verification import AssetCheck, verify_files, verify_store
from diorama.scene_specs.asset_roots import package_assets
from diorama.scene_specs.benchmarks.mewl import verify
from diorama.scene_specs.benchmarks.mewl.generate import mewl_spec
from diorama.scene_specs.errors import SpecError, UsageError
from diorama.scene_specs.reading.source import SpecSource, read_benchmark, read_checked
from tests.render.store.rendered import rendered
from tests.scene_specs.reading.broken_cases import episode


def write(folder: Path, *specs: Any) -> list[str]:
    file = folder / "specs.jsonl"
    file.write_text("".join(json.dumps(spec) + "\n" for spec in specs))
    return [str(file)]


def test_wrong_answers_and_episodes_without_a_verifier_are_told_apart(tmp_path: Path) -> None:
    right, wrong = mewl_spec(0, "test", "shape", 0), mewl_spec(0, "test", "shape", 1)
    wrong["task"]["answer"] = next(one for one in wrong["task"]["options"] if one != wrong["task"]["answer"])
    found = verify_files(read_checked(write(tmp_path, right, wrong, episode())))
    assert (found.episodes, found.unverified) == (2, 1)
    (diagnostic,) = found.diagnostics
    assert (diagnostic.line, diagnostic.episode, diagnostic.path) == (2, wrong["id"], "task")


def test_a_verifier_that_fails_is_a_diagnostic_of_its_episode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    specs = [mewl_spec(0, "test", "shape", number) for number in range(3)]
    reasons = {specs[0]["id"]: "", specs[2]["id"]: ""}
    monkeypatch.setattr(verify, "verify_spec", lambda data: reasons[data["id"]])
    found = verify_files(read_checked(write(tmp_path, *specs)))
    assert found.episodes == 2
    (diagnostic,) = found.diagnostics
    assert (diagnostic.line, diagnostic.episode) == (2, specs[1]["id"])
    assert diagnostic.problem == f"the verifier failed: KeyError({specs[1]['id']!r})"


def test_missing_published_files_end_the_verification(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(data: Any) -> str:
        raise UsageError("--svg: not there")

    monkeypatch.setattr(verify, "verify_spec", missing)
    with pytest.raises(UsageError):
        verify_files(read_checked(write(tmp_path, mewl_spec(0, "test", "shape", 0))))


def test_a_store_is_verified(tmp_path: Path) -> None:
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    store.put([rendered("demo/0")])
    found = verify_store(store.url)
    assert (found.episodes, found.unverified, found.diagnostics) == (1, 1, [])


def test_missing_files_are_diagnostics_at_their_names(tmp_path: Path) -> None:
    shutil.copy(package_assets() / "materials/wood.blend", tmp_path / "there.blend")
    spec = episode()
    spec["frames"][0]["objects"] = [
        {"material": {"blend": f"{name}.blend", "group": "Wood"}} for name in ("there", "gone")
    ]
    with SpecSource(write(tmp_path, spec), more=AssetCheck([tmp_path])) as source:
        diagnostics, _ = source.check()
    (diagnostic,) = diagnostics
    assert diagnostic.path == "frames[0].objects[1].material.blend" and "gone.blend" in diagnostic.problem


def test_files_of_another_benchmark_are_refused(tmp_path: Path) -> None:
    files = write(tmp_path, mewl_spec(0, "test", "shape", 0), episode())
    read = read_benchmark(files, "mewl")
    assert next(read)["task"]["benchmark"] == "mewl"
    with pytest.raises(SpecError, match=r"specs.jsonl:2: episode \S+: task: found benchmark None; expected 'mewl'"):
        next(read)
