"""The GPUs of this machine, found in milliseconds without CUDA, Blender or Ray."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

_SMI_SECONDS = 20.0
# Kind of device -> maker of its GPUs, with the id on the PCI bus; Metal has none.
_VENDORS = {"hip": ("AMD", "0x1002"), "oneapi": ("Intel", "0x8086")}
OTHER_KINDS = (*_VENDORS, "metal")


@dataclass(frozen=True)
class Cards:
    """The GPUs of this machine.

    Attributes:
        count: number of GPUs that may be used.
        report: what was inspected and found, for messages.
    """

    count: int
    report: str


def find_cards(
    env: Mapping[str, str] = os.environ, root: Path = Path("/"), smi: str | None = "nvidia-smi", device: str = "auto"
) -> Cards:
    """Find the GPUs of this machine that CUDA_VISIBLE_DEVICES leaves visible, or those of another maker.

    Args:
        env: environment.
        root: folder of dev and sys.
        smi: the nvidia-smi program, None to run none.
        device: as --device.
    """
    if device == "metal":
        return Cards(int(sys.platform == "darwin"), "Metal needs macOS, where it is one GPU")
    if device in _VENDORS:
        maker, number = _VENDORS[device]
        files = (root / "sys/class/drm").glob("renderD*/device/vendor")
        found = sum(file.read_text().strip() == number for file in files)
        return Cards(found, f"{found or 'no'} GPU by {maker} in {root / 'sys/class/drm'}")
    total, report = _installed(root, smi)
    visible = env.get("CUDA_VISIBLE_DEVICES")
    if visible is None or not total:
        return Cards(total, report)
    # CUDA stops reading at the first invalid name.
    names = (name.strip() for name in visible.split(","))
    valid = list(takewhile(lambda name: name not in ("", "-1", "NoDevFiles", "none", "void"), names))
    count = min(total, len(valid))
    return Cards(count, f"{report}; CUDA_VISIBLE_DEVICES={visible!r} leaves {count}")


def _installed(root: Path, smi: str | None) -> tuple[int, str]:
    """Ask the driver's own program first, because in a container it lists exactly the container's GPUs."""
    program = shutil.which(smi) if smi else None
    if program is not None:
        try:
            answer = subprocess.run([program, "-L"], capture_output=True, text=True, timeout=_SMI_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            problem = f"nvidia-smi failed: {error}"
        else:
            names = re.findall(r"^GPU \d+: (.*?) \(UUID", answer.stdout, re.MULTILINE)
            if names:
                kinds = ", ".join(f"{count} x {name}" for name, count in Counter(names).items())
                return len(names), f"nvidia-smi lists {len(names)}: {kinds}"
            output = (answer.stdout + answer.stderr).strip().splitlines() or ["nothing"]
            problem = f"nvidia-smi printed: {output[-1]}"
    else:
        problem = "no nvidia-smi on the PATH"
    files = [path for path in (root / "dev").glob("nvidia*") if re.fullmatch(r"nvidia\d+", path.name)]
    if files:
        return len(files), f"{problem}; {len(files)} of /dev/nvidia[0-9]"
    return 0, f"{problem}, and no /dev/nvidia0: no NVIDIA GPU, or its driver is not loaded or not in this container"
