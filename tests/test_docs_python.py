"""What the pages show in Python runs as written, where the stores and episodes are that it names."""

from __future__ import annotations

import doctest
import inspect
import re
import shutil
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
import pytest

import diorama
import diorama.render.annotations
from diorama.render.cli.batch import main as batch_main
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.run.local_ray import local_ray
from diorama.render.run.options import RunOptions
from diorama.render.store.lance.lance_store import LanceStore
from diorama.scene_specs.tasks.chat import Message, Picture
from tests.chat_server import chat_server
from tests.render.store.rendered import rendered
from tests.test_docs import ROOT, Block, blocks_of

# Those of docs/store.md and docs/extending.md have tests of their own.
# The blocks of README.md and docs/python.md run in order, below.
PAGES = ("docs/shapenet.md", "docs/debugging.md", "docs/iwisdm.md", "docs/icca.md")
BLOCKS = [block for page in PAGES for block in blocks_of(ROOT / page) if block.words == ("python",)]


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for url, name in (("diorama.lance", "demo/0001"), ("demo.lance", "clevr/val/000000")):
        LanceStore.create(url, fsync=False).put([rendered(name)])
    # Cycles is tried elsewhere; here it would render for seconds what nobody looks at.
    monkeypatch.setattr("diorama.render.renderers.cycles.cycles_renderer.CyclesRenderer", lambda *_: FakeRenderer())


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{block.page}:{block.line}")
def test_a_block_runs(block: Block) -> None:
    names: dict[str, Any] = {}
    exec(compile(block.text, f"{block.page}:{block.line}", "exec"), names)


@pytest.fixture(scope="module")
def one_ray() -> Iterator[None]:
    with local_ray():
        yield


def run_in_order(page: str) -> tuple[dict[str, Any], str]:
    """Run the blocks of a page, each with the names of those before it; the names and the source."""
    blocks = [block for block in blocks_of(ROOT / page) if block.words == ("python",)]
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block.text, f"{block.page}:{block.line}", "exec"), names)
    return names, "".join(block.text for block in blocks)


@pytest.mark.slow
@pytest.mark.usefixtures("one_ray")
def test_the_readme_renders_a_small_dataset() -> None:
    names, _ = run_in_order("README.md")
    assert (names["summary"].rendered, names["report"].exported) == (4, 4)
    assert names["record"].images[0].color().shape == (120, 160, 3)
    assert all(len(box) == 4 for box in names["boxes"].values())


@pytest.mark.usefixtures("one_ray")
def test_the_docstring_of_every_public_function_ends_with_an_example_that_runs() -> None:
    functions = {name: getattr(diorama, name) for name in diorama.__all__ if inspect.isfunction(getattr(diorama, name))}
    # The others read the store that this one writes.
    for name in sorted(functions, key=lambda name: name != "render_to_store"):
        text = inspect.getdoc(functions[name]) or ""
        assert ">>> " in text.rpartition("\n\n")[2], name
        example = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
        assert doctest.DocTestRunner().run(example).failed == 0, name
        if name == "render_to_store":
            shutil.copytree("clevr.lance", "samples/samples.lance")


@pytest.mark.slow
@pytest.mark.usefixtures("one_ray")
def test_the_page_about_python_shows_every_function(capsys: pytest.CaptureFixture[str]) -> None:
    names, source = run_in_order("docs/python.md")
    functions = {name for name in diorama.__all__ if inspect.isfunction(getattr(diorama, name))}
    assert functions <= set(re.findall(r"diorama\.(\w+)\(", source))
    assert names["report"].exported == 3
    said = capsys.readouterr().out
    assert "3 of 3 episodes" in said and "did you mean 'cube'?" in said and "(fail_on)" in said


def test_the_page_about_python_has_every_error_and_every_option_of_batches_with_another_name() -> None:
    page = (ROOT / "docs/python.md").read_text("utf-8")
    errors = {name for name in diorama.__all__ if name.endswith("Error")}
    assert [name for name in sorted(errors) if f"`{name}`" not in page] == []
    # These are arguments of render_to_store, or of the program alone.
    known = {field.name for field in fields(RunOptions)} | {"dry_run", "json", "out", "quiet", "status", "verbose"}
    options = {param.opts[-1] for param in batch_main.params if isinstance(param, click.Option)} - {"--version"}
    assert [name for name in options if name[2:].replace("-", "_") not in known and f"`{name}" not in page] == []


def test_the_example_of_the_readme_has_at_most_ten_lines() -> None:
    (block,) = (block for block in blocks_of(ROOT / "README.md") if block.words == ("python",))
    assert len(block.text.splitlines()) <= 10


def test_passes_are_read_as_the_page_says() -> None:
    (call,) = re.findall(
        r"`(diorama\.render\.annotations\.decode_extra\([^`]*\))`", (ROOT / "docs/fields.md").read_text()
    )
    passes = eval(call, {"diorama": diorama, "record": rendered(frames=1)})
    assert {name: array.shape for name, array in passes.items()} == {"depth": (48, 64)}


def test_each_page_has_one() -> None:
    assert {block.page for block in BLOCKS} == {Path(page).name for page in PAGES}


def test_the_page_about_models_has_a_model_and_asks_a_server(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    own, asking = (block.text for block in blocks_of(ROOT / "docs/models.md") if block.words == ("python",))
    names: dict[str, Any] = {}
    exec(compile(own, "models.md", "exec"), names)
    reply = names["Model"]().reply([Message("user", ("A or B?", Picture("images/0.png", b"")))], max_tokens=1)
    assert (reply.text, reply.input_tokens) == ("B", 1)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with chat_server(lambda number, body: f"{number}: {body['messages'][0]['content']}") as server:
        exec(compile(asking.replace("http://localhost:8000/v1", server.url), "models.md", "exec"), {})
    assert capsys.readouterr().out == "0: What is a tangram?\n"
