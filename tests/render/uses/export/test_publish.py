"""Exports that describe themselves: what is written, what is asked for, and how other programs read it."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import diorama
from diorama.render.cli.export import main as export
from diorama.render.episode.make_record import make_record
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.store import open_store
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.uses.export import dataset_facts
from diorama.render.uses.export.about import TEMPLATE, read_about
from diorama.render.uses.export.publish import citation_cff
from diorama.render.uses.items.stress import Case, Finding
from diorama.scene_specs.asset_roots import package_assets
from diorama.scene_specs.errors import SpecError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.record import EpisodeRecord, ImageRecord
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.shapes.shapenet import load_model
from tests.factories import make_job
from tests.render.store.rendered import rendered
from tests.render.uses.export.helpers import make_store
from tests.render.uses.items.eval_stores import eval_store

READER = Path(__file__).resolve().parents[3] / "harness/read_croissant.py"
ABOUT = """
name = "Words and shapes"
description = "Pictures for tests."
version = "1.2.3"
license = "CC-BY-4.0"
url = "https://example.org/words"
date_published = 2026-11-22
use_cases = "Tests."
social_impact = "None is known."
keywords = ["word learning"]
[[creators]]
given_names = "Ada"
family_names = "Müller"
orcid = "https://orcid.org/0000-0000-0000-0000"
[[creators]]
name = "Institute | of <tests>"
"""
RAI = (
    "rai:hasSyntheticData", "prov:wasGeneratedBy", "prov:wasDerivedFrom", "rai:dataLimitations", "rai:dataBiases",
    "rai:dataUseCases", "rai:dataSocialImpact", "rai:personalSensitiveInformation",
)  # fmt: skip


def call(*arguments: str | Path, code: int = 0) -> str:
    done = CliRunner().invoke(export, [*map(str, arguments)])
    assert done.exit_code == code, done.output
    return done.output


@pytest.fixture
def about(tmp_path: Path) -> Path:
    path = tmp_path / "about.toml"
    path.write_text(ABOUT)
    return path


def test_what_is_written(tmp_path: Path, about: Path) -> None:
    url = eval_store(tmp_path, "mewl", "kilogram").url
    out = tmp_path / "out"
    call(url, "--format", "huggingface", "--out", out, "--about", about)
    card = (out / "README.md").read_text()
    assert card.startswith('---\npretty_name: "Words and shapes"\nlicense: "cc-by-4.0"\n')
    assert "11 episodes, 83 images." in card and "| mewl: shape | 1 | 20.0 | - | - |" in card
    assert "11 of 11 episodes are rendered by `fake`" in card and "author = {Ada Müller and Institute" in card
    described = json.loads((out / "croissant.json").read_text())
    assert all(described[name] for name in RAI)
    shards = {one["@id"]: one["sha256"] for one in described["distribution"] if one["@type"] == "cr:FileObject"}
    assert shards == {
        str(path.relative_to(out)): hashlib.sha256(path.read_bytes()).hexdigest() for path in out.glob("data/*")
    }
    provenance = json.loads((out / "provenance.json").read_text())
    assert provenance["counts"]["split"] == {"dev": 2, "test": 9} and provenance["seeds"] == [0]
    assert all(one["license"] == "MIT (comes with Diorama)" for one in provenance["assets"].values())
    assert (out / "samples.png").read_bytes().startswith(b"\x89PNG")
    assert "licensed under CC-BY-4.0: https://spdx.org/licenses/CC-BY-4.0.html" in (out / "LICENSE").read_text()
    assert 'authors: [{"family-names": "Müller", "given-names": "Ada", "orcid"' in (out / "CITATION.cff").read_text()
    assert "Use cases: Tests.\n" in card and "Social impact: None is known.\n" in card
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    text = call(url, "--format", "huggingface", "--out", out, "--about", about)
    assert "skipped 11 already there\nwrote README.md, croissant.json" in text
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_shortcuts_of_learners_are_described(tmp_path: Path, about: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = list[Case]()

    def stress(cases: list[Case]) -> list[Finding]:
        given.extend(cases)
        return [
            Finding("mewl: shape", "text", 120, 0.4, 0.3, 0.5, 0.2, 1e-6, {}, shortcut) for shortcut in (True, False)
        ]

    monkeypatch.setattr(dataset_facts, "stress", stress)
    url = eval_store(tmp_path, "mewl").url
    call(url, "--format", "huggingface", "--out", tmp_path / "out", "--about", about)
    assert len(given) == 9
    assert "| mewl: shape | text | 120 | 40.0 | 30.0-50.0 | 20.0 | yes |" in (tmp_path / "out/README.md").read_text()
    biases = json.loads((tmp_path / "out/croissant.json").read_text())["rai:dataBiases"]
    assert "Learners that never see an image are right more often than chance in: mewl: shape, by text." in biases


def test_sources_that_are_one_text_are_refused(tmp_path: Path, about: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset_facts, "_sources_of", lambda name: lambda task: "a corpus")
    url = eval_store(tmp_path, "clevr").url
    message = call(url, "--out", tmp_path / "out", "--about", about, code=2)
    assert "benchmark 'clevr' of diorama-render: `sources` returned the text 'a corpus'; expected a list" in message


def test_the_objects_are_described(tmp_path: Path, about: Path) -> None:
    url = eval_store(tmp_path, "clevr", episodes_each=9).url
    call(url, "--format", "webdataset", "--out", tmp_path / "out", "--about", about)
    card = (tmp_path / "out/README.md").read_text()
    assert 'task_categories: ["object-detection", "image-segmentation"]' in card
    assert "visible objects in 9 images: shape " in card and "| Who funded it? | not stated |" in card
    assert any(
        text.startswith("Centers of boxes")
        for text in json.loads((tmp_path / "out/croissant.json").read_text())["rai:dataBiases"]
    )
    call(url, "--format", "webdataset", "--out", tmp_path / "asked", "--about", about, "--questions", "3")
    assert 'task_categories: ["visual-question-answering", "obj' in (tmp_path / "asked/README.md").read_text()


def test_strict_asks_for_answers(tmp_path: Path, about: Path) -> None:
    url, out = eval_store(tmp_path, "clevr").url, tmp_path / "out"
    about.write_text(ABOUT.replace("[[creators]]", 'funding = "TODO: ask"\nhosting = "The hub."\n[[creators]]', 1))
    message = call(url, "--out", out, "--about", about, "--strict", code=2)
    for name in ("limitations", "contact", "maintenance"):
        assert f"{name}: fill in this value; --strict asks for it" in message
    assert "social_impact: found 'None is known.'; expected an answer" in message
    assert "funding: found 'TODO: ask'" in message and "hosting" not in message and not out.exists()
    answers = {
        "limitations": "Few shapes.",
        "contact": "a@b.org",
        "maintenance": "Ada corrects errors.",
        "funding": "Nobody paid.",
    }
    more = "".join(f'{name} = "{text}"\n' for name, text in answers.items()) + 'hosting = "The hub."\n'
    text = ABOUT.replace("[[creators]]", f"{more}[[creators]]", 1)
    about.write_text(text.replace("None is known.", "It costs power."))
    call(url, "--out", out, "--about", about, "--strict")
    assert "| Who can be asked? | a@b.org |" in (out / "README.md").read_text()
    plan = json.loads((out / "croissant.json").read_text())["rai:dataReleaseMaintenancePlan"]
    assert plan == "Ada corrects errors. The hub. a@b.org"
    assert "pass --about, too" in call(url, "--out", out, "--strict", code=2)


def test_a_benchmark_without_items_is_described(tmp_path: Path, about: Path) -> None:
    spec = dict(next(iter(diorama.generate("kilogram", pictures=True))))
    settings = settings_for("draft", 32, 24)
    made = make_record(FakeRenderer(), EpisodeSpec.model_validate(spec), make_job(spec), settings)
    store = LanceStore.create(str(tmp_path / "pictures.lance"), fsync=False)
    store.put([made])
    out = tmp_path / "out"
    call(store.url, "--format", "huggingface", "--out", out, "--about", about)
    assert (
        "Guessers without images were not measured: some episodes have no evaluation items."
        in (out / "README.md").read_text()
    )


def test_an_episode_whose_items_cannot_be_made_is_described(tmp_path: Path, about: Path) -> None:
    store = LanceStore.open(eval_store(tmp_path, "mewl").url)
    record = store.get(min(key for key, _ in store.ids()))
    task = {"benchmark": "mewl", "name": "shape", "options": 7}
    store.replace([record.model_copy(update={"scene": record.scene.model_copy(update={"task": task})})])
    text = call(store.url, "--format", "huggingface", "--out", tmp_path / "out", "--about", about)
    assert "wrote README.md" in text
    assert (
        "Guessers without images were not measured: some episodes have no evaluation items."
        in (tmp_path / "out/README.md").read_text()
    )


def test_terms_of_others_are_named(tmp_path: Path, about: Path) -> None:
    store = make_store(tmp_path)
    foreign = {"shapenet:02691156/ffff": "0", "blend:own/mug.blend": "1"}
    record = store.get("demo/a")
    spec = {**record.job.spec, "task": {"benchmark": "kilogram", "target": "page1-12"}}
    record = record.model_copy(update={"job": record.job.model_copy(update={"assets": foreign, "spec": spec})})
    imported = store.get("demo/b")
    spec = {**imported.job.spec, "task": {"benchmark": "clevr", "image_index": 3}}
    imported = imported.model_copy(update={"job": imported.job.model_copy(update={"spec": spec})})
    store.replace([record, imported])
    trial = {"version": 1, "id": "iwisdm/published/low-trials/1", "frames": [{}], "task": {"benchmark": "iwisdm"}}
    settings = settings_for("draft", 32, 24)
    store.put([make_record(FakeRenderer(), EpisodeSpec.model_validate(trial), make_job(trial), settings)])
    out = tmp_path / "out"
    text = call(store.url, "--out", out, "--about", about)
    assert "license of blend:own/mug.blend: not stated: add it to [asset_licenses] in about.toml" in text
    terms = (out / "LICENSE").read_text()
    assert "1 asset: ShapeNet's terms of use" in terms and "1 asset: not stated" in terms
    assert "- KiloGram (Ji et al., EMNLP 2022)" in terms and "- published scenes of clevr, imported" in terms
    assert "- published scenes of iwisdm, imported" in terms
    about.write_text(ABOUT + '[asset_licenses]\n"blend:own/mug.blend" = "CC0-1.0"\n')
    assert "not stated" not in call(store.url, "--out", out, "--about", about)
    assert "1 asset: CC0-1.0" in (out / "LICENSE").read_text()


def test_licenses_belong_to_contents(tmp_path: Path, about: Path) -> None:
    store = make_store(tmp_path)
    checker = package_assets() / "materials/checker.blend"
    chair = min((package_assets() / "shapenet_mini/03001627").glob("*/models/*.obj"))
    name = chair.relative_to(package_assets()).as_posix()
    model = f"shapenet:03001627/{chair.parts[-3]}"
    own = {f"model:{name}": load_model(f"model:{name}").sha256, model: load_model(model).sha256}
    # What Diorama makes from a name has no file.
    own |= {"mesh:person:30/-10": "1", "mesh:invented:blob/7?stretch=0.5": "2"}
    own["blend:materials/checker.blend"] = hashlib.sha256(checker.read_bytes()).hexdigest()
    other = {**dict.fromkeys(own, "0"), "mesh:invented:acme/7": "3"}
    jobs = {"demo/a": own, "demo/b": other, "demo/c": own}
    records = [store.get(key) for key in jobs]
    store.replace(
        [one.model_copy(update={"job": one.job.model_copy(update={"assets": jobs[one.episode_id]})}) for one in records]
    )
    mixed = call(store.url, "--out", tmp_path / "out", "--about", about)
    assert "license of blend:materials/checker.blend: not stated" in mixed and f"model:{name}: not stated" in mixed
    assert "license of mesh:invented:acme/7: not stated" in mixed and "license of mesh:invented:blob" not in mixed
    assert "ShapeNet's terms of use" in (tmp_path / "out/LICENSE").read_text()
    text = call(store.url, "--out", tmp_path / "two", "--about", about, "--where", "episode_id IN ('demo/a', 'demo/c')")
    assert "not stated" not in text and "under terms of their own" not in (tmp_path / "two/LICENSE").read_text()


def test_files_of_the_user_stay(tmp_path: Path, about: Path) -> None:
    url = make_store(tmp_path).url
    out = tmp_path / "out"
    export = (url, "--format", "huggingface", "--out", out)
    out.mkdir()
    (out / "README.md").write_text("mine")
    # That of an export says what it is made of.
    (out / "provenance.json").write_text('{"seeds": []}')
    assert "README.md was not written by Diorama for this store" in call(*export, code=2)
    assert not (out / "data").exists() and (out / "README.md").read_text() == "mine"
    assert "provenance.json was not written by Diorama" in call(*export, "--about", about, code=2)
    (out / "provenance.json").unlink()
    assert "README.md was not written by Diorama" in call(*export, "--about", about, code=2)
    call(*export, "--overwrite")
    (out / "LICENSE").write_text("mine")
    assert "LICENSE was not written by Diorama" in call(*export, "--about", about, code=2)
    (out / "LICENSE").unlink()
    call(*export, "--about", about)
    card = (out / "README.md").read_bytes()
    assert "are kept; update them with --about" in call(*export, "--limit", "4", "--overwrite")
    assert (out / "README.md").read_bytes() == card
    call(*export, "--limit", "4", "--about", about)
    assert (out / "README.md").read_bytes() != card


def test_other_episodes_of_a_folder_are_not_published(tmp_path: Path, about: Path) -> None:
    url = make_store(tmp_path).url
    call(url, "--out", tmp_path / "out")
    text = call(url, "--out", tmp_path / "out", "--about", about, "--limit", "3", code=2)
    assert "also has 2 episodes that this export has not, such as demo/d" in text
    call(url, "--out", tmp_path / "out", "--about", about)


def test_what_is_removed_is_told_beside_a_card_that_is_kept(tmp_path: Path, about: Path) -> None:
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    store.put([rendered("demo/a", split="train"), rendered("demo/b", split="test")])
    export = (store.url, "--format", "webdataset", "--out", tmp_path / "out")
    call(*export, "--about", about)
    assert "are kept; update them with --about" in call(*export, "--split", "train", "--overwrite")
    store.put([rendered("demo/c", split="test-x"), rendered("demo/d", split="test_x")])
    assert "test-x and test_x: found one name" in call(*export, "--about", about, "--overwrite", code=2)


def test_a_split_that_is_gone_is_not_listed(tmp_path: Path, about: Path) -> None:
    out = tmp_path / "out"
    for split in ("train", "test"):
        store = LanceStore.create(str(tmp_path / f"{split}.lance"), fsync=False)
        store.put([rendered("demo/a", split=split)])
        call(store.url, "--out", out, "--about", about, "--overwrite")
    assert not list(out.glob("metadata-train*")) and "metadata-train" not in (out / "README.md").read_text()


def test_splits_whose_names_begin_alike(tmp_path: Path, about: Path) -> None:
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    store.put([rendered("demo/a", split="test"), rendered("demo/b", split="test-seen")])
    out = tmp_path / "out"
    call(store.url, "--format", "webdataset", "--out", out, "--about", about)
    (line,) = (line for line in (out / "README.md").read_text().splitlines() if line.startswith("configs: "))
    files = json.loads(line.removeprefix("configs: "))[0]["data_files"]
    found = {one["split"]: [path.name for path in out.glob(one["path"])] for one in files}
    assert found == {"test": ["test-000000.tar"], "test_seen": ["test-seen-000000.tar"]}


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("CC-BY-4.0", "ODbL", "license: found 'ODbL'; .* did you mean 'ODbL-1.0'"),
        ("CC-BY-4.0", "nonsense-licence", "license: found 'nonsense-licence'"),
        ("CC-BY-4.0", "licenseRef-mine", "license: found 'licenseRef-mine'"),
        ("https://orcid.org/0000-0000-0000-0000", "nonsense", r"creators\[0\]\.orcid: String should match"),
    ],
)
def test_identifiers_that_do_not_exist(about: Path, old: str, new: str, problem: str) -> None:
    about.write_text(ABOUT.replace(old, new))
    with pytest.raises(SpecError, match=problem):
        read_about(about)


def test_licenses_have_the_names_of_each_reader(tmp_path: Path, about: Path) -> None:
    about.write_text(ABOUT.replace("CC-BY-4.0", "odbl-1.0").replace('given_names = "Ada"\n', ""))
    call(make_store(tmp_path).url, "--out", tmp_path / "out", "--about", about)
    assert '\nlicense: "odbl"\n' in (tmp_path / "out/README.md").read_text()
    assert "https://spdx.org/licenses/ODbL-1.0.html" in (tmp_path / "out/LICENSE").read_text()
    assert 'authors: [{"family-names": "Müller", "orcid"' in (tmp_path / "out/CITATION.cff").read_text()


def test_what_is_missing_is_listed_before_anything_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    url = make_store(tmp_path).url
    assert "wrote about.toml" in call("--init-about")
    assert "about.toml exists" in call("--init-about", code=2)
    assert Path("about.toml").read_text() == TEMPLATE
    text = call(url, "--out", "out", "--about", "about.toml", code=2)
    for name in ("name", "description", "license", "use_cases", "social_impact"):
        assert f"about.toml: {name}: fill in this value" in text
    assert "about.toml: creators[0]: fill in a name" in text
    assert "url" in text and "date_published" in text and not Path("out").exists()
    Path("about.toml").write_text(ABOUT.replace("CC-BY-4.0", "CC BY 4"))
    text = call(url, "--out", "out", "--about", "about.toml", code=2)
    assert "license: found 'CC BY 4'; expected an identifier" in text and "CC-BY-4.0" in text
    Path("about.toml").write_text("name = ")
    assert "not TOML" in call(url, "--out", "out", "--about", "about.toml", code=2)
    Path("about.toml").write_text(ABOUT + "[[creators]]\n")
    assert "creators[2]: fill in a name" in call(url, "--out", "out", "--about", "about.toml", code=2)
    Path("about.toml").write_text(ABOUT)
    assert "--format coco can't be described" in call(
        url, "--format", "coco", "--out", "out", "--about", "about.toml", code=2
    )


def test_an_invalid_date_is_not_a_missing_one(tmp_path: Path, about: Path) -> None:
    about.write_text(ABOUT.replace("2026-11-22", '"2026-13-45"').replace("CC-BY-4.0", "https://example.org/terms"))
    with pytest.raises(SpecError, match="date_published: Input should be a valid date"):
        read_about(about)
    about.write_text(about.read_text().replace("2026-13-45", "2026-11-22"))
    assert '\nlicense-url: "https://example.org/terms"\n' in citation_cff(read_about(about))


def truth(images: list[ImageRecord]) -> list[list[Any]]:
    """Name, box and mask of each object, as mlcroissant should give them."""
    return [
        [item.name, None if item.bbox is None else [*item.bbox], item.rle.counts]
        for image in images
        for item in image.annotation.objects
    ]


def read(objects: list[dict[str, Any]]) -> list[list[Any]]:
    return [[one["name"], one["bbox"], one["mask"]] for one in objects]


def pixels(image: ImageRecord) -> str:
    return hashlib.sha256(image.color().tobytes()).hexdigest()


@pytest.mark.readers
@pytest.mark.parametrize("name", ["huggingface", "webdataset", "folder"])
def test_mlcroissant(name: str, tmp_path: Path, about: Path) -> None:
    store = eval_store(tmp_path, "mewl", "malevic")
    records: dict[str, EpisodeRecord] = {key: store.get(key) for key, _ in store.ids()}
    out = tmp_path / "out"
    sharded = () if name == "folder" else ("--shard-size", "6")
    call(store.url, "--format", name, *sharded, "--out", out, "--about", about)
    done = subprocess.run(
        [os.environ["DIORAMA_HARNESS"], str(READER), str(out)],
        capture_output=True, text=True, timeout=240, check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "CROISSANT_CACHE": str(tmp_path / "cache")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert [row["name"] for row in found.pop("splits")] == ["test", "val"]
    shown = sorted(pixels(image) for record in records.values() for image in record.images)
    if name == "huggingface":
        for row in found["episodes"]:
            record = records.pop(row["episode_id"])
            assert row["images"] == [pixels(image) for image in record.images]
            assert read(row["objects"]) == truth(record.images) and row["split"] == record.scene.split
    else:
        assert sorted(row["image"] for row in found["images"]) == shown
    if name == "webdataset":
        for row in found["episodes"]:
            data = json.loads(row["json"])
            record = records.pop(data["id"])
            objects = [one for image in data["images"] for one in image["objects"]]
            assert [[one["name"], one["bbox"], one["rle"]["counts"]] for one in objects] == truth(record.images)
    if name == "folder":
        for row in found["annotations"]:
            record = records[str(Path(row["path"]).parent)]
            (image,) = [one for one in record.images if one.name == row["name"]]
            assert read(row["objects"]) == truth([image])
        assert len(found["annotations"]) == len(shown)
    else:
        assert not records


@pytest.mark.readers
@pytest.mark.filterwarnings("default")
def test_the_hub_and_its_library_read_the_folder(tmp_path: Path, about: Path) -> None:
    import datasets
    from huggingface_hub import DatasetCard

    url = make_store(tmp_path).url
    out = tmp_path / "out"
    call(url, "--format", "huggingface", "--out", out, "--about", about)
    card = DatasetCard.load(out / "README.md")
    assert (card.data.license, card.data.language) == ("cc-by-4.0", ["en"])
    assert card.data.pretty_name == "Words and shapes" and "word learning" in card.data.tags
    loaded = datasets.load_dataset(str(out), cache_dir=str(tmp_path / "cache"))
    assert {name: len(rows) for name, rows in loaded.items()} == {"train": 3, "unsplit": 1, "val": 1}
    row = loaded["val"][0]
    record = open_store(url).get(row["episode_id"])
    assert hashlib.sha256(row["images"][0].convert("RGB").tobytes()).hexdigest() == pixels(record.images[0])
