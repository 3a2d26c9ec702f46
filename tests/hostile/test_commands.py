"""Every command with every kind of input: some of all pairs, and what `python -m tools command-fuzz` found once."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import pytest

from tests.hostile import command_fuzz
from tests.hostile.fuzz_inputs import KINDS, OWN, TRAPS
from tests.hostile.traps import make_store, run_bounded
from tests.render.cli.test_help import every_command


def fuzz(*words: str) -> int:
    parser = argparse.ArgumentParser()
    command_fuzz.add_options(parser)
    return command_fuzz.main(parser.parse_args([*words, "--processes", "1"]))


def test_some_of_all_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    # 53 and the number of kinds have no common divisor, so that each kind and each path is reached.
    assert fuzz("--every", "53") == 0, capsys.readouterr().err
    printed = capsys.readouterr().out
    assert int(printed.rpartition("\n\n")[2].split()[0]) > 100


def test_every_path_is_a_target() -> None:
    paths = {(name, param.name) for name, param in command_fuzz.targets()}
    assert {("render-batch", "specs"), ("render-gallery", "url"), ("render-specs check", "store")} <= paths
    assert {name.split()[0] for name, _ in every_command()} == {name.split()[0] for name, _ in paths}
    assert all(command_fuzz.documented_codes(name) >= {0, 2} for name, _ in every_command())
    assert len(KINDS) == len({*OWN, *TRAPS}) > 50
