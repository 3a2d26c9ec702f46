"""`render-specs icca` from contexts to scores, as its user meets it; pictures by the renderer that needs no Blender."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result
from PIL import Image

from diorama.render.cli.specs import main
from diorama.render.episode.make_record import make_record
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.store.lance.lance_store import LanceStore
from diorama.scene_specs.benchmarks.icca.game import Game
from diorama.scene_specs.benchmarks.icca.game_folders import read_game
from diorama.scene_specs.benchmarks.icca.play import ListenerView, Setup
from diorama.scene_specs.errors import StoreError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.spec import EpisodeSpec
from tests import factories
from tests.scene_specs.benchmarks.icca.pieces import context_spec

CONTEXTS = (
    ("clevr", "", 0),
    ("clevr", "relations", 1),
    ("shapenet", "", 0),
    ("flat", "relations", 0),
    ("tangram", "", 0),
)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["icca", *map(str, arguments)], catch_exceptions=False)


def check(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["check", "--prove", *map(str, arguments)], catch_exceptions=False)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of rendered contexts, and games of them."""
    folder = tmp_path_factory.mktemp("icca")
    store = LanceStore.create(str(folder / "s.lance"), fsync=False)
    for source, vary, number in CONTEXTS:
        spec = context_spec(number, "hard", source, vary)
        job = factories.make_job(spec)
        record = make_record(FakeRenderer(), EpisodeSpec.model_validate(spec), job, settings_for("draft", 64, 48))
        store.put([record])
    store.close()
    made = run("games", folder / "s.lance", "--count", 7, "--seed", 3, "--out", folder / "games")
    assert (made.exit_code, made.output.splitlines()[-1]) == (0, f"7 games in {folder / 'games'}")
    return folder


def test_contexts(tmp_path: Path) -> None:
    file = tmp_path / "c.jsonl"
    made = run("--contexts", 3, "--difficulty", "medium", "--source", "shapenet", "--seed", 2, "--out", file)
    assert made.exit_code == 0
    assert [json.loads(line) for line in file.read_text().splitlines()] == [
        context_spec(k, "medium", "shapenet", seed=2) for k in range(3)
    ]
    assert "| shapenet | attributes | medium | 3 |" in run("similarity", file).output
    assert json.loads(run("similarity", file, "--json").output)[0]["differences"] == {"2": 18}
    assert check(file).output == "3 episodes, no errors, all proved\n"
    spec = json.loads(file.read_text().splitlines()[0])
    spec["task"]["descriptions"].reverse()
    file.write_text(json.dumps(spec))
    assert check(file).exit_code == 2


def test_truth_is_measured(base: Path) -> None:
    assert check("--store", base / "s.lance").output == f"{len(CONTEXTS)} episodes, no errors, all proved\n"


def test_games(base: Path) -> None:
    folders = sorted((base / "games").iterdir())
    assert [folder.name[:3] for folder in folders] == ["001", "001", "002", "002", "003", "004", "005"]
    games = [read_game(folder) for folder in folders]
    assert games[0].images == games[1].images
    assert games[0].targets != games[1].targets
    assert all(len(one.pictures) == 4 for one in games)
    truth = json.loads((folders[0] / "game.json").read_text())
    assert truth["images"][games[0].images[0]]["image"] == "image-0"
    # Contexts are numbered by their ids, which sort so.
    spec = context_spec(1, "hard", "clevr", "relations")
    assert truth["episode"] == spec["id"]
    shown = [truth["images"][name]["picture"] for name in games[0].images]
    assert shown == [frame["truth"]["picture"] for frame in spec["frames"]]


def test_the_same_seed_makes_the_same_bytes(base: Path, tmp_path: Path) -> None:
    run("games", base / "s.lance", "--count", 7, "--seed", 3, "--out", tmp_path / "g")

    def content(folder: Path) -> dict[str, bytes]:
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    assert content(tmp_path / "g") == content(base / "games")
    again = run("games", base / "s.lance", "--out", tmp_path / "g")
    assert (again.exit_code, "is not an empty folder" in again.output) == (2, True)


