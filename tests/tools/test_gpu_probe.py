"""The GPU probe, as far as a machine without a card can try it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import OpenEXR

from tools import gpu_probe

PROBE = Path(gpu_probe.__file__)


def write(path: Path, ids: np.ndarray[tuple[int, int], np.dtype[np.float32]], red: float) -> None:
    """A multilayer file as Blender writes it."""
    names = ("Combined.R", "Combined.G", "Combined.B", "Depth.Z")
    channels = {f"ViewLayer.{name}": np.full(ids.shape, red if name[-1] == "R" else 0.25, "f4") for name in names}
    channels["ViewLayer.IndexOB.X"] = ids
    header = {"compression": OpenEXR.NO_COMPRESSION, "type": OpenEXR.scanlineimage}
    OpenEXR.File(header, channels).write(str(path))


def test_its_reader_reads_what_openexr_writes(tmp_path: Path) -> None:
    ids = np.arange(12, dtype="f4").reshape(3, 4)
    write(tmp_path / "a.exr", ids, 0.5)
    found = gpu_probe.planes(tmp_path / "a.exr")
    assert (found["IndexOB.X"] == ids).all()
    assert (found["color"] == [188, 137, 137]).all()


def test_differences_are_counted(tmp_path: Path) -> None:
    ids = np.zeros((3, 4), dtype="f4")
    write(tmp_path / "a.exr", ids, 0.5)
    ids[1, 2] = 7
    write(tmp_path / "b.exr", ids, 0.6)
    a, b = (gpu_probe.planes(tmp_path / name) for name in ("a.exr", "b.exr"))
    assert gpu_probe.compare(a, a) == "ids differ in 0 pixels, depth by 0 (0 pixels), color identical"
    assert re.match(r"ids differ in 1 pixels, depth by 0 \(0 pixels\), color \d+\.\d dB", gpu_probe.compare(a, b))


def test_it_runs_to_its_end_on_the_cpu() -> None:
    options = ["--kinds", "CPU,CUDA", "--size", "32x24", "--samples", "1", "--images", "1", "--processes", "1,2"]
    done = subprocess.run([sys.executable, PROBE, *options], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    assert "CPU twice: ids differ in 0 pixels, depth by 0 (0 pixels), color identical" in done.stdout
    assert re.search(r"CPU x2, denoiser CPU: \d+\.\d\d images/s, .* \d+ MB per process", done.stdout)
