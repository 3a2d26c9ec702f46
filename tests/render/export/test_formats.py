from __future__ import annotations

import pytest

from render.export import exporter, format_names
from render.export.protocol import ExportReport
from render.model.errors import UsageError


def test_every_format_can_be_loaded() -> None:
    assert "folder" in format_names()
    for name in format_names():
        assert callable(exporter(name))


def test_an_unknown_format_is_named_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"unknown format 'foldr'.*did you mean 'folder'"):
        exporter("foldr")
    with pytest.raises(UsageError, match="unknown format 'base'"):
        exporter("base")


def test_an_entry_point_adds_a_format(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import metadata

    def mine() -> None: ...

    monkeypatch.setattr(f"{__name__}.mine", mine, raising=False)
    point = metadata.EntryPoint("mine", f"{__name__}:mine", "diorama.exports")
    monkeypatch.setattr(
        "render.export.metadata.entry_points", lambda **what: metadata.EntryPoints([point]).select(**what)
    )
    assert "mine" in format_names()
    assert exporter("mine") is mine  # type: ignore[comparison-overlap]


def test_a_long_report_stays_readable() -> None:
    report = ExportReport(damaged=[f"episode {number}: damaged" for number in range(1000)])
    text = str(report.error())
    assert "1,000 episodes not exported" in text
    assert len(text.splitlines()) < 10
    assert ExportReport(exported=3, skipped=2).error() is None
