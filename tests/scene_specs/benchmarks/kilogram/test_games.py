"""Reference games and pictures: the published rules, as specs."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations, islice

import pytest
from pydantic import ValidationError

from diorama.render.compiler import compile_episode
from diorama.scene_specs.benchmarks.kilogram import Options
from diorama.scene_specs.benchmarks.kilogram.annotations import Annotation, Annotations
from diorama.scene_specs.benchmarks.kilogram.dataset import Dataset, own_dataset
from diorama.scene_specs.benchmarks.kilogram.emit import SPAN, game_spec, picture_specs
from diorama.scene_specs.benchmarks.kilogram.examples import (
    AUG,
    COLORS,
    CONDITIONS,
    SIZE,
    Example,
    Game,
    games,
    same_text,
    subsets,
    whole_example,
)
from diorama.scene_specs.benchmarks.kilogram.pieces import PIECES
from diorama.scene_specs.benchmarks.kilogram.verify import verify_spec
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.reading.source import parse_episode

DATA = own_dataset(0)
OPTIONS = Options()


def made(
    split: str = "all", data: Dataset = DATA, augmented: bool = False, **options: object
) -> tuple[list[Game], dict[str, list[str]]]:
    left: dict[str, list[str]] = {}
    return list(games(data.of_split(split), Options(split=split, **options), left, augmented)), left  # type: ignore[arg-type]


def test_every_game_keeps_the_rules() -> None:
    found, _ = made()
    assert len(found) > 1500
    for game in found:
        assert len(game.examples) == SIZE
        assert len({one.tangram for one in game.examples}) == SIZE
        assert len({one.annotation.whole for one in game.examples}) == SIZE
        assert len({len(one.parts) for one in game.examples}) == 1
        assert sorted(game.order) == list(range(SIZE))


def test_ten_games_a_target_and_all_targets_accounted_for() -> None:
    found, left = made(contexts=3)
    targets = [game.examples[0].annotation.key for game in found]
    assert {targets.count(key) for key in targets} == {3}
    out = [key for keys in left.values() for key in keys]
    assert sorted({*targets}) + sorted(out) != []
    assert len({*targets}) + len(out) == len(DATA.annotations)
    every, left = made(contexts=1, targets="all")
    assert len(every) + sum(map(len, left.values())) == sum(map(len, DATA.annotations.values()))


def test_unconstrained_games_have_any_tangrams() -> None:
    """Published as random contexts: different tangrams, with any numbers of parts."""
    found, left = made(contexts=2, unconstrained=True)
    assert left == {}
    assert {len({one.tangram for one in game.examples}) for game in found} == {SIZE}
    counts = [len({len(one.parts) for one in game.examples}) for game in found]
    assert sum(counts) > 2 * len(counts)
    spec = game_spec(DATA, found[0], "part+color", Options(unconstrained=True))
    assert spec["task"]["unconstrained"] is True
    assert spec["id"].split("/")[3] == "random"
    with pytest.raises(ValidationError, match="no unconstrained games"):
        Options(unconstrained=True, condition="aug")


@pytest.mark.parametrize("size", [2, 5, 15])
def test_games_of_other_sizes(size: int) -> None:
    found, _ = made(contexts=1, context_size=size)
    assert {len(game.examples) for game in found} == {len(game.order) for game in found} == {size}
    assert all(len({one.annotation.whole for one in game.examples}) == size for game in found)
    assert f"of{size}" in game_spec(DATA, found[0], "part+color", Options(context_size=size))["id"].split("/")


def test_the_published_border_is_a_unit_of_the_drawing() -> None:
    """So it is wider in images of small drawings, as in the published ones."""
    game = made()[0][0]
    scales = {one.tangram: 224 / DATA.figures[one.tangram].squared()[2] for one in game.examples}
    name, scale = scales.popitem()
    frames = {
        border: {
            frame["truth"]["tangram"]: frame["objects"] for frame in game_spec(DATA, game, "part+color", look)["frames"]
        }
        for border, look in {"own": Options(border=scale), "published": Options(published_border=True)}.items()
    }
    assert frames["own"][name] == frames["published"][name]
    assert any(frames["own"][other] != frames["published"][other] for other in scales)


def test_places_of_the_target_are_even() -> None:
    found, _ = made()
    counts = [sum(game.order.index(0) == place for game in found) for place in range(SIZE)]
    assert min(counts) > 0.7 * len(found) / SIZE
    assert max(counts) < 1.3 * len(found) / SIZE


def test_games_hang_on_the_seed_alone() -> None:
    assert made(contexts=2) == made(contexts=2)
    assert made(contexts=2)[0] != made(contexts=2, seed=1)[0]
    assert made(contexts=2)[0] == [game for game in made(contexts=5)[0] if game.number < 2]


def _alike() -> Dataset:
    """Thirty tangrams of three parts, called one of ten things in three ways of writing."""
    wholes = ["bird", "old man", "castle", "rabbit", "boat", "fish", "tree", "swan", "lobster", "owl"]
    forms = ["{}", "A {}", "the {}!"]
    names = sorted(DATA.figures)[:30]
    annotations: Annotations = {
        name: (Annotation(name, 0, forms[k // 10].format(wholes[k % 10]), ("a", "b", "c", "a", "b", "c", "a")),)
        for k, name in enumerate(names)
    }
    return Dataset(DATA.figures, annotations, {"train": tuple(names)}, ())


def test_normalized_wholes_are_unlike_to_a_reader() -> None:
    raw, _ = made("all", _alike())
    assert any(same_text(a.annotation.whole, b.annotation.whole) for g in raw for a, b in combinations(g.examples, 2))
    found, left = made("all", _alike(), distinct="normalized")
    assert len(found) == 300
    assert left == {}
    for game in found:
        assert not any(same_text(a.annotation.whole, b.annotation.whole) for a, b in combinations(game.examples, 2))


def test_targets_without_distractors_are_named() -> None:
    few = dict(list(DATA.annotations.items())[:9])
    left: dict[str, list[str]] = {}
    assert list(games(few, Options(split="all"), left)) == []
    assert sum(map(len, left.values())) == 9
    same = {
        name: tuple(Annotation(name, 0, "bird", item.part) for item in items[:1])
        for name, items in DATA.annotations.items()
    }
    left = {}
    assert list(games(same, Options(split="all"), left)) == []
    assert any("called otherwise" in reason for reason in left)


def test_four_conditions_are_the_same_games() -> None:
    game = made()[0][7]
    specs = {name: game_spec(DATA, game, name, OPTIONS) for name in CONDITIONS}
    targets = [[frame["truth"]["tangram"] for frame in spec["frames"]] for spec in specs.values()]
    assert all(names == targets[0] for names in targets)
    assert len({spec["task"]["answer"] for spec in specs.values()}) == 1
    assert len({spec["id"] for spec in specs.values()}) == 4
    for name, spec in specs.items():
        said, colored = CONDITIONS[name]
        answer = next(frame for frame in spec["frames"] if frame["name"] == spec["task"]["answer"])
        assert answer["truth"]["tangram"] == spec["task"]["target"] == game.examples[0].tangram
        assert answer["utterance"] == spec["task"]["text"]
        for frame in spec["frames"]:
            truth = frame["truth"]
            assert truth["hash_text"].split("#")[0] == truth["whole"]
            assert len(truth["hash_text"].split("#")) == 1 + said * len(truth["parts"])
            assert (" with " in frame["utterance"]) >= said
            colors = {item["color"] for item in frame["objects"]}
            assert colors == ({*COLORS[: len(truth["parts"])]} if colored else {"black"})


def test_part_i_of_the_sentence_has_color_i() -> None:
    for items in DATA.annotations.values():
        example = whole_example(items[0], 0)
        colors = example.colors("part+color")
        for k, (name, pieces) in enumerate(example.parts):
            assert {colors[piece - 1] for piece in pieces} == {COLORS[k]}
            assert {items[0].part[piece - 1] for piece in pieces} == {name}
        assert sorted(piece for _, pieces in example.parts for piece in pieces) == [*PIECES]
    orders = {whole_example(items[0], seed).names[0] for seed in range(30)}
    assert len(orders) > 1


def _black(example: Example) -> int:
    return example.colors(AUG).count("black")


def test_augmented_pictures_are_all_subsets_once() -> None:
    for items in list(DATA.annotations.values())[:40]:
        example = whole_example(items[0], 0)
        found = list(subsets(example, 0))
        assert len({frozenset(one.names) for one in found}) == len(found) == 2 ** len(example.parts)
        assert [one.shown_mask for one in found] == list(range(len(found)))
        for one in found:
            shown = [one.parts[k][1] for k in one.shown]
            assert _black(one) == 7 - sum(map(len, shown))
            colors = one.colors(AUG)
            assert [{colors[piece - 1] for piece in pieces} for pieces in shown] == [{c} for c in COLORS[: len(shown)]]
            assert one.hashed(AUG) == "#".join([items[0].whole, *one.names])


def test_augmented_games_show_as_many_parts() -> None:
    found, _ = made("dev", augmented=True, contexts=1)
    for game in found:
        assert len({(len(one.parts), len(one.shown)) for one in game.examples}) == 1
    spec = game_spec(DATA, found[3], AUG, OPTIONS)
    assert spec["id"].split("/")[4] == f"{len(found[3].examples[0].shown)}of{len(found[3].examples[0].parts)}"
    assert len({game_spec(DATA, game, AUG, OPTIONS)["id"] for game in found}) == len(found)


def test_each_subset_of_a_target_has_its_games() -> None:
    three = ((name, items[:1]) for name, items in DATA.annotations.items() if items[0].parts == 3)
    few = dict(islice(three, 4))
    options = Options(condition="aug", targets="subsets", contexts=2, context_size=3)
    found = list(games(few, options, {}, augmented=True))
    assert Counter(game.examples[0].image(AUG) for game in found) == {
        f"{item.key}_{subset}": 2 for (item,) in few.values() for subset in range(8)
    }
    assert all(len({len(one.shown) for one in game.examples}) == 1 for game in found)
    specs = [game_spec(DATA, game, AUG, options) for game in found]
    assert len({spec["id"] for spec in specs}) == len(specs)
    assert specs[0]["id"].endswith("/subset-0/0")
    assert [verify_spec(spec) for spec in specs] == [""] * len(specs)
    with pytest.raises(ValidationError, match="--targets subsets is for --condition aug"):
        Options(targets="subsets")


@pytest.mark.parametrize("look", [OPTIONS, Options(size=384, border=2.5, margin=10.0, sharp=True), Options(world="3d")])
def test_specs_compile_as_they_are(look: Options) -> None:
    game = made()[0][0]
    spec = game_spec(DATA, game, "part+color", look)
    spec["frames"] = spec["frames"][:3]
    scene = compile_episode(parse_episode(json.dumps(spec)), settings_for("draft", 224, 224))
    for frame in scene.frames:
        assert [item.name for item in frame.objects] == [f"piece-{piece}" for piece in PIECES]


@pytest.mark.parametrize(("size", "margin"), [(224, 0.0), (384, 0.0), (100, 7.0)])
def test_a_figure_spans_its_longer_side_and_is_centerd(size: int, margin: float) -> None:
    annotations = {name: items[:1] for name, items in DATA.annotations.items()}
    for spec in picture_specs(
        DATA, annotations, "whole+black", Options(split="all", size=size, border=0.0, margin=margin)
    ):
        corners = [
            (x + item["location"][0], y + item["location"][1])
            for item in spec["frames"][0]["objects"]
            for x, y in item["shape"]["polygon"]
        ]
        spans = [(min(c[k] for c in corners), max(c[k] for c in corners)) for k in (0, 1)]
        longer, shorter = sorted(spans, key=lambda span: span[0] - span[1])
        assert longer == pytest.approx((margin, size - margin), abs=1e-3)
        assert sum(shorter) == pytest.approx(size, abs=1e-3)


def test_borders_are_half_a_width_on_each_side() -> None:
    annotations = {"own-010": DATA.annotations["own-010"][:1]}

    def polygons(border: float) -> list[list[list[float]]]:
        spec = next(picture_specs(DATA, annotations, "whole+black", Options(split="all", border=border)))
        return [item["shape"]["polygon"] for item in spec["frames"][0]["objects"]]

    # The square's edges get shorter by the border, whatever way it lies.
    for border in (0.5, 2.0, 6.0):
        (a, b, *_), (c, d, *_) = polygons(0.0)[0], polygons(border)[0]
        before, after = ((p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2 for p, q in ((a, b), (c, d)))
        assert before**0.5 - after**0.5 == pytest.approx(border, abs=1e-3)


def test_the_table_has_the_same_truth_and_no_piece_leaves_it() -> None:
    game = made()[0][3]
    flat, table = (game_spec(DATA, game, "part+color", look) for look in (OPTIONS, Options(world="3d")))
    assert [frame["truth"] for frame in flat["frames"]] == [frame["truth"] for frame in table["frames"]]
    assert flat["task"] == table["task"]
    for frame in EpisodeSpec.model_validate(table).frames:
        for item in frame.objects:
            assert item.location is not None
            assert max(map(abs, item.location)) <= SPAN / 2**0.5


def test_each_number_of_parts_draws_its_games_anew() -> None:
    options = Options.model_validate({"condition": "aug", "contexts": 1})
    drawn = [*games(DATA.of_split("dev"), options, {}, augmented=True)]
    targets = {game.examples[0].annotation.key for game in drawn}
    assert len({game.order for game in drawn}) > 0.9 * len(drawn) > 2 * len(targets)
    others = {tuple(example.annotation.key for example in game.examples[1:]) for game in drawn}
    assert len(others) == len(drawn)
