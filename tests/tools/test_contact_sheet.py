"""The sheet shows every picture once, at its place."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
COLORS = ((250, 10, 10), (10, 250, 10), (10, 10, 250))


def run_sheet(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-m", "tools", "contact-sheet", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, cwd=ROOT)


def test_pictures_stand_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name, color in zip(("a/1", "a/2", "b/1"), COLORS, strict=True):
        path = tmp_path / f"{name}.png"
        path.parent.mkdir(exist_ok=True)
        Image.new("RGB", (40, 30), color).save(path)
    Image.fromarray(np.linspace(0, 60000, 1200).reshape(30, 40).astype(np.uint16)).save(tmp_path / "c.png")
    sheet = tmp_path / "sheet.png"
    for _ in range(2):  # the second time the sheet itself lies among the pictures
        done = run_sheet(str(tmp_path), str(sheet), "--columns", "2")
        assert done.returncode == 0, done.stderr
    pixels = np.asarray(Image.open(sheet).convert("RGB"))
    centers = []
    for color in COLORS:
        rows, columns = np.nonzero((pixels == color).all(axis=2))
        assert len(rows) == 40 * 30
        centers.append((rows.mean(), columns.mean()))
    assert centers[0][0] == centers[1][0] < centers[2][0]
    assert centers[0][1] == centers[2][1] < centers[1][1]


def test_empty_folder_is_an_error(tmp_path: Path) -> None:
    done = run_sheet(str(tmp_path), str(tmp_path / "sheet.png"))
    assert done.returncode == 1
    assert f"{tmp_path}: found no .png files" in done.stderr


def test_one_large_picture_does_not_spread_the_others(tmp_path: Path) -> None:
    Image.new("RGB", (400, 200), COLORS[0]).save(tmp_path / "a.png")
    Image.new("RGB", (40, 30), COLORS[1]).save(tmp_path / "b.png")
    sheet = tmp_path / "sheet.png"
    assert run_sheet(str(tmp_path), str(sheet), "--largest", "40").returncode == 0
    pixels = np.asarray(Image.open(sheet).convert("RGB"))
    assert [int((pixels == color).all(axis=2).sum()) for color in COLORS[:2]] == [40 * 20, 40 * 30]
