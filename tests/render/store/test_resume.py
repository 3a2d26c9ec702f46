from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diorama.render.store.resume import Planner, Policy, difference
from diorama.scene_specs.errors import ConflictError
from diorama.scene_specs.model.record import RenderKey
from diorama.scene_specs.model.spec import EpisodeSpec
from tests.factories import SETTINGS, make_job, make_spec


class FakeStore:
    """The methods of a store that Planner calls; counts the calls of `job`."""

    url = "s.lance"

    def __init__(self, jobs: dict[str, RenderKey], attempts: dict[str, int] | None = None) -> None:
        self._jobs = jobs
        self._attempts = attempts or {}
        self.job_calls = 0

    def ids(self) -> Iterator[tuple[str, str]]:
        return ((key, job.hash()) for key, job in self._jobs.items())

    def job(self, episode_id: str) -> RenderKey:
        self.job_calls += 1
        return self._jobs[episode_id]

    def scan(self, columns: Any, where: str | None = None, batch_size: int = 32) -> Iterator[dict[str, Any]]:
        return ({"episode_id": key, "attempt": self._attempts.get(key, 1)} for key in self._jobs)


def episode(episode_id: str = "demo/0001") -> EpisodeSpec:
    return EpisodeSpec.model_validate(make_spec(episode_id))


def planner(stored: dict[str, RenderKey], policy: Policy = "error", attempts: dict[str, int] | None = None) -> Planner:
    return Planner(FakeStore(stored, attempts), policy)  # type: ignore[arg-type]


def test_without_a_store_everything_is_rendered() -> None:
    assert Planner(None).decide(episode(), make_job(), SETTINGS).kind == "render"


def test_same_job_is_skipped_and_a_new_id_rendered() -> None:
    plan = planner({"demo/0001": make_job()})
    assert plan.decide(episode(), make_job(), SETTINGS).kind == "skip"
    assert plan.decide(episode("demo/0002"), make_job(), SETTINGS).kind == "render"


def test_a_store_holds_one_series_of_blender_unless_told_otherwise() -> None:
    old, new = make_job(renderer="cycles"), make_job(renderer="cycles", version="0.1.0+blender5.2")
    both = ((old, new, r"4\.5.* 5\.2.*Python 3\.11"), (new, old, r"5\.2.* 4\.5.*Python 3\.13"))
    for stored, wanted, words in both:
        jobs = {"demo/0001": stored}
        for name, policy in (("demo/0001", "replace"), ("demo/0002", "keep"), ("demo/0002", "error")):
            with pytest.raises(ConflictError, match=words + ".*--mix-series"):
                planner(jobs, policy).decide(episode(name), wanted, SETTINGS)  # type: ignore[arg-type]
        assert planner(jobs, "keep").decide(episode(), wanted, SETTINGS).kind == "keep"
        mixed = Planner(FakeStore(jobs), mix_series=True)  # type: ignore[arg-type]
        assert mixed.decide(episode("demo/0002"), wanted, SETTINGS).kind == "render"
    assert planner({"demo/0001": make_job()}).decide(episode("demo/0002"), new, SETTINGS).kind == "render"


@pytest.mark.parametrize("policy", ["keep", "replace"])
def test_policies_for_another_job(policy: Policy) -> None:
    plan = planner({"demo/0001": make_job()}, policy, {"demo/0001": 4})
    decision = plan.decide(episode(), make_job(version="9"), SETTINGS)
    assert decision.kind == policy
    if policy == "replace":
        assert decision.attempt == 5


def test_conflicts_name_the_episode_the_difference_and_the_way_out() -> None:
    plan = planner({"demo/0001": make_job()})
    decision = plan.decide(episode(), make_job(make_spec(color="blue")), SETTINGS)
    assert decision.kind == "conflict"
    error = Planner.conflict([decision])
    assert isinstance(error, ConflictError)
    text = str(error)
    for part in ("demo/0001", 'spec frames[0].objects[0].color: stored "red", now "blue"', "--replace", "--keep"):
        assert part in text


