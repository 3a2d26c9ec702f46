"""Which NVIDIA cards this machine has, found in milliseconds: no CUDA, no Blender, no Ray."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_SMI_SECONDS = 20.0


@dataclass(frozen=True)
class Cards:
    """count: cards that may be used. said: what was looked at and found, for messages."""

    count: int
    said: str


def find_cards(env: Mapping[str, str] | None = None, root: Path = Path("/"), smi: str | None = "nvidia-smi") -> Cards:
    """The cards of this machine that CUDA_VISIBLE_DEVICES leaves.

    env: environment, the process's by default. root: where dev and proc are. smi: program to ask, None for none.
    """
    env = os.environ if env is None else env
    total, said = _installed(root, smi)
    visible = env.get("CUDA_VISIBLE_DEVICES")
    if visible is None or not total:
        return Cards(total, said)
    count = min(total, _visible(visible))
    return Cards(count, f"{said}; CUDA_VISIBLE_DEVICES={visible!r} leaves {count}")


def _visible(text: str) -> int:
    """How many cards a CUDA_VISIBLE_DEVICES names: CUDA stops reading at the first that is none."""
    count = 0
    for name in text.split(","):
        if not name.strip() or name.strip() in ("-1", "NoDevFiles", "none", "void"):
            break
        count += 1
    return count


def _installed(root: Path, smi: str | None) -> tuple[int, str]:
    """Ask the driver's own program first: in a container it sees what the container was given."""
    program = shutil.which(smi) if smi else None
    if program is not None:
        try:
            answer = subprocess.run([program, "-L"], capture_output=True, text=True, timeout=_SMI_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            problem = f"nvidia-smi gave no answer: {error}"
        else:
            names = re.findall(r"^GPU \d+: (.*?) \(UUID", answer.stdout, re.MULTILINE)
            if names:
                return len(names), f"nvidia-smi lists {len(names)}: {_counted(names)}"
            words = (answer.stdout + answer.stderr).strip().splitlines() or ["nothing"]
            problem = f"nvidia-smi said: {words[-1]}"
    else:
        problem = "there is no nvidia-smi"
    files = [path for path in (root / "dev").glob("nvidia*") if re.fullmatch(r"nvidia\d+", path.name)]
    if files:
        return len(files), f"{problem}; {len(files)} of /dev/nvidia[0-9]"
    return 0, f"{problem}, and no /dev/nvidia0: no NVIDIA card, or its driver is not loaded or not in this container"


def _counted(names: list[str]) -> str:
    return ", ".join(f"{names.count(name)} x {name}" for name in dict.fromkeys(names))
