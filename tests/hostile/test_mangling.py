"""Mangled files of every kind are read or refused; what a reader must not do is noticed."""

from __future__ import annotations

import argparse
import random
import subprocess
from pathlib import Path

import pytest

from tests.hostile import mangling
from tests.hostile.mangle_kinds import KINDS


@pytest.mark.slow
def test_a_few_of_every_kind_are_read_or_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    mangling.add_options(parser)
    few = ["svg", "transcript", "mewl"]
    options = ["--count", "20", "--seconds", "60", "--folder", str(tmp_path)]
    assert mangling.main(parser.parse_args([*few, *options])) == 0
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert [(row[0], row[1], row[4]) for row in rows] == [(f"| {kind}", "20", "0") for kind in few]


@pytest.mark.parametrize("kind", KINDS)
def test_an_input_depends_on_its_number_only(kind: str) -> None:
    seed = b'{"a": [1, 2]}\nv 1 2 3\n'
    assert mangling.mangled(seed, random.Random(f"1/{kind}/7")) == mangling.mangled(seed, random.Random(f"1/{kind}/7"))


def test_the_watch_sees_foreign_paths_and_processes(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    watch = mangling.Watch(tmp_path / "in")
    watch.on = True
    (tmp_path / "in" / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    (tmp_path / "b").read_text()
    (tmp_path / "b").unlink()
    subprocess.run(["true"], check=True)
    watch.on = False
    events = [found.split()[0] for found in watch.found]
    assert events[:3] == ["open", "open", "os.remove"]
    assert "subprocess.Popen" in events
