"""What the pages show in Python runs as written, where the stores and episodes are that it names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import render.annotations
from render.renderers.fake import FakeRenderer
from render.store.lance.lance_store import LanceStore
from tests.render.store.rendered import rendered
from tests.test_docs import ROOT, Block, blocks_of

# Those of docs/store.md have tests of their own, those of docs/spec.md are files of a package.
PAGES = ("README.md", "docs/shapenet.md", "docs/debugging.md", "docs/iwisdm.md", "docs/icca.md")
BLOCKS = [block for page in PAGES for block in blocks_of(ROOT / page) if block.words == ("python",)]


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for url, name in (("diorama.lance", "demo/0001"), ("demo.lance", "clevr/val/000000")):
        LanceStore.create(url, fsync=False).put([rendered(name)])
    # Cycles is tried elsewhere; here it would render for seconds what nobody looks at.
    monkeypatch.setattr("render.renderers.cycles.cycles_renderer.CyclesRenderer", lambda *_: FakeRenderer())


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{block.page}:{block.line}")
def test_a_block_runs(block: Block) -> None:
    names: dict[str, Any] = {}
    exec(compile(block.text, f"{block.page}:{block.line}", "exec"), names)


def test_passes_are_read_as_the_page_says() -> None:
    (call,) = re.findall(r"`(render\.annotations\.decode_extra\([^`]*\))`", (ROOT / "docs/spec.md").read_text())
    passes = eval(call, {"render": render, "record": rendered(frames=1)})
    assert {name: array.shape for name, array in passes.items()} == {"depth": (48, 64)}


def test_each_page_has_one() -> None:
    assert {block.page for block in BLOCKS} == {Path(page).name for page in PAGES}
