"""Every command with every kind of input: some of all pairs, and what `python -m tools command-fuzz` found once."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tests.hostile import command_fuzz
from tests.hostile.fuzz_inputs import KINDS, OWN, TRAPS, Good, make_input
from tests.hostile.traps import run_bounded
from tests.marks import slow
from tests.render.cli.test_help import every_command

QUESTIONS = ("render-specs", "questions", "PATH")
EVAL = ("--format", "eval", "--questions", "2")


def fuzz(*words: str) -> int:
    parser = argparse.ArgumentParser()
    command_fuzz.add_options(parser)
    return command_fuzz.main(parser.parse_args([*words, "--processes", "1", "--seconds", "120"]))


@pytest.mark.slow
def test_some_of_all_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    # 53 and the number of kinds have no common divisor, so that each kind and each path is reached.
    assert fuzz("--every", "53") == 0, capsys.readouterr().err
    printed = capsys.readouterr().out
    assert int(printed.rpartition("\n\n")[2].split()[0]) > 100


def test_every_path_is_a_target() -> None:
    paths = {(name, param.name) for name, param in command_fuzz.targets()}
    assert {("render-batch", "specs"), ("render-gallery", "url"), ("render-specs check", "store")} <= paths
    programs = {name.split()[0] for name, _ in every_command()}
    assert programs - {name.split()[0] for name, _ in paths} == {"render-doctor"}
    assert all(command_fuzz.documented_codes(name) >= {0, 2} for name, _ in every_command())
    assert len(KINDS) == len({*OWN, *TRAPS}) > 50


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "code", "words"),
    [
        *slow(("folder of others", 1, ("render-doctor", "--store", "PATH"))),
        ("folder without permission", 2, ("render-specs", "kilogram", "drawings", "PATH")),
        ("sparse .jsonl of 5 GB", 2, ("render-batch", "PATH", "--out", "OUT")),
        # Never, with what grows to gigabytes.
        ("spec of forty small cubes", 0, ("render-specs", "questions", "PATH", "--size", "128x96")),
        *slow(
            ("spec of forty small cubes", 0, (*QUESTIONS, "--kind", "expressions", "--size", "128x96")),
            ("spec of forty small cubes", 0, (*QUESTIONS, "--kind", "captions", "--size", "128x96")),
            ("store of forty small cubes", 0, ("render-export", "PATH", *EVAL, "--out", "OUT")),
        ),
        ("canvas of 10,000 x 10,000", 2, ("render-specs", "questions", "PATH")),
        ("grammar of 2^20 wordings", 2, ("render-specs", "questions", "GOOD", "--grammar", "PATH")),
        *slow(
            ("grammar of phrases doubled 25 times", 2, ("render-specs", "questions", "GOOD", "--grammar", "PATH")),
            ("grammar of 3,000 colors", 2, ("render-specs", "questions", "GOOD", "--grammar", "PATH")),
        ),
    ],
)
def test_in_a_process_of_its_own(tmp_path: Path, kind: str, code: int, words: tuple[str, ...]) -> None:
    good = Good(tmp_path / "good")
    path = make_input(kind, good, tmp_path)
    words = tuple(str(good.path("clevr.jsonl")) if word == "GOOD" else word for word in words)
    named = [word.replace("PATH", str(path)).replace("OUT", str(tmp_path / "out.lance")) for word in words]
    done = run_bounded(named[0], *named[1:], env={"HOME": str(tmp_path)})
    assert done.code == code or (os.geteuid() == 0 and kind == "folder without permission"), done.err
    assert "Traceback" not in done.err and done.peak < 1000


@pytest.mark.slow
def test_what_it_found_once(capsys: pytest.CaptureFixture[str]) -> None:
    found = (
        "check --shapenet", "views --list", "drawings FOLDER", "play GAMES", "play --out", "batch --status",
        "migrate URL", "games STORE",
    )  # fmt: skip
    kinds = (
        "folder without permission", "in a folder without permission", "name too long", "link to itself",
        "not UTF-8 in the name", "JSON of 30 MB", "one.json", "sparse file of 5 GB",
    )  # fmt: skip
    assert fuzz(*found, *(f"--kind={kind}" for kind in kinds)) == 0, capsys.readouterr().err


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (lambda: None, ""),
        (lambda: [][0], "IndexError"),
        (lambda: click.echo("Traceback (most recent call last):"), "traceback"),
        (lambda: sys.exit(9), "does not list"),
        (lambda: sys.exit(2), "without a message"),
    ],
)
def test_a_broken_command_is_caught(body: Callable[[], object], problem: str) -> None:
    target = next(one for one in command_fuzz.targets() if one.command == "render-export")
    result = CliRunner().invoke(click.Command("x", callback=body))
    assert problem in command_fuzz.problem_of(target, result)
    assert bool(problem) == bool(command_fuzz.problem_of(target, result))


def test_files_beside_what_was_asked_are_caught(tmp_path: Path) -> None:
    here = Path.cwd()
    place = command_fuzz.Place(tmp_path)
    reading, changing = (
        next(one for one in command_fuzz.targets() if one.command == name)
        for name in ("render-store ls", "render-store delete")
    )
    try:
        place.clear()
        before = command_fuzz.listing(tmp_path / "call")
        (place.out / "asked").write_text("")
        assert place.beside(before, reading) == []
        (place.given / "store").write_text("")
        Path("beside").write_text("")
        assert place.beside(before, reading) == ["cwd/beside", "given/store"]
        assert place.beside(before, changing) == ["cwd/beside"]
    finally:
        os.chdir(here)
