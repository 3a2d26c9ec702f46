"""`--asset-root` works in every command that has it: each finds a mesh that only this folder has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import diorama
from diorama.render.run.local_ray import local_ray

COMMANDS = {name: getattr(diorama, f"render_{name}") for name in ("batch", "specs", "store", "episode", "eval")}
RAMP = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
SMALL = ("--profile", "draft", "--size", "64x48")
# Command -> its arguments; PLAIN, DROPPED: spec files, PAIRS: a store of contrasts, OUT: a new path.
CALLS: dict[str, tuple[str, ...]] = {
    "batch": ("PLAIN", "--out", "OUT", "--renderer", "fake", "--workers", "1", *SMALL),
    "specs check": ("PLAIN",),
    "specs contrast": ("PLAIN", "--change", "color", "--out", "OUT", *SMALL),
    "specs looks": ("PLAIN", "--looks", "plain,wood", "--out", "OUT", *SMALL),
    "specs questions": ("PLAIN", "--out", "OUT", "--size", "64x48"),
    "specs resolve": ("PLAIN", "--out", "OUT", *SMALL),
    "specs settle": ("DROPPED", "--out", "OUT", *SMALL),
    "store contrast": ("PAIRS", "--min-pixels", "1"),
    "episode": ("--from", "PLAIN", "--renderer", "fake", "--out", "OUT", *SMALL),
}


def commands_with_roots() -> Iterator[tuple[str, click.Command]]:
    def walk(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
        if isinstance(command, click.Group):
            context = click.Context(command)
            for each in command.list_commands(context):
                inner = command.get_command(context, each)
                assert inner is not None
                yield from walk(inner, f"{name} {each}")
        elif any("--asset-root" in parameter.opts for parameter in command.params):
            yield name, command

    for name, command in COMMANDS.items():
        yield from walk(command, name)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    folder = tmp_path_factory.mktemp("roots")
    (folder / "root/mine").mkdir(parents=True)
    (folder / "root/mine/ramp.obj").write_text(RAMP)
    ramp = {"name": "ramp", "shape": {"mesh": "mine/ramp.obj"}, "size": 0.5, "color": "red", "material": "rubber"}
    frames = {"plain": [{"objects": [ramp, {"name": "b", "shape": "cube", "color": "blue", "material": "rubber"}]}],
              "dropped": [{"objects": [{**ramp, "drop": True, "location": [0, 0, 1.5]}]}]}  # fmt: skip
    found = {"ROOT": str(folder / "root")}
    for name, some in frames.items():
        path = folder / f"{name}.json"
        path.write_text(json.dumps({"version": 1, "id": f"mine/{name}", "seed": 1, "frames": some}))
        found[name.upper()] = str(path)
    runner, pairs = CliRunner(), folder / "pairs.jsonl"
    made = [found["PLAIN"], "--change", "color", "--out", str(pairs), "--asset-root", found["ROOT"], *SMALL]
    assert runner.invoke(COMMANDS["specs"], ["contrast", *made]).exit_code == 0
    found["PAIRS"] = str(folder / "pairs.lance")
    with local_ray():
        batch = [str(pairs), "--out", found["PAIRS"], "--renderer", "fake", "--workers", "1"]
        done = runner.invoke(COMMANDS["batch"], [*batch, "--asset-root", found["ROOT"]])
        assert done.exit_code == 0, done.output
        yield found


def test_every_command_with_the_option_is_called_here() -> None:
    assert {name for name, _ in commands_with_roots()} == {*CALLS}


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_the_mesh_of_a_root_is_found(name: str, files: dict[str, str], tmp_path: Path) -> None:
    command = dict(commands_with_roots())[name]
    arguments = [{**files, "OUT": str(tmp_path / "out.lance")}.get(word, word) for word in CALLS[name]]
    done = CliRunner().invoke(command, [*arguments, "--asset-root", files["ROOT"]])
    assert done.exit_code == 0, done.output
    without = CliRunner().invoke(command, [word.replace("out.lance", "other.lance") for word in arguments])
    assert without.exit_code in (1, 2) and "mine/ramp.obj" in without.output, without.output
