"""Renew the figures of the docs.

    python -m tools claims                          # lists the claims, their pages and hours, then runs all of them
    python -m tools claims truth contacts
    python -m tools claims published --inputs CLONES

A claim is some calls of tools and commands, and holds if each ends with 0. DIR/COMMIT/NAME has the output of each call
that ended, such as 1.txt, and what the calls make; the same command after an interruption continues with the first call
that did not end. Hours are those of two quiet cores. Claims about files of others need --inputs, a folder with clones
of benchmarks by their names (clevr, kilogram, ...), pairs for check-look in `look`, and a library of models in
`shapenet`; what is absent is left out. `make test-all` runs each claim with --small. Exit code 1: a claim does not
hold.
"""

from __future__ import annotations

import logging
import os
import re
import shlex
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from diorama.scene_specs.errors import UsageError, counted
from diorama.scene_specs.files.atomic import write_atomic
from diorama.scene_specs.language.diagnostics import did_you_mean
from tools.programs import ROOT, command, git

RESUMES = True
log = logging.getLogger("claims")


class Claim(NamedTuple):
    """What backs figures of a page.

    Attributes:
        page: of docs.
        hours: on two quiet cores.
        calls: one per line, of a command or a tool, in the claim's folder. {a|b}: a, or b with --small. ROOT: the
            checkout. INPUTS: the folder of --inputs; without the named file, the call is left out.
    """

    page: str
    hours: float
    calls: str


_SMALL = "--size 64x48 --references references --results results"
CLAIMS = {
    "colors": Claim("benchmarks.md", 0.2, "check-colors {|--colors red --materials rubber Plain Tint}"),
    "contacts": Claim("benchmarks.md", 1.3, """
        check-contacts --piles {10000|4} --tamper {40|4} --seed 5
        check-contacts --removals {2000|4} --seed 11"""),
    "determinism": Claim("benchmarks.md", 0.1, "check-determinism {|--profile draft --episodes 1}"),
    "invented": Claim("invented.md", 0.9, """
        invented {--seeds 334|--seeds 1 --steps 3}
        invented --seeds 1 {--steps 5|--steps 2 --families blob} --cycles"""),
    "look": Claim("benchmarks.md", 0.1, "check-look INPUTS/look"),
    "perspective": Claim("perspective.md", 0.2, "perspective --count {250|1} --render {20|1}"),
    "plausibility": Claim("benchmarks.md", 0.3, """
        plausibility {|ROOT/scene_specs/examples/shapes-and-materials.json --scenes 1 --width 64}"""),
    "published": Claim("reproduce.md", 2.0, """
        published INPUTS/clevr {--items 10000|}
        published INPUTS/icca
        published INPUTS/iwisdm --python INPUTS/iwisdm/venv/bin/python
        published INPUTS/kilogram
        published INPUTS/malevic {--items 10000|--renderer fake}
        published INPUTS/mewl"""),
    "quality": Claim("quality.md", 1.9, f"""
        bench-quality references {{--references ROOT/docs/quality/references|--limit 1 --samples 8 {_SMALL}}}
        bench-quality run draft {{standard clevr-512 published-32 published-128 published-512 --references \
ROOT/docs/quality/references|--whole --limit 1 {_SMALL}}}"""),
    "questions": Claim("questions.md", 0.5, """
        render-specs clevr --count {5000|3} --seed 1 --out clevr.jsonl
        render-specs clevr --stacks --count {2500|3} --seed 2 --out stacks.jsonl
        render-specs perspective --count {250|3} --seed 3 --out perspective.jsonl
        render-batch clevr.jsonl stacks.jsonl perspective.jsonl --renderer fake --out all.lance {|--size 160x120}
        check-questions all.lance {--processes 10|--per-image 1 --seed 1}
        third-judge all.lance {--processes 10|}
        third-judge all.lance --family forms {--processes 10|}"""),
    "shapenet": Claim("shapenet.md", 1.0, "render-specs models INPUTS/shapenet --json"),
    "tampering": Claim("quality.md", 1.0, "tampering {|mewl --changes 2}"),
    "truth": Claim("benchmarks.md", 0.1, "check-truth --scenes {200|1} --alone {30|1}"),
}  # fmt: skip


class Call(NamedTuple):
    """One call of a claim. file: of its output, once it has ended with 0."""

    text: str
    line: list[str]
    file: Path


def calls_of(name: str, options: Namespace) -> Iterator[Call]:
    """Yield the calls of a claim; report those left out."""
    kept = options.folder / git(ROOT, "rev-parse", "--short=8", "HEAD").strip() / name
    for number, line in enumerate(filter(None, map(str.strip, CLAIMS[name].calls.splitlines())), 1):
        text = re.sub(r"\{(.*?)\|(.*?)\}", lambda found: found[1 + options.small], line).replace("ROOT", str(ROOT))
        if "INPUTS" in text:
            inputs = str(options.inputs.absolute()) if options.inputs else "INPUTS"
            text = text.replace("INPUTS", inputs)
            absent = [word for word in text.split() if word.startswith(inputs) and not Path(word).exists()]
            if absent:
                log.info("left out: %s (%s is absent; see --inputs)", line, absent[0])
                continue
        words = shlex.split(text)
        called = command(*words) if words[0].startswith("render-") else [sys.executable, "-m", "tools", *words]
        yield Call(text, called, kept.absolute() / f"{number}.txt")


def make_calls(name: str, calls: Iterable[Call]) -> bool:
    """Make calls until one does not end with 0; return whether all did."""
    for text, line, file in calls:
        log.info("%s: %s", name, text)
        file.parent.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(line, cwd=file.parent, env=environment, stdout=subprocess.PIPE, text=True, check=False)
        sys.stdout.write(done.stdout)
        if done.returncode:
            log.info("%s does not hold: exit code %d of %s", name, done.returncode, text)
            return False
        write_atomic(file, done.stdout)
    return True


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    parser.add_argument("--inputs", type=Path, metavar="DIR", help="clones and other files that are not ours")
    parser.add_argument("--folder", type=Path, metavar="DIR", default=Path("build/claims"), help="of the outputs")
    parser.add_argument("--small", action="store_true", help="a small input for each call: to see that it runs")


def main(options: Namespace) -> int:
    """Run claims; 1 if one does not hold. Raises UsageError for an unknown name."""
    for name in options.names:
        if name not in CLAIMS:
            hint = did_you_mean(name, CLAIMS) or f"expected one of {', '.join(CLAIMS)}"
            raise UsageError(f"unknown claim {name!r}; {hint}")
    missing = {}
    for name in options.names or CLAIMS:
        missing[name] = [call for call in calls_of(name, options) if not call.file.exists()]
        log.info("%-13s docs/%-15s %s to make", name, CLAIMS[name].page, counted(len(missing[name]), "call"))
    hours = sum(CLAIMS[name].hours for name, calls in missing.items() if calls)
    log.info("at most %.1f hours on two quiet cores%s", hours, "; seconds with --small" * options.small)
    return int([make_calls(name, calls) for name, calls in missing.items()].count(False) > 0)
