"""What the pages show in Python runs as written, where the stores and episodes are that it names."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import diorama
import render.annotations
from render.renderers.fake import FakeRenderer
from render.store.lance.lance_store import LanceStore
from tests.render.store.rendered import rendered
from tests.test_docs import ROOT, Block, blocks_of

# Those of docs/store.md have tests of their own, those of docs/spec.md are files of a package.
PAGES = ("docs/shapenet.md", "docs/debugging.md", "docs/iwisdm.md", "docs/icca.md")
# Their blocks fill stores, each block with the names of those before it.
IN_ORDER = ("README.md", "docs/python.md")
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


@pytest.mark.parametrize("page", IN_ORDER)
def test_the_blocks_of_a_page_run_in_order(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = [block for block in blocks_of(ROOT / page) if block.words == ("python",)]
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block.text, f"{block.page}:{block.line}", "exec"), names)
    assert names["record"].images[0].color().shape == (120, 160, 3)
    assert all(len(box) == 4 for box in names["boxes"].values())
    assert names["report"].exported == len(names["specs"] if page != "README.md" else range(4))
    used = set(re.findall(r"diorama\.(\w+)\(", "".join(block.text for block in blocks)))
    functions = {name for name in diorama.__all__ if inspect.isfunction(getattr(diorama, name))}
    assert functions <= used or page == "README.md"
    assert "unknown shape" in capsys.readouterr().out or page == "README.md"


def test_the_example_of_the_readme_has_at_most_ten_lines() -> None:
    (block,) = (block for block in blocks_of(ROOT / "README.md") if block.words == ("python",))
    assert len(block.text.splitlines()) <= 10


def test_passes_are_read_as_the_page_says() -> None:
    (call,) = re.findall(r"`(render\.annotations\.decode_extra\([^`]*\))`", (ROOT / "docs/spec.md").read_text())
    passes = eval(call, {"render": render, "record": rendered(frames=1)})
    assert {name: array.shape for name, array in passes.items()} == {"depth": (48, 64)}


def test_each_page_has_one() -> None:
    assert {block.page for block in BLOCKS} == {Path(page).name for page in PAGES}