def test_of_what_is_not_proved_no_game_is_made(base: Path, tmp_path: Path) -> None:
    with closing(LanceStore.create(str(tmp_path / "s.lance"), fsync=False)) as store:
        for number in range(3):
            spec = context_spec(number, "hard", "clevr")
            if number:
                spec["task"]["descriptions"].reverse()
            job = factories.make_job(spec)
            made = make_record(FakeRenderer(), EpisodeSpec.model_validate(spec), job, settings_for("draft", 64, 48))
            store.put([made])
    found = run("games", tmp_path / "s.lance", "--out", tmp_path / "g")
    assert (found.exit_code, found.output.count("is not true of it")) == (2, 2)
    assert [*(tmp_path / "g").iterdir()] == []
    assert run("games", tmp_path / "s.lance", "--count", 1, "--out", tmp_path / "g").exit_code == 0


def test_of_a_damaged_store_no_game_is_made(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise StoreError("icca/x: its images are damaged")

    monkeypatch.setattr(LanceStore, "get_many", broken)
    monkeypatch.setattr(LanceStore, "get", broken)
    found = run("games", base / "s.lance", "--out", tmp_path / "g")
    assert (found.exit_code, "icca/x: its images are damaged; `render-specs check" in found.output) == (2, True)
    assert [*(tmp_path / "g").iterdir()] == []


@pytest.mark.alike
@pytest.mark.parametrize("variant", [f"L{k}" for k in range(1, 8)])
def test_every_variant_is_played(base: Path, tmp_path: Path, variant: str) -> None:
    file = tmp_path / "t.jsonl"
    arguments = ["play", base / "games", "--speaker", "scripted", "--listener", "learner", "--variant", variant]
    assert run(*arguments, "--out", file).exit_code == 0
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(rows) == 7 * 25
    assert run(*arguments).output == file.read_text()
    assert {row["listener_variant"] for row in rows if "game" in row} == {variant}


def test_play_score_replay(base: Path, tmp_path: Path) -> None:
    file, folders = tmp_path / "t.jsonl", tmp_path / "played"
    run("play", base / "games", "--speaker", "steady", "--listener", "literal", "--out", file, "--folders", folders)
    text = run("score", file, "--plot", tmp_path / "p.svg").output
    refused = run("score", file, "--plot", tmp_path)
    assert (refused.exit_code, f"--plot {tmp_path}: is a folder" in refused.output) == (2, True)
    assert "| steady S1 - literal L3 | accuracy | 7 | 100.0 (100-100) % |" in text
    assert ElementTree.parse(tmp_path / "p.svg").getroot().tag.endswith("svg")
    data = json.loads(run("score", file, "--json", "--computation", "published").output)
    assert (data["computation"], data["content_words"]) == ("published", "diorama-2")
    # The folders have the same messages and answers, in the published layout.
    recorded = run("score", folders).output
    assert recorded.replace("recorded", "steady S1 - literal L3").splitlines()[2:4] == text.splitlines()[2:4]
    again = run("play", folders, "--speaker", "recorded", "--listener", f"replay:{file}").output
    said = [json.loads(line).get("message") for line in file.read_text().splitlines()]
    assert [json.loads(line).get("message") for line in again.splitlines()] == said


class Failing:
    """A player of somebody's that fails in the third game."""

    games = 0

    def __init__(self, one: Game, settings: Setup) -> None:
        Failing.games += 1

    def choose(self, view: ListenerView) -> str:
        if Failing.games == 3:
            raise ConnectionError("no answer")
        return "A"


def test_what_was_played_before_a_failure_is_kept(
    base: Path, tmp_path: Path, add_entry_points: Callable[..., None]
) -> None:
    add_entry_points("diorama.icca.listeners", failing=f"{__name__}:Failing")
    file = tmp_path / "t.jsonl"
    arguments = ["play", base / "games", "--speaker", "steady", "--listener", "failing", "--out", file]
    failed = run(*arguments)
    assert failed.exit_code == 1
    assert "trial 0: the listener failed: ConnectionError('no answer')" in failed.output
    assert "2 of 7 games are in" in failed.output
    first = file.read_text().splitlines()
    assert len(first) == 2 * 25
    other = run(*arguments, "--resume", "--variant", "L1")
    assert (other.exit_code, "another listener_variant, variant" in other.output) == (2, True)
    assert run(*arguments, "--resume").exit_code == 0
    whole = file.read_text().splitlines()
    assert len(whole) == 7 * 25
    assert whole[:50] == first
    assert Failing.games == 8


def test_prompts(base: Path, tmp_path: Path) -> None:
    game = sorted((base / "games").iterdir())[0]
    text = run("prompt", game, "--trial", 1, "--variant", "L1").output
    assert text.count("[image ") == 8
    parts = json.loads(run("prompt", game, "--trial", 20, "--variant", "L7", "--form", "collage", "--json",
                           "--images", tmp_path / "i").output)  # fmt: skip
    assert sum("collage" in part for part in parts) == 2
    assert sorted(path.name for path in (tmp_path / "i").iterdir()) == ["000.png", "001.png"]
    with Image.open(tmp_path / "i" / "001.png") as picture:
        assert picture.size == (2 * 64 + 2, 2 * 48 + 2)
    speaker = run("prompt", game, "--role", "speaker", "--speaker-variant", "S4", "--trial", 2).output
    assert (speaker.count("assistant: "), speaker.count("The target is")) == (2, 3)


def test_variants() -> None:
    text = run("variants").output
    assert "images per prompt: 4 in trial 0, 4 in 19, 20 in 23" in text
    listed = json.loads(run("variants", "--json", "--form", "collage").output)
    assert [one["images"][23] for one in listed["listener"]] == [24, 1, 1, 24, 1, 1, 5]


@pytest.mark.alike
@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ("", "give --contexts N"),
        ("--contexts 1 variants", "--contexts: for `icca` without a subcommand"),
        ("--seed 3 --difficulty easy score GAMES", "--seed, --difficulty: for `icca` without a subcommand"),
        ("prompt GAMES", "found 7 games; name the folder of one, such as"),
        ("prompt GAME --images FILE/x", "can't be written: Not a directory"),
        ("prompt GAME --images FILE", "already exists and is not an empty folder"),
        ("play GAMES --speaker steady --listener oracle --variant L3 --variant-file FILE", "not both"),
        ("play GAMES --speaker steady --listener oracle --variant-file FILE", "invalid JSON"),
        ("games STORE --out FILE/x", "can't be written"),
        ("--contexts 1 --source shapenet --vary relations", "can't differ in 'relations'"),
        ("--contexts 1 --first 1000000", "numbered from 0 to 999999"),
        (
            "play GAMES --speaker mute --listener oracle",
            "found speaker 'mute'; allowed: recorded, restless, scripted, steady, replay:FILE",
        ),
        ("play GAMES --speaker steady --listener oracle --variant L9", "'L9' is not one of"),
        ("play GAMES --speaker steady --listener oracle --variant L1 --max-images 20", "allowed: 20"),
        ("play GAMES --speaker recorded --listener oracle", "no messages are recorded"),
        ("play GAMES --speaker replay:nothing --listener oracle", "can't be read: No such file"),
        ("play nothing --speaker steady --listener oracle", "no such folder"),
        ("score GAME", "/games/001_96597ed090f2: game '001_96597ed090f2': was not played yet"),
        ("games nothing --out OUT", "nothing"),
    ],
)
def test_wrong_calls(base: Path, tmp_path: Path, arguments: str, problem: str) -> None:
    names = {"GAMES": str(base / "games"), "OUT": str(tmp_path / "out"), "STORE": str(base / "s.lance")}
    names["GAME"] = str(sorted((base / "games").iterdir())[0])
    (tmp_path / "file").write_text("[")
    out = tmp_path / "t.jsonl"
    given = [names.get(word, word.replace("FILE", str(tmp_path / "file"))) for word in arguments.split()]
    found = run(*given, *(["--out", out] if "play" in given else []))
    assert found.exit_code in (2, 4)
    assert problem in found.output
    # What is wrong is an option or a game, which has a folder.
    assert "spec:" not in found.output
    assert not out.exists()
