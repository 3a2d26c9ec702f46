"""Each Python block of docs/store.md runs against a store."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from diorama.render.store.lance.lance_store import LanceStore
from tests.render.store.rendered import rendered

PAGE = Path(__file__).parents[3] / "docs" / "store.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
READERS = {"torch", "datasets", "pandas", "duckdb", "polars"}


def tools_of(block: str) -> list[str]:
    """Top-level modules that a block imports, in its order."""
    found = [node for node in ast.walk(ast.parse(block)) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = [alias.name for node in found if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in found if isinstance(node, ast.ImportFrom)]
    return sorted({name.split(".")[0] for name in names})


def blocks() -> list[Any]:
    """A parameter for each block, named by its modules and marked if one of them is another people's reader."""
    found = [(block, tools_of(block)) for block in BLOCKS]
    return [
        pytest.param(block, id="-".join(tools), marks=[pytest.mark.readers] if READERS & {*tools} else [])
        for block, tools in found
    ]


@pytest.mark.parametrize("block", blocks())
def test_a_block_of_the_page(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    store = LanceStore.create("diorama.lance", fsync=False)
    store.put([rendered(f"demo/000{number}", seed=number) for number in (1, 2, 3)])
    names: dict[str, Any] = {}
    exec(compile(block, str(PAGE), "exec"), names)
    assert names["episodes"] == 3


def test_every_tool_that_is_promised_has_a_block() -> None:
    shown = {name for block in BLOCKS for name in tools_of(block)}
    assert shown >= {"diorama", *READERS}
