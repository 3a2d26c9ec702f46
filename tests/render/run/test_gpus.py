"""Finding cards without a card: the driver's program and device files are stood in for."""

from __future__ import annotations

from pathlib import Path

import pytest

from diorama.render.run.machine import find_cards

LISTING = """GPU 0: NVIDIA H200 (UUID: GPU-aaaa)
GPU 1: NVIDIA H200 (UUID: GPU-bbbb)
  MIG 1g.18gb Device 0: (UUID: MIG-cccc)
GPU 2: NVIDIA L4 (UUID: GPU-dddd)
"""


def smi(folder: Path, text: str, code: int = 0) -> str:
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\nexit {code}\n")
    program.chmod(0o755)
    return str(program)


def test_the_drivers_program_is_asked(tmp_path: Path) -> None:
    cards = find_cards({}, tmp_path, smi(tmp_path, LISTING))
    assert cards.count == 3 and "2 x NVIDIA H200" in cards.report and "1 x NVIDIA L4" in cards.report


@pytest.mark.parametrize(
    ("visible", "count"), [("0", 1), ("0,2", 2), ("", 0), ("-1", 0), ("0,-1,1", 1), ("GPU-aaaa,GPU-dddd", 2)]
)
def test_what_cuda_visible_devices_leaves(tmp_path: Path, visible: str, count: int) -> None:
    cards = find_cards({"CUDA_VISIBLE_DEVICES": visible}, tmp_path, smi(tmp_path, LISTING))
    assert cards.count == count and "CUDA_VISIBLE_DEVICES" in cards.report


def test_device_files_where_there_is_no_program(tmp_path: Path) -> None:
    (tmp_path / "dev").mkdir()
    for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "nvidia-modeset"):
        (tmp_path / "dev" / name).touch()
    assert find_cards({}, tmp_path, None).count == 2


def test_nothing_there_says_what_was_looked_at(tmp_path: Path) -> None:
    cards = find_cards({}, tmp_path, smi(tmp_path, "NVIDIA-SMI has failed: no driver", 9))
    assert cards.count == 0 and "no driver" in cards.report and "/dev/nvidia0" in cards.report
    assert "no nvidia-smi" in find_cards({}, tmp_path, None).report


@pytest.mark.parametrize(("device", "count"), [("hip", 2), ("oneapi", 1), ("metal", 0)])
def test_gpus_of_other_makers_are_counted_by_vendor(tmp_path: Path, device: str, count: int) -> None:
    for number, vendor in enumerate(("0x1002", "0x8086", "0x1002", "0x10de")):
        folder = tmp_path / f"sys/class/drm/renderD{128 + number}/device"
        folder.mkdir(parents=True)
        (folder / "vendor").write_text(f"{vendor}\n")
    assert find_cards({}, tmp_path, None, device).count == count
