"""Sheets of ICCA contexts and games have every picture on them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from render.episode.make_record import make_record
from render.model.profiles import settings_for
from render.renderers.fake import FakeRenderer
from render.store.lance.lance_store import LanceStore
from scene_specs.benchmarks.icca.transcripts import lines_of
from scene_specs.language.spec import EpisodeSpec
from tests import factories
from tests.scene_specs.benchmarks.icca.pieces import context_spec, game, played, setup, write
from tools.__main__ import main as run_tool


def colors(path: Path) -> set[tuple[int, ...]]:
    with Image.open(path) as picture:
        return {tuple(pixel) for pixel in np.asarray(picture.convert("RGB")).reshape(-1, 3).tolist()}


def test_a_sheet_of_contexts(tmp_path: Path) -> None:
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    for number in range(3):
        spec = context_spec(number, "hard", "flat")
        job, settings = factories.make_job(spec), settings_for("draft", 64, 64)
        store.put([make_record(FakeRenderer(), EpisodeSpec.model_validate(spec), job, settings)])
    store.close()
    sheet = tmp_path / "sheet.png"
    assert run_tool(["icca-sheet", str(tmp_path / "s.lance"), str(sheet), "--side", "64", "--columns", "2"]) == 0
    with Image.open(sheet) as picture:
        assert picture.width == 2 * (4 * 70 + 6)
    assert len(colors(sheet)) > 6
    empty = LanceStore.create(str(tmp_path / "e.lance"), fsync=False)
    empty.close()
    assert run_tool(["icca-sheet", str(tmp_path / "e.lance"), str(sheet)]) == 2


def test_a_sheet_of_a_game(tmp_path: Path) -> None:
    one = game()
    write(tmp_path / "games", one)
    trials = played(one, "scripted", "random", setup())
    file, sheet, games = tmp_path / "t.jsonl", tmp_path / "sheet.png", ["--games", str(tmp_path / "games")]
    file.write_text("\n".join(lines_of(one, setup(), ("scripted", "random"), trials)))
    assert run_tool(["icca-sheet", str(file), str(sheet), *games, "--side", "60"]) == 0
    assert {(60 * k, 20, 200) for k in range(4)} <= colors(sheet)
    # Letters are blended with the paper: none is quite as red as it is meant.
    assert any(r > 180 and max(g, b) < 100 for r, g, b in colors(sheet))
    assert run_tool(["icca-sheet", str(file), str(sheet), *games, "--game", "1_x"]) == 2
