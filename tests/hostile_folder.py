"""A working directory with files that are called as folders of Diorama are, and the commands run in it.

Also a program, to check an installation by hand: `PYTHON tests/hostile_folder.py FOLDER` runs all commands with that
Python in FOLDER, which it creates; add --acme if the package of docs/extending.md is installed, too.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

OURS = ("render", "scene_specs", "assets")
# What a user may call a script or a package; importing one of them by mistake ends the command.
NAMES = (*(f"{name}/__init__.py" for name in OURS[1:]), "render.py", "tools.py", "tests.py")
# Runs one command of the public interface as its entry point does, then reports modules under names that aren't ours.
_RUN = f"""
import sys
import diorama
sys.argv = sys.argv[1:]
try:
    getattr(diorama, sys.argv[0].replace("-", "_"))()
finally:
    wrong = [name for name in sys.modules if name.split(".")[0] in {OURS!r}]
    twice = [name for name in sys.modules if name.startswith("diorama.diorama")]
    if wrong or twice:
        sys.exit(f"imported under other names: {{wrong + twice}}")
"""
SCENES = "render-batch clevr.jsonl --out c.lance --renderer fake --size 64x48 --workers 2"
COMMANDS = (
    "render-specs clevr --count 3 --seed 1 --out clevr.jsonl", "render-specs check clevr.jsonl", SCENES,
    "render-store ls c.lance", "render-store verify c.lance", "render-export c.lance --format folder --out pictures",
    "render-episode --from clevr.jsonl clevr/train/000001 --renderer fake --sheet sheet.png",
    "render-gallery c.lance --out gallery",
    "render-export c.lance --format eval --questions 2 --out items", "render-eval --help", "render-doctor --help",
)  # fmt: skip
ACME = (
    "render-specs acme --count 2 --seed 1 --out acme.jsonl",
    "render-batch acme.jsonl --out a.lance --renderer fake --size 64x48 --workers 1",
    "render-export a.lance --format acme --out acme-pictures",
)


def write_folder(folder: Path) -> None:
    """Create a folder whose modules say so when they are imported."""
    for name in NAMES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"raise SystemExit('imported the user\\'s own {name}')\n", "utf-8")


def run_commands(folder: Path, commands: tuple[str, ...], environment: dict[str, str] | None = None) -> list[str]:
    """Run commands in the folder, with the folder first on the path; return a line for each that fails."""
    failures = []
    for command in commands:
        done = subprocess.run(
            [sys.executable, "-c", _RUN, *command.split()],
            cwd=folder, capture_output=True, text=True, timeout=240, check=False, env=environment,
        )  # fmt: skip
        if done.returncode:
            failures.append(f"{command}: exit {done.returncode}: {(done.stdout + done.stderr).strip()[-2000:]}")
    return failures


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0])
    write_folder(folder)
    commands = COMMANDS + (ACME if "--acme" in arguments else ())
    failures = run_commands(folder, commands, {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    failures.append(f"{len(commands) - len(failures)} of {len(commands)} commands run")
    sys.stdout.writelines(f"{line}\n" for line in failures)
    return len(failures) > 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