def test_thousands_of_conflicts_stay_readable() -> None:
    ids = [f"demo/{number:04}" for number in range(2000)]
    store = FakeStore({key: make_job() for key in ids})
    plan = Planner(store)  # type: ignore[arg-type]
    other = make_job(settings={**SETTINGS.model_dump(mode="json"), "samples": 64})
    decisions = [plan.decide(episode(key), other, SETTINGS) for key in ids]
    text = str(Planner.conflict(decisions))
    assert store.job_calls < 10
    assert len(text.splitlines()) < 30
    assert "settings samples: stored 24, now 64" in text
    assert f"and {len(ids) - text.count('is stored already')} more, {len(ids)} episodes in all" in text


SETTINGS_DATA = SETTINGS.model_dump(mode="json")


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (
            make_job(settings={**SETTINGS_DATA, "samples": 64}),
            make_job(settings={**SETTINGS_DATA, "samples": 24}),
            "settings samples: stored 64, now 24",
        ),
        (
            make_job(settings={**SETTINGS_DATA, "width": 640}),
            make_job(settings=SETTINGS_DATA),
            "settings width: stored 640, now 32",
        ),
        (make_job(version="0.1.0"), make_job(version="0.2.0"), 'version: stored "0.1.0", now "0.2.0"'),
        (make_job(renderer="fake"), make_job(renderer="cycles"), 'renderer: stored "fake", now "cycles"'),
        (make_job(assets={"mesh:cube": "a"}), make_job(assets={}), 'assets mesh:cube: stored "a", now nothing'),
        (make_job({"seed": 1}), make_job({"seed": 1.0}), "spec seed: stored 1, now 1.0"),
        (
            make_job({"frames": [{"a": 1}]}),
            make_job({"frames": [{"a": 1}, {"b": 2}]}),
            'spec frames[1]: stored nothing, now {"b": 2}',
        ),
    ],
)
def test_each_kind_of_difference(old: RenderKey, new: RenderKey, line: str) -> None:
    assert difference(old, new) == [line]


def test_a_model_that_another_version_read_is_named() -> None:
    cube, old, new = {"mesh:cube": "a"}, {"model:mug.glb": "a", "shapenet:car/x": "b"}, {"model:mug.glb": "c"}
    lines = difference(make_job(assets={**cube, **old}), make_job(assets={**cube, **new}))
    assert lines[0] == "model 'model:mug.glb' has changed, or another version of Diorama read it"
    assert [line.split()[1] for line in lines[1:]] == ["model:mug.glb:", "shapenet:car/x:"]


_json = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.0, 1.0]) | st.sampled_from(["a", "b"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["x", "y"]), inner, max_size=2),
    max_leaves=6,
)
_jobs = st.builds(lambda spec: make_job(spec), st.dictionaries(st.sampled_from(["p", "q"]), _json, max_size=2))


@given(_jobs, _jobs)
def test_there_is_a_difference_exactly_when_the_hashes_differ(old: RenderKey, new: RenderKey) -> None:
    assert (difference(old, new) == []) == (old.hash() == new.hash())


def test_the_profile_comes_before_the_settings_that_it_explains() -> None:
    old = make_job(settings={**SETTINGS_DATA, "profile": "draft", "height": 5, "samples": 64})
    lines = difference(old, make_job(settings={**SETTINGS_DATA, "profile": "standard"}))
    assert [line.split(":")[0] for line in lines] == ["settings profile", "settings height", "settings samples"]


def test_a_conflict_has_a_line_per_episode_and_difference() -> None:
    plan = planner({"demo/0001": make_job()})
    decision = plan.decide(episode(), make_job(make_spec(color="blue"), version="9"), SETTINGS)
    first, *differences, last = str(Planner.conflict([decision])).splitlines()
    assert first == "episode demo/0001 is stored already, but was made from something else:"
    assert [line.split()[0] for line in differences][-2:] == ["spec", "version:"]
    assert all(line.startswith("  ") for line in differences) and last.startswith("pass --replace")
