"""A small checkout in the form of MALeViC's."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import h5py
import pytest

from diorama.scene_specs.benchmarks.malevic.published import encode_question, tensors, vocabulary
from diorama.scene_specs.benchmarks.malevic.sets import SETS
from tests.scene_specs.benchmarks.malevic.published_files import published


def git(folder: Path, *arguments: str) -> None:
    line = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    subprocess.run(line, check=True, capture_output=True, timeout=240)


@pytest.fixture(scope="module")
def malevic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published") / "malevic"
    file, questions = published(folder / "data-hard", "set-pos-hard", "test", range(80))
    known = vocabulary(SETS["set-pos-hard"])
    rows = [encode_question(known, one) for one in json.loads(questions.read_text())["questions"]]
    with h5py.File(questions.with_name("test_questions.h5"), "w") as out:
        for key, numbers in tensors([number for row in rows for number in row]).items():
            out[key] = numbers
    questions.with_name("vocab.json").write_text(json.dumps(vocabulary(SETS["set-pos-hard"])))
    raw = folder / "examples" / "set-pos-hard"
    raw.mkdir(parents=True)
    entries = json.loads(file.read_text())
    for index in range(2):
        entries[str(index)][0] |= {"image_id": str(index), "image_url": f"{index}.png"}
        shutil.move(folder / "data-hard" / "set-pos-hard" / "images" / f"{index}.png", raw)
    (raw / "annotations_0.json").write_text(json.dumps({key: entries[key] for key in ("0", "1")}))
    (folder / "code").mkdir()
    (folder / "code" / "build_data.py").touch()
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "published")
    return folder
