"""The NVIDIA GPUs of this machine, found in milliseconds without CUDA, Blender or Ray."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

_SMI_SECONDS = 20.0


@dataclass(frozen=True)
class Cards:
    """count: GPUs that may be used. report: what was inspected and found, for messages."""

    count: int
    report: str


def find_cards(env: Mapping[str, str] = os.environ, root: Path = Path("/"), smi: str | None = "nvidia-smi") -> Cards:
    """Find the GPUs of this machine that CUDA_VISIBLE_DEVICES leaves visible.

    env: environment. root: folder of dev. smi: the nvidia-smi program, None to run none.
    """
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
