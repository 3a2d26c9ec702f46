"""Run a command on simulated GPUs.

    python -m tools simulated-gpu --cards 8 -- render-doctor --device cuda
    python -m tools simulated-gpu --cards 4 --memory 4GB --fail cuLaunchKernel=719:40@3 -- render-batch a.jsonl --gpus 4

Cycles finds the cards through a CUDA driver that this tool compiles. Images are black, because kernels do nothing; with
--level 2, the CPU runs them. tools/simulated_gpu/README.md says what is simulated. Exit code: that of the command.
"""

from __future__ import annotations

import os
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path

from diorama.render.model.errors import UsageError
from tools.simulated_gpu.build import build_driver, driver_variables
from tools.simulated_gpu.packages import cache_folder

NAME = "Simulated GPU"
MOST_CARDS = 64
_MEBIBYTES = {"MB": 1, "GB": 1024}
_RULE = re.compile(r"(?:(hang|zero|0xff|random)|(\w+)=(\d+))(?::(\d+))?(?:@(\d+))?(?:x(\d+))?")


def environment(
    cards: int,
    *,
    level: int = 1,
    memory: str | None = None,
    fail: str = "",
    log: Path | None = None,
    arch: str = "9.0",
    name: str = NAME,
    listed: int | None = None,
) -> dict[str, str]:
    """Return the environment variables with which a process finds simulated cards; build the driver if needed.

    level: 1, black images; 2, kernels run on the CPU. memory: of each card, such as 4GB, or one for each, such as
    4GB,512MB; the last is that of all further cards. fail: rules FUNCTION=CODE[:AFTER][@CARD][xTIMES], separated by
    commas; see README.md. log: file to which the driver appends a line for each kernel and fault. arch: compute
    capability. listed: number of cards that nvidia-smi and Ray find, if the driver finds another. Raises UsageError.
    """
    if not 0 <= cards <= MOST_CARDS:
        raise UsageError(f"--cards {cards}: choose 0 to {MOST_CARDS}")
    return driver_variables(build_driver(level)) | {
        "SIMULATED_GPU_CARDS": str(cards),
        "SIMULATED_GPU_NAME": name,
        "SIMULATED_GPU_ARCH": arch,
        "SIMULATED_GPU_FAIL": " ".join(_rule(one, log) for one in fail.split(",") if one),
        "SIMULATED_GPU_MEMORY": ",".join(str(_mebibytes(one)) for one in (memory or "4GB").split(",")),
        "SIMULATED_GPU_LISTED": str(cards if listed is None else listed),
        "SIMULATED_GPU_LOG": str(log.absolute()) if log else "",
        # Otherwise, the driver would write into the folder of a real one.
        "CUDA_CACHE_PATH": os.environ.get("CUDA_CACHE_PATH") or f"{log.absolute() if log else cache_folder()}.ptx",
    }


def _rule(text: str, log: Path | None) -> str:
    """Return a rule as the driver reads it; see faults.c."""
    found = _RULE.fullmatch(text)
    if not found:
        raise UsageError(
            f"--fail {text}: write FUNCTION=CODE[:AFTER][@CARD][xTIMES], or hang, zero, 0xff, random for FUNCTION=CODE"
        )
    silent, function, code, after, card, times = found.groups()
    if log is None and (times or function == "vanish"):
        raise UsageError(f"--fail {text}: processes share it through files beside the log; add --log FILE")
    return f"{silent or function} {code or 0} {after or 0} {card or -1} {times or 0}"


def _mebibytes(text: str) -> int:
    found = re.fullmatch(r"(\d+)(MB|GB)", text)
    if not found:
        raise UsageError(f"--memory {text}: write a number with MB or GB, such as 4GB")
    return int(found[1]) * _MEBIBYTES[found[2]]


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--cards", type=int, default=1, help="number of cards (1)")
    parser.add_argument("--level", type=int, choices=[1, 2], default=1, help="1: black images; 2: kernels run")
    parser.add_argument("--memory", help="of each card (4GB), or one for each: 4GB,512MB")
    parser.add_argument("--fail", default="", metavar="RULES", help="FUNCTION=CODE[:AFTER][@CARD][xTIMES],...")
    parser.add_argument("--log", type=Path, help="file for a line per kernel and fault")
    parser.add_argument("--arch", default="9.0", help="compute capability (9.0)")
    parser.add_argument("--listed", type=int, help="cards that nvidia-smi and Ray find (as many as the driver)")
    parser.add_argument("command", nargs="+", help="after --")


def main(options: Namespace, run: Callable[..., object] = os.execvpe) -> None:
    """Replace this process by the command. Raises OSError if there is no such command."""
    chosen = {key: value for key, value in vars(options).items() if key != "command"}
    variables = {**os.environ, **environment(**chosen)}
    run(options.command[0], options.command, variables)
