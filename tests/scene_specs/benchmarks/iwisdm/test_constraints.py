"""Objects for demands: found if and only if there are some, which listing all of them says."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from diorama.scene_specs.benchmarks.iwisdm.constraints import solve
from diorama.scene_specs.benchmarks.iwisdm.frame_plan import Constraint, object_term
from diorama.scene_specs.benchmarks.iwisdm.keyed_rng import KeyedRng
from diorama.scene_specs.benchmarks.iwisdm.stimuli import Stimuli

SMALL = Stimuli({"cars": ("#1", "#2"), "boats": ("#1",)})
MODELS = [("model", frame, 0) for frame in range(4)]
FRAME = st.integers(0, 3)
NAMES = st.sampled_from(["category", "identity"])
CONSTRAINT = st.one_of(
    st.builds(
        lambda n, a, b, e: Constraint(object_term(n, a, 0), object_term(n, b, 0), e), NAMES, FRAME, FRAME, st.booleans()
    ),
    st.builds(
        lambda a, v, e: Constraint(object_term("category", a, 0), v, e),
        FRAME,
        st.sampled_from(["cars", "boats"]),
        st.booleans(),
    ),
)


def fulfilled(chosen: dict[tuple[str, int, int], tuple[str, ...]], relations: list[Constraint]) -> bool:
    for one in relations:
        left = one.left.value(chosen[one.left.variable])
        right = one.right if isinstance(one.right, str) else one.right.value(chosen[one.right.variable])
        if (left == right) != one.equal:
            return False
    return True


@given(st.lists(CONSTRAINT, max_size=8), st.integers(0, 5))
def test_a_solution_is_found_if_there_is_one(relations: list[Constraint], seed: int) -> None:
    found = solve(MODELS, relations, SMALL, KeyedRng(seed, "x", "solve"))
    listed = (dict(zip(MODELS, way, strict=True)) for way in product(SMALL.identities, repeat=4))
    if found is None:
        assert not any(fulfilled(dict(way), relations) for way in listed)
    else:
        assert fulfilled(found, relations)


def test_every_solution_comes_up() -> None:
    relations = [Constraint(object_term("identity", 0, 0), object_term("identity", 1, 0), False)]
    ways = {tuple((solve(MODELS[:2], relations, SMALL, KeyedRng(k, "x", "y")) or {}).values()) for k in range(200)}
    assert len(ways) == 6


def test_a_relation_of_an_object_with_itself() -> None:
    relation = Constraint(object_term("category", 0, 0), object_term("category", 0, 0), False)
    assert solve(MODELS[:1], [relation], SMALL, KeyedRng(1, "x", "y")) is None


def test_draws_are_even_and_never_out_of_range() -> None:
    rng = KeyedRng(3, "x", "draws")
    assert {rng.below(3) for _ in range(100)} == {0, 1, 2}
    assert 200 < sum(rng.below(2) for _ in range(500)) < 300
    assert {rng.weighted((0.0, 1.0, 0.0)) for _ in range(50)} == {1}
    assert sorted(rng.shuffled(range(9))) == [*range(9)]
    assert KeyedRng(3, "x", "a").unit() == KeyedRng(3, "x", "a").unit() != KeyedRng(3, "x", "b").unit()
