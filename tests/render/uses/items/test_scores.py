"""Scores: what is counted, what is refused, intervals, guessers."""

from __future__ import annotations

import json
import math
import os
import random
import resource
import zipfile
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

import diorama
from diorama.render.compiler import compile_episode
from diorama.render.compiler.looks import with_look
from diorama.render.episode.make_record import make_record
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.uses.evaluation.predictions import read_predictions
from diorama.render.uses.export.protocol import ExportOptions
from diorama.render.uses.items.scores import Entry, add_guesses, interval, read_entries, rows, table
from diorama.scene_specs.benchmarks.kilogram.examples import CONDITIONS
from diorama.scene_specs.benchmarks.mewl.audit import audit
from diorama.scene_specs.errors import StoreError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.tasks.answer_rule import LETTERS
from tests.compatibility.commands import run, run_json
from tests.factories import make_job
from tests.render.uses.items.eval_stores import episodes, eval_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LanceStore]:
    made = eval_store(tmp_path, "mewl", "malevic")
    yield made
    made.close()


def write(path: Path, replies: dict[str, str]) -> Path:
    path.write_text("".join(json.dumps({"id": name, "reply": reply}) + "\n" for name, reply in replies.items()))
    return path


def oracle(store: LanceStore) -> dict[str, str]:
    return {name: entry.answer for name, entry in read_entries(store, ExportOptions(), lambda done: None).items()}


def score(store: LanceStore, *arguments: str | Path) -> dict[tuple[str, str], Any]:
    data = run_json("render-eval", "score", *arguments, "--store", store.url)
    return {(row["by"], row["group"]): row for row in data["rows"]}


def refused(store: LanceStore, *arguments: str | Path) -> str:
    from click.testing import CliRunner

    from diorama.render.cli.eval import main

    result = CliRunner().invoke(main, ["score", *map(str, arguments), "--store", store.url])
    assert result.exit_code == 2, result.output
    return result.stderr


def test_an_oracle_and_a_model_that_errs(store: LanceStore, tmp_path: Path) -> None:
    replies = oracle(store)
    rows = score(store, write(tmp_path / "p", replies))
    assert {row["accuracy"] for row in rows.values()} == {1.0} and rows["all", ""]["items"] == 11
    wrong, invalid = sorted(name for name in replies if name.startswith("malevic"))
    replies |= {wrong: {"yes": "no", "no": "yes"}[replies[wrong]], invalid: "I can't see it"}
    rows = score(store, write(tmp_path / "p", replies))
    task = rows["task", "malevic: pos1"]
    assert (task["accuracy"], task["invalid"], task["items"], task["chance"]) == (0.0, 1, 2, 0.5)
    assert rows["task", "mewl: shape"]["accuracy"] == 1.0 and rows["all", ""]["accuracy"] == pytest.approx(9 / 11)
    assert rows["split", "val"]["items"] == 2
    assert "| task | malevic: pos1 | 2 | 0.0 |" in run("render-eval", "score", tmp_path / "p", "--store", store.url)


def test_partial_predictions_are_refused_unless_allowed(store: LanceStore, tmp_path: Path) -> None:
    replies = {name: reply for name, reply in oracle(store).items() if name.startswith("mewl")}
    file = write(tmp_path / "p", replies)
    assert "2 predictions missing, such as malevic/pos1/val/000000#0; select the episodes" in refused(store, file)
    row = score(store, file, "--allow-missing")["all", ""]
    assert (row["items"], row["missing"], row["accuracy"]) == (11, 2, pytest.approx(9 / 11))
    assert score(store, file, "--where", "benchmark = 'mewl'")["all", ""]["accuracy"] == 1.0


