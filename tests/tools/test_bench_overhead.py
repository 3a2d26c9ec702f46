"""What is counted as overhead: every step as the profile has it, and no samples."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Settings
from tools import bench_overhead
from tools.__main__ import main as run_tool


def test_steps_are_those_of_the_profile_and_samples_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Settings] = []

    def made(_renderer: Any, settings: Settings, count: int) -> list[Any]:
        """20 ms and 10 a sample; the denoiser takes 100 more, and reading what it made 8 instead of 3."""
        asked.append(settings)
        render = 0.020 + 0.010 * settings.samples + 0.100 * settings.denoise
        seconds = {"render": render, "read": 0.008 if settings.denoise else 0.003}
        return [SimpleNamespace(provenance=SimpleNamespace(seconds=seconds)) for _ in range(count)]

    monkeypatch.setattr(bench_overhead, "records", made)
    monkeypatch.setattr(bench_overhead, "open_or_create", lambda _url: SimpleNamespace(put=lambda _records: None))
    standard = settings_for("standard", 32, 24)
    found, sample = bench_overhead.steps(cast(CyclesRenderer, None), standard, 3)
    assert sample == pytest.approx(10)
    assert found["read"] == pytest.approx(8)
    assert found["render, without its samples"] == pytest.approx(20)
    assert {each.glass_samples for each in asked} == {0}
    assert any(each.denoise for each in asked)


def test_no_image_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        run_tool(["bench-overhead", "--images", "0"])
    assert stopped.value.code == 2
    assert "an integer of at least 1" in capsys.readouterr().err
