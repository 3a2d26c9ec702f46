"""Each broken spec of the table gives its message, and only that; all of them together are reported in one run."""

from __future__ import annotations

from pathlib import Path

import pytest

from diorama.scene_specs.reading.source import SpecSource
from tests.scene_specs.reading.broken_cases import Broken, episode
from tests.scene_specs.reading.broken_specs import BROKEN

# A Scene lacks most of its keys, and a first diagnostic in the same text may bring others.
MORE_THAN_ONE = {"broken scene"}


def test_the_table_is_large_and_its_names_are_unique() -> None:
    assert len({case.name for case in BROKEN}) == len(BROKEN) >= 60


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.name)
def test_message(case: Broken, tmp_path: Path) -> None:
    file = tmp_path / f"case{case.suffix}"
    file.write_bytes(case.content)
    diagnostics, count = SpecSource([file]).check()
    assert count == case.good
    shown = "\n".join(map(str, diagnostics))
    assert len(diagnostics) == 1 or case.name in MORE_THAN_ONE, shown
    diagnostic = next(diagnostic for diagnostic in diagnostics if diagnostic.path == case.path)
    assert (diagnostic.file, diagnostic.line) == (str(file), case.line), shown
    assert not [part for part in case.parts if part not in str(diagnostic)], shown
    assert str(diagnostic).isprintable()


def test_only_texts_are_offered_for_a_text(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"version": "1", "id": "a", "frames": [{}]}')
    (diagnostic,), _ = SpecSource([tmp_path]).check()
    assert str(diagnostic).endswith('found "1"; allowed: 1')


def test_all_are_reported_in_one_run(tmp_path: Path) -> None:
    files = []
    for number, case in enumerate(BROKEN):
        files.append(tmp_path / f"{number:03d}{case.suffix}")
        files[-1].write_bytes(case.content)
    (tmp_path / "good.json").write_text(str(episode(id="good")).replace("'", '"'))
    diagnostics, count = SpecSource([tmp_path]).check()
    # Ids of the table are used over and over, so its few right episodes are duplicates.
    assert 1 <= count <= 1 + sum(case.good for case in BROKEN)
    assert {diagnostic.file for diagnostic in diagnostics} == {str(file) for file in files}
