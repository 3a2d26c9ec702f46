"""The check of exported iWISDM trials finds what is wrong with a trial, and nothing wrong with a right one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tools.__main__ import main as run_tool
from tools.iwisdm_check import problems_of

INSTRUCTION = "observe object 1, delay, observe object 2, category of object 1 equals category of object 2?"


@pytest.fixture
def trial(tmp_path: Path) -> Path:
    folder = tmp_path / "train" / "low" / "trial7"
    (folder / "frames").mkdir(parents=True)
    spaces = [(0, 0), None, (1, 1)]
    objects: list[dict[str, Any]] = []
    for epoch, space in enumerate(spaces):
        pixels = np.zeros((64, 64, 3), dtype=np.uint8)
        if epoch < 2:
            pixels[30:35, 32] = pixels[32, 30:35] = 255
        if space is not None:
            column, row = space
            pixels[row * 32 + 8 : row * 32 + 20, column * 32 + 8 : column * 32 + 20] = (200, 10, 10)
            obj = {"space": space, "category": 0, "object": 0, "view angle": 1, "epochs": epoch}
            objects.append({"count": len(objects) + 1, "obj": obj})
        Image.fromarray(pixels).save(folder / f"frames/epoch{epoch}.png")
    info = {"epochs": 3, "objects": objects, "instruction": INSTRUCTION, "answers": ["null", "null", "true"]}
    (folder / "frames/task_info.json").write_text(json.dumps(info))
    (folder / "annotations.json").write_text(json.dumps({"categories": ["cars"], "models": ["cars/#1"]}))
    return folder


def repaint(path: Path, change: Callable[[Any], None]) -> None:
    pixels = np.asarray(Image.open(path)).copy()
    change(pixels)
    Image.fromarray(pixels).save(path)


def test_a_right_trial_and_its_sheet(trial: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert problems_of(trial) == []
    assert run_tool(["iwisdm-check", str(tmp_path), "--sheet", str(tmp_path / "sheet.png"), "--side", "40"]) == 0
    assert "1 trials, 0 with errors" in capsys.readouterr().out
    sheet = np.asarray(Image.open(tmp_path / "sheet.png"))
    assert (sheet[4 + 8, 4 + 8] == (200, 10, 10)).all()
    assert run_tool(["iwisdm-check", str(trial / "frames")]) == 2


def test_what_is_wrong_is_found(trial: Path) -> None:
    def blot(pixels: Any) -> None:
        pixels[5, 60] = 90

    def no_cross(pixels: Any) -> None:
        pixels[28:37, 28:37] = 0

    def cross(pixels: Any) -> None:
        pixels[32, 32] = 255

    def blank(pixels: Any) -> None:
        pixels[:] = 0

    changes = [
        (0, blot, "epoch 0: quadrant [1, 0] shows something"),
        (1, no_cross, "epoch 1: a cross is missing"),
        (2, cross, "epoch 2: a cross is shown with the answer"),
        (2, blank, "epoch 2: quadrant [1, 1] is empty"),
    ]
    for epoch, change, diagnostic in changes:
        path = trial / f"frames/epoch{epoch}.png"
        before = path.read_bytes()
        repaint(path, change)
        assert diagnostic in problems_of(trial)
        path.write_bytes(before)
    info = trial / "frames/task_info.json"
    before = info.read_bytes()
    for old, new, diagnostic in [
        ('"true"', '"false"', "the instruction gives"),
        ("category of object 2?", "category of object 3?", "can't be read"),
        ('"epochs": 3', '"epochs": 4', "4 epochs, 3 pictures"),
    ]:
        info.write_text(before.decode().replace(old, new))
        assert diagnostic in " ".join(problems_of(trial))
    info.write_bytes(before)
    Image.new("L", (64, 64)).save(trial / "frames/epoch1.png")
    assert "expected RGB" in problems_of(trial)[0]
