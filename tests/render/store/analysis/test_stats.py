"""Distributions, extremes and differences of stores: against the records themselves."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from diorama.render.annotations.encode import encode_png
from diorama.render.compiler.render_key import render_key_of
from diorama.render.episode.make_record import make_record
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.store.analysis import stats as stats_module
from diorama.render.store.analysis.stats import ALL, BINS, SCALES, By, Distribution, Stats, extremes, gather, tally
from diorama.render.store.analysis.store_diff import compare, diff
from diorama.render.store.lance.lance_store import LanceStore
from diorama.scene_specs.model.pictures import decode_png
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.model.spec import EpisodeSpec
from tests.factories import make_record as random_record
from tests.render.store.rendered import rendered


def crowd(number: int) -> EpisodeRecord:
    """An empty frame, a pointer, objects of any look; colors by name and by numbers."""
    frames: list[dict[str, Any]] = [
        {"random_objects": {"count": number % 5}, "utterance": "a b c"[: number % 6] or None},
        {"objects": [{"name": "a", "color": [1, 2, 3], "size": 0.5}, {"name": "b"}], "pointer": {"target": "a"}},
    ]
    task = {"benchmark": "crowd", "name": f"task-{number % 2}"} if number % 3 else None
    given = {"version": 1, "id": f"crowd/{number:03d}", "seed": number, "frames": frames[: 1 + number % 2]}
    spec = EpisodeSpec.model_validate({**given, **({"task": task} if task else {})})
    wanted = settings_for("draft", 96, 72)
    return make_record(FakeRenderer(), spec, render_key_of(spec, wanted, "fake"), wanted)


@pytest.fixture(scope="module")
def records() -> list[EpisodeRecord]:
    return [crowd(number) for number in range(14)]


@pytest.fixture(scope="module")
def store(records: list[EpisodeRecord], tmp_path_factory: pytest.TempPathFactory) -> LanceStore:
    made = LanceStore.create(str(tmp_path_factory.mktemp("stats") / "s.lance"), fsync=False)
    for start in range(0, len(records), 5):
        made.put(records[start : start + 5])
    return made


def expected(records: Sequence[EpisodeRecord]) -> dict[str, Counter[Any]]:
    """The same figures, one by one and slowly."""
    found: dict[str, Counter[Any]] = {name: Counter() for name in stats_module._distributions()}
    for record in records:
        found["images"][len(record.images)] += 1
        for image in record.images:
            utterance = next(f.utterance for f in record.scene.frames if f.name == image.frame)
            if utterance is not None:
                found["utterance_words"][len(utterance.split())] += 1
            standing = [item for item in image.annotation.objects if item.name != "pointer"]
            found["objects"][len(standing)] += 1
            found["pointers"].update(item.shape for item in image.annotation.objects if item.name == "pointer")
            for relation, table in image.annotation.relations.items():
                found["relations"][relation] += sum(map(len, table.values()))
            for item in standing:
                found["shape"][item.shape] += 1
                found["color"][item.color or "(no name)"] += 1
                found["material"][item.material] += 1
                found["size"][item.size or "(no name)"] += 1
                found["visible_fraction"][min(int(item.visible_fraction * BINS), BINS - 1)] += 1
                if item.bbox is not None:
                    share = math.sqrt(item.bbox[2] * item.bbox[3] / (image.width * image.height))
                    found["box_side"][min(int(share * BINS), BINS - 1)] += 1
    return {name: +counter for name, counter in found.items()}


def counts_of(found: Stats, group: str) -> dict[str, Counter[Any]]:
    return {name: +item.counts.get(group, Counter()) for name, item in found.distributions.items()}


@pytest.mark.parametrize("batch", [1, 3, 1024])
def test_distributions_are_those_of_the_records(
    store: LanceStore, records: list[EpisodeRecord], batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stats_module, "BATCH_ROWS", batch)
    done: list[int] = []
    found = gather(store, None, None, done.append)
    assert counts_of(found, ALL) == expected(records)
    assert sum(done) == found.episodes[ALL] == len(records)
    assert found.images[ALL] == sum(len(record.images) for record in records)


def test_groups_are_counted_apart(store: LanceStore, records: list[EpisodeRecord]) -> None:
    found = gather(store, None, "task")
    assert found.groups == ["-", "task-0", "task-1"]
    for group in found.groups:
        members = [r for r in records if str((r.scene.task or {"name": "-"})["name"]) == group]
        assert counts_of(found, group) == expected(members)


def test_a_condition_and_an_empty_store(store: LanceStore, records: list[EpisodeRecord], tmp_path: Path) -> None:
    some = gather(store, "task = 'task-1'", None)
    assert counts_of(some, ALL) == expected([r for r in records if (r.scene.task or {}).get("name") == "task-1"])
    empty = gather(LanceStore.create(str(tmp_path / "e.lance"), fsync=False), None, None)
    assert empty.groups == [] and all(not item.counts for item in empty.distributions.values())
    assert empty.as_dict()["distributions"]["shape"]["counts"] == {}


@pytest.mark.parametrize("largest", [False, True])
def test_extremes_are_those_of_the_records(store: LanceStore, records: list[EpisodeRecord], largest: bool) -> None:
    def worst(record: EpisodeRecord) -> float | None:
        objects = [item for image in record.images for item in image.annotation.objects if item.name != "pointer"]
        return (max if largest else min)((item.visible_fraction for item in objects), default=None)

    values = [(value, record.episode_id) for record in records if (value := worst(record)) is not None]
    ordered = sorted(values, key=lambda pair: (-pair[0] if largest else pair[0], pair[1]))
    found = extremes(store, "visible_fraction", None, None, largest)
    assert [(one.value, one.episode) for one in found] == ordered
    assert extremes(store, "visible_fraction", None, 3, largest) == found[:3]
    record = next(r for r in records if r.episode_id == found[0].episode)
    name, _, image = found[0].where.partition(" in ")
    truth = next(i.annotation for i in record.images if i.name == image)
    assert next(o for o in truth.objects if o.name == name).visible_fraction == found[0].value


@pytest.mark.parametrize("scale", sorted(SCALES))
def test_every_scale_goes_up(store: LanceStore, scale: str) -> None:
    values = [one.value for one in extremes(store, scale, None, None, False)]
    assert values == sorted(values) and values
    assert extremes(store, scale, "episode_id = 'none'", None, False) == []


def put(folder: Path, *given: EpisodeRecord) -> LanceStore:
    made = LanceStore.create(str(folder), fsync=False)
    made.put(given)
    return made


def test_two_stores_differ_in_what_they_differ_in(tmp_path: Path) -> None:
    same, only_a, only_b = rendered("d/same"), rendered("d/a"), rendered("d/b")
    old, new = rendered("d/x", seed=1), rendered("d/x", seed=2)
    later = same.provenance.model_copy(update={"created": "2027-01-01T00:00:00+00:00", "seconds": {"render": 9.0}})
    a = put(tmp_path / "a.lance", same, only_a, old)
    b = put(tmp_path / "b.lance", same.model_copy(update={"provenance": later}), only_b, new)
    done: list[int] = []
    found = diff(a, b, None, done.append)
    assert (found.only_a, found.only_b, found.alike, sum(done)) == (["d/a"], ["d/b"], 1, 2)
    (one,) = found.differing
    assert one.episode == "d/x" and "spec seed: stored 1, now 2" in one.made
    assert one.scene and one.truth and set(one.pixels) == {"f0", "f1"} and one.psnr < 60
    assert {"spec", "Scene", "truth", "pictures"} <= set(found.reasons)
    assert diff(a, a, None, done.append).same and diff(a, b, "episode_id = 'd/same'", done.append).same


def test_one_pixel_is_found_and_a_damaged_row_is_named(tmp_path: Path) -> None:
    import lance

    record = rendered("d/1")
    color = decode_png(record.images[0].png).copy()
    color[3, 4, 2] ^= 1
    image = record.images[0].model_copy(update={"png": encode_png(color)})
    other = record.model_copy(update={"images": [image, *record.images[1:]]})
    one = compare(record, other)
    assert (one.pixels, one.largest, one.made, one.truth) == ({"f0": 1}, 1, (), ())
    fewer = compare(record, record.model_copy(update={"images": record.images[:1]}))
    assert fewer.truth == ("f1: in one of them only, or of another size",)
    a, b = put(tmp_path / "a.lance", record, rendered("d/2")), put(tmp_path / "b.lance", other, rendered("d/2"))
    lance.dataset(b.url).update({"sha256": "'00'"}, where="episode_id = 'd/2'")
    b.refresh()
    found = diff(a, b, None, lambda done: None)
    assert [(one.episode, bool(one.problem)) for one in found.differing] == [("d/1", False), ("d/2", True)]


def test_tally(tmp_path: Path) -> None:
    store = put(tmp_path / "s.lance", random_record("demo/0"), random_record("demo/1", images=3))
    facts = tally(store)
    assert (facts["episodes"], facts["images"], facts["split"]) == (2, 5, {"train": 2})
    assert facts["size"] == {"32x24": 2}


@pytest.mark.parametrize("scale", ["objects", "images"])
def test_counts_of_an_episode_have_no_place(store: LanceStore, scale: str) -> None:
    assert {one.where for one in extremes(store, scale, None, None, False)} == {""}


@pytest.mark.parametrize("kind", ["words", "numbers", "bins"])
def test_a_distribution_of_nothing_has_no_values(kind: Any) -> None:
    empty = Distribution("name", "what", kind)
    assert empty.keys() == []
    empty.counts["group"] = Counter({3: 2, 6: 1})
    assert empty.keys() == {"words": [3, 6], "numbers": [3, 4, 5, 6], "bins": list(range(BINS))}[kind]


def test_every_distribution_of_a_store_lists_its_values(store: LanceStore) -> None:
    for found in gather(store, None, None).distributions.values():
        counted = {key for group in found.counts.values() for key in group}
        values = found.keys()
        assert counted <= set(values) and all(found.label(key) for key in values)
        assert found.kind != "words" or counted == set(values)


def test_statistics_as_data_name_their_groups(store: LanceStore) -> None:
    groups: tuple[By | None, ...] = (None, "task")
    for by in groups:
        data = gather(store, None, by).as_dict()
        assert list(data) == ["by", "episodes", "images", "objects", "bin_width", "distributions"]
        assert (data["by"], data["bin_width"]) == (by, 1 / BINS)