def test_duplicates_and_unknown_ids_are_refused(store: LanceStore, tmp_path: Path) -> None:
    replies = oracle(store)
    file = write(tmp_path / "p", replies)
    first = next(iter(replies))
    file.write_text(file.read_text() + json.dumps({"id": first, "reply": "x"}) + '\n{"id": "mewl/#0", "reply": ""}\n')
    message = refused(store, file)
    assert f"1 prediction of items that have one already, such as {first} in {file}:1 and {file}:12;" in message
    assert f"1 prediction of no item of the store, such as mewl/#0 in {file}:13" in message
    assert "11 predictions of items that have one already" in refused(store, write(file, replies), file)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"id": "a#0", "reply"', "invalid JSON"),
        ("[1]\n", "expected {"),
        ('{"id": "a#0"}\n', "expected {"),
        ('{"id": 3, "reply": "x"}\n', "expected {"),
        ("PK\x03\x04 no archive", "can't be read"),
        ("[" * 100_000, "invalid JSON"),
    ],
)
def test_wrong_files_are_refused(store: LanceStore, tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "p"
    file.write_text(text)
    message = refused(store, file)
    assert problem in message and str(file) in message


def test_files_that_are_no_logs_get_advice_of_their_own(
    store: LanceStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "not a regular file (save it to a file first)" in refused(store, tmp_path / "pipe")
    file = write(tmp_path / "p", {})
    monkeypatch.setattr(Path, "open", Mock(side_effect=PermissionError("denied")))
    assert refused(store, file).endswith("can't be read: PermissionError: denied\n")


def test_damaged_episodes_are_not_read(store: LanceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "diorama.render.store.selection.read_each",
        lambda _, ids, kind: [kind(f"episode {one}: damaged") for one in ids],
    )
    with pytest.raises(StoreError, match=r"^11 episodes not read:\n  episode mal"):
        read_entries(store, ExportOptions(), lambda done: None)


@pytest.mark.slow
def test_a_million_lines_take_no_memory(store: LanceStore, tmp_path: Path) -> None:
    """A tenth of them here; what is kept does not depend on the number."""
    file = tmp_path / "p"
    with file.open("w") as lines:
        for number in range(100_000):
            lines.write(f'{{"id": "unknown/{number}#0", "reply": "{LETTERS}"}}\n')
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "100,000 predictions of no item of the store, such as unknown/0#0" in refused(store, file)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000


def test_a_log_of_inspect_without_zstandard(store: LanceStore, tmp_path: Path) -> None:
    file = tmp_path / "log.eval"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        for name, reply in oracle(store).items():
            content: Any = reply if len(reply) % 2 else [{"type": "text", "text": reply}]
            sample = {"id": name, "epoch": 1, "output": {"choices": [{"message": {"content": content}}]}}
            archive.writestr(f"samples/{name}_epoch_1.json", json.dumps(sample))
    assert score(store, file)["all", ""]["accuracy"] == 1.0


@pytest.mark.parametrize(
    "sample", ["[1]", '{"id": "a#0", "output": ["x"]}', '{"id": "a#0", "output": {"choices": [{}]}}', "[" * 100_000]
)
def test_a_log_of_another_form_is_refused(store: LanceStore, tmp_path: Path, sample: str) -> None:
    file = tmp_path / "log.eval"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("samples/1.json", sample)
    message = refused(store, file)
    assert "can't be read" in message and str(file) in message


def test_an_error_of_inspect_is_no_reply(tmp_path: Path) -> None:
    file = tmp_path / "log.eval"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("samples/1.json", '{"id": "a#0", "error": {"message": "limit"}, "output": {}}')
        archive.writestr("samples/2.json", '{"id": "b#0", "output": {"choices": [{"message": {"content": null}}]}}')
    assert [(one.id, one.reply) for one in read_predictions(file)] == [("b#0", "")]


def entry(answer: str, episode: int, key: str = "", **rules: tuple[str, ...]) -> Entry:
    return Entry("t", str(episode), {}, ("a", "b", "c"), False, answer, key, rules)


def shares(entries: list[Entry]) -> tuple[float | None, ...]:
    """What the two guessers get in the row of all."""
    add_guesses(entries)
    row = rows(entries)[0]
    return row["blind"], row["text"]


def test_guessers_learn_from_other_episodes() -> None:
    big = [entry("ab"[k % 3 == 0], k, "big") for k in range(150)]
    small = [entry("c", k, "small") for k in range(150)]
    blind, text = shares(big + small)
    assert blind == 0.5 and text == pytest.approx((100 + 150) / 300)
    # Answers that nothing predicts, and a key of its own for each: who learns from the same items is always right.
    rng = random.Random(4)
    noise = [entry(rng.choice("abc"), k, str(k)) for k in range(600)]
    blind, text = shares(noise)
    assert blind is not None and text is not None and max(blind, text) < 0.38
    # All items of an episode are held out together.
    together = [entry("abc"[k // 40 % 3], k // 40, str(k // 40)) for k in range(240)]
    assert max(value or 0 for value in shares(together)) < 0.5
    assert shares([entry("a", k) for k in range(99)]) == (None, None)
    assert shares([entry("a", k) for k in range(100)]) == (1.0, 1.0)
    ruled = [entry("a", k, rule=("a", "b")) if k % 2 else entry("c", k, rule=("c",)) for k in range(200)]
    assert shares(ruled)[1] == 0.75


def test_rows_say_how_sure_the_guessers_are() -> None:
    entries = [entry("ab"[k % 4 == 0], k) for k in range(400)]
    add_guesses(entries)
    row = rows(entries)[0]
    assert (row["text_low"], row["text"], row["text_high"]) == pytest.approx((0.705, 0.75, 0.79), abs=0.002)
    assert "| 75.0 (70.5-79.0) |" in table([row]) and "| - | - |" in table(rows([entry("a", 1)]))


def test_intervals_cover_what_they_claim() -> None:
    """Items of one episode that are right or wrong together count as one."""
    rng = np.random.default_rng(1)
    covered = {1: 0, 4: 0}
    for size in covered:
        for _ in range(400):
            right = np.repeat(rng.random(200 // size) < 0.7, size)
            low, high = interval([float(one) for one in right], [str(k // size) for k in range(200)])
            covered[size] += low <= 0.7 <= high
    assert all(370 <= count <= 396 for count in covered.values()), covered
    # As many right in each episode, whatever their mean is rounded to: the number of episodes counts.
    for size in (3, 4, 5):
        found = interval(([1.0] + [0.0] * (size - 1)) * 60, [str(k // size) for k in range(60 * size)])
        assert found == pytest.approx(
            interval(([1.0] + [0.0] * (size - 1)) * (60 // size), [str(k) for k in range(60)])
        )
    low, high = interval([1.0] * 20, [str(k) for k in range(20)])
    assert high == 1.0 and low == pytest.approx(0.839, abs=0.001)  # Wilson's 95 % interval of 20 out of 20
    assert not math.isnan(interval([0.0], ["a"])[1])


def test_rules_get_what_the_report_of_mewl_says(tmp_path: Path) -> None:
    records = episodes("mewl", 18)
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    store.put(records)
    entries = [*read_entries(store, ExportOptions(), lambda done: None).values()]
    store.close()
    specs: list[Any] = [record.job.spec for record in records]
    for row in audit(specs):
        group = [one for one in entries if one.task == f"mewl: {row['task']}"]
        found: dict[str, float] = {}
        for rule in group[0].rules:
            share = sum((one.answer in one.rules[rule]) / len(one.rules[rule]) for one in group) / len(group)
            found[rule[:-2]] = max(share, found.get(rule[:-2], 0.0))
        assert found == pytest.approx({name: row["guessers"][name] for name in found}) and len(found) == 4


@pytest.mark.slow
def test_questions_about_any_images_are_items(tmp_path: Path) -> None:
    """They are the same in exports and scores; an oracle is always right, a random player as often as chance."""
    store = eval_store(tmp_path, "clevr", "mewl", episodes_each=4)
    folder, asked = tmp_path / "out", ("--questions", "12")
    run("render-export", store.url, "--format", "eval", "--out", folder, *asked)
    items = [json.loads(line) for line in (folder / "questions/items.jsonl").read_text().splitlines()]
    assert len({item["id"] for item in items}) == len(items) > 80
    assert {item["episode"].partition("/")[0] for item in items} == {"clevr", "mewl"}
    assert (folder / items[0]["parts"][0]["image"]).exists() and (folder / "diorama_questions.yaml").exists()
    rows = score(store, write(tmp_path / "p", {item["id"]: item["label"] for item in items}), *asked)
    assert {row["accuracy"] for row in rows.values()} == {1.0} and rows["all", ""]["items"] == len(items)
    assert rows["task", "questions: exist"]["chance"] == 0.5
    rng = random.Random(3)
    replies = {item["id"]: rng.choice(item["options"]) for item in items}
    row = score(store, write(tmp_path / "p", replies), *asked)["all", ""]
    assert row["low"] < row["chance"] < row["high"]
    run("render-export", store.url, "--out", tmp_path / "folder", *asked, exit_codes=(2,))
    # Other episodes, other questions: their replies are not taken for each other's.
    assert "of no item of the store" in refused(store, tmp_path / "p", *asked, "--where", "benchmark = 'mewl'")
    none = ("--where", "benchmark = 'kilogram'")
    assert refused(store, tmp_path / "p", *asked, *none).endswith("check STORE, --split and --where\n")
    assert refused(store, tmp_path / "p", *none).endswith("or pass --questions N\n")
    store.close()


def test_a_pair_is_right_if_both_of_its_items_are() -> None:
    def item(pair: str, answer: str, reply: str | None) -> Entry:
        groups = {"change": "size"}
        return Entry("t", pair, groups, ("yes", "no"), False, answer, "", {}, reply, pair=pair, chance=0.5)

    entries = [
        *(item("both", answer, answer) for answer in ("yes", "no")),
        *(item("blind", answer, "yes") for answer in ("yes", "no")),
        *(item("held", "yes", reply) for reply in ("yes", "")),
        item("alone", "yes", "yes"),
    ]
    found = {row["group"]: row for row in rows(entries) if row["by"] == "all of a pair"}
    assert {name: (row["items"], row["accuracy"], row["chance"]) for name, row in found.items()} == {
        "": (3, 1 / 3, 0.25),
        "t": (3, 1 / 3, 0.25),
        "change: size": (3, 1 / 3, 0.25),
        "answers: flip": (2, 0.5, 0.25),
        "answers: stay": (1, 0.0, 0.25),
    }
    assert found[""]["invalid"] == 1


def test_a_look_is_compared_with_plain_item_by_item() -> None:
    looks = [
        ("plain", "1"),
        ("wood", "1"),
        ("plain", "2"),
        ("wood", "2"),
        ("plain", "3"),
        ("tiles", "3"),
        ("wood", "9"),
    ]
    replies = ["a", "b", "a", "a", "b", "a", "a"]
    entries = [
        Entry("t", f"e{number}+{look}", {"look": look}, ("a", "b"), False, "a", "", {}, reply, source=f"e{number}#0")
        for (look, number), reply in zip(looks, replies, strict=True)
    ]
    found = {(row["by"], row["group"]): row for row in rows(entries)}
    assert found["look", "wood"]["items"] == 3
    wood = found["minus plain", "wood"]
    assert (wood["items"], wood["accuracy"]) == (2, -0.5)
    # Differences of -1 and 0 have the standard error 0.5.
    assert (wood["low"], wood["high"]) == pytest.approx((-0.5 - 1.959964 * 0.5, -0.5 + 1.959964 * 0.5))
    assert found["minus plain", "tiles"]["accuracy"] == 1.0
    assert ("minus plain", "plain") not in found


def test_all_looks_of_an_episode_are_asked_the_same(tmp_path: Path) -> None:
    made = LanceStore.create(str(tmp_path / "looks.lance"), fsync=False)
    settings = settings_for("draft", 96, 72)
    for record in episodes("clevr", 3):
        scenes = [with_look(record.scene, look, words=False) for look in ("plain", "wood", "tiles")]
        named = [
            one.model_copy(update={"id": f"{one.id}+{look}"})
            for one, look in zip(scenes, ("plain", "wood", "tiles"), strict=True)
        ]
        made.put([make_record(FakeRenderer(), one, make_job(json.loads(one.to_json())), settings) for one in named])
    entries = read_entries(made, ExportOptions(questions=5), lambda done: None)
    made.close()
    # Guessers don't learn from one look about another, and intervals count an episode once.
    assert {entry.episode for entry in entries.values()} == {record.episode_id for record in episodes("clevr", 3)}
    asked: dict[str, set[tuple[str, str, str]]] = {}
    for name, entry in entries.items():
        look = entry.groups["look"]
        asked.setdefault(look, set()).add((name.replace(f"+{look}#", "#"), entry.key, entry.answer))
    assert asked["plain"] == asked["wood"] == asked["tiles"] and len(asked["plain"]) >= 12
    for entry in entries.values():
        entry.reply = entry.answer
    differences = [row for row in rows(entries.values()) if row["by"] == "minus plain"]
    assert {row["group"]: (row["items"], row["accuracy"], row["low"]) for row in differences} == {
        "wood": (len(asked["plain"]), 0.0, 0.0), "tiles": (len(asked["plain"]), 0.0, 0.0),
    }  # fmt: skip


def test_a_game_in_four_conditions_is_held_out_as_one(tmp_path: Path) -> None:
    """Its target is in the same place, which would tell a guesser the answer."""
    store = eval_store(tmp_path, "kilogram", episodes_each=8)
    entries = read_entries(store, ExportOptions(), lambda done: None)
    assert {entry.groups["condition"] for entry in entries.values()} == {*CONDITIONS}
    assert Counter(entry.episode for entry in entries.values()) == {
        name.replace("/whole+black/", "/").partition("#")[0]: 8 for name in entries if "/whole+black/" in name
    }
    answers = {(entry.episode, entry.answer) for entry in entries.values() if entry.task.endswith("to image")}
    assert len(answers) == 2


def test_a_game_is_held_out_as_one_in_all_looks_and_with_all_numbers_of_parts(tmp_path: Path) -> None:
    made, settings = LanceStore.create(str(tmp_path / "games.lance"), fsync=False), settings_for("draft", 32, 24)
    specs = diorama.generate("kilogram", condition="aug", contexts=1, world="3d")
    scenes = [compile_episode(EpisodeSpec.model_validate(spec), settings) for spec in islice(specs, 3)]
    looked = [(look, with_look(scene, look, words=False)) for scene in scenes for look in ("plain", "wood")]
    named = [scene.model_copy(update={"id": f"{scene.id}+{look}"}) for look, scene in looked]
    made.put([make_record(FakeRenderer(), one, make_job(json.loads(one.to_json())), settings) for one in named])
    entries = read_entries(made, ExportOptions(), lambda done: None).values()
    made.close()
    assert {entry.groups["shown_parts"] for entry in entries} >= {"0", "1"}
    assert len({entry.episode for entry in entries}) == 1
