"""Games and pictures for tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from PIL import Image

from diorama.scene_specs.benchmarks.icca import Options, Presented, generate
from diorama.scene_specs.benchmarks.icca.game import (
    LISTENER_VARIANTS,
    SPEAKER_VARIANTS,
    Game,
    ListenerVariant,
    new_game,
)
from diorama.scene_specs.benchmarks.icca.game_folders import table_text, write_game
from diorama.scene_specs.benchmarks.icca.layout import SceneGraph, graph_from_json, graph_of
from diorama.scene_specs.benchmarks.icca.play import Setup, Trial, play
from diorama.scene_specs.benchmarks.icca.players import factory
from diorama.scene_specs.benchmarks.icca.prompts import png_bytes

VALUES = {"color": ("red", "blue", "green"), "shape": ("cube", "sphere"), "size": ("large", "small")}


@st.composite
def pictures(draw: st.DrawFn, things: int | None = None) -> SceneGraph:
    """Up to three things of few values, standing in some order or in none."""
    count = things or draw(st.integers(1, 3))
    shown = [{name: draw(st.sampled_from(values)) for name, values in VALUES.items()} for _ in range(count)]
    if not draw(st.booleans()):
        return graph_of(shown)
    order = draw(st.permutations(range(count)))
    return graph_of(shown, [("left", a, b) for k, a in enumerate(order) for b in order[k + 1 :]])


def context_specs(
    count: int, difficulty: str, source: str, vary: str = "", seed: int = 0, first: int = 0
) -> Iterator[Any]:
    """Contexts by the options of the command."""
    given = {"difficulty": difficulty, "source": source, "vary": vary or None}
    options = Options.model_validate({"contexts": count, "seed": seed, "first": first, **given})
    return iter(generate.generate(options).items)


def context_spec(number: int, difficulty: str, source: str, vary: str = "", seed: int = 0) -> Any:
    """Context `number`."""
    return next(context_specs(1, difficulty, source, vary, seed, number))


@lru_cache(maxsize=64)
def game(number: int = 0, source: str = "clevr", difficulty: str = "hard", vary: str = "") -> Game:
    """A game of a context of our own, without files."""
    spec = context_spec(number, difficulty, source, vary)
    shown = [graph_from_json(frame["truth"]["picture"]) for frame in spec["frames"]]
    return new_game(number, 0, [f"{source}-{number}-{k}.png" for k in range(4)], shown)


def setup(variant: str | ListenerVariant = "L3", speaker: str = "S1", **setting: str | int) -> Setup:
    """Settings of a game."""
    listener = LISTENER_VARIANTS[variant] if isinstance(variant, str) else variant
    return Setup(Presented.model_validate(setting), SPEAKER_VARIANTS[speaker], listener)


def played(one: Game, speaker: str, listener: str, settings: Setup) -> list[Trial]:
    """A game, with all prompts."""
    return play(
        one,
        factory("speaker", speaker)(one, settings),
        factory("listener", listener)(one, settings),
        settings,
    )


def share(trials: Sequence[Trial], first: int, end: int) -> float:
    """Of right answers in trials first ... end - 1."""
    return sum(one.correct for one in trials[first:end]) / (end - first)


def write(out: Path, one: Game, size: tuple[int, int] = (16, 12)) -> Path:
    """A game's folder, its images of a color each."""
    files = {name: png_bytes(Image.new("RGB", size, (60 * k, 20, 200))) for k, name in enumerate(one.images)}
    truth = {"images": {name: {"picture": p.data()} for name, p in zip(one.images, one.pictures, strict=True)}}
    return write_game(out, one, files, table_text(one), truth)
