"""Specs drawn at random, most of them possible."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from diorama.scene_specs.language.vocabulary import CLEVR_MATERIALS, COLORS, SHAPES
from diorama.scene_specs.model.spec import EpisodeSpec

NAMES = ("a", "b", "c", "d", "e", "f")


def _some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


objects = _some(
    shape=st.sampled_from(SHAPES),
    color=st.one_of(st.sampled_from(sorted(COLORS)), st.tuples(*[st.integers(0, 255)] * 3)),
    material=st.sampled_from(CLEVR_MATERIALS),
    size=st.one_of(st.sampled_from(["large", "small"]), st.sampled_from([0.3, 0.5])),
    rotation_deg=st.integers(0, 360).map(float),
)
cameras = _some(
    jitter=st.sampled_from([0.0, 0.2, 1.0]),
    location=st.sampled_from([(7.4811, -6.5076, 5.3437), (8.0, 3.0, 7.0), (-6.0, 7.0, 6.0)]),
    lens=st.sampled_from([30.0, 35.0]),
)
randoms = st.fixed_dictionaries(
    {"count": st.one_of(st.integers(0, 3), st.tuples(st.integers(0, 1), st.integers(1, 3)))},
    optional={
        "shapes": st.lists(st.sampled_from(SHAPES), min_size=1, max_size=3),
        "distinct": st.booleans(),
        "combinations": st.lists(
            st.tuples(st.sampled_from(SHAPES), st.sampled_from(sorted(COLORS))), min_size=1, max_size=5
        ),
    },
)


@st.composite
def relations(draw: st.DrawFn, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Relations that agree with one drawn order along each axis, so that they never contradict each other."""
    found = []
    for lower, upper in (("left", "right"), ("behind", "front")):
        order = list(draw(st.permutations(names)))
        for i, j in draw(
            st.lists(st.tuples(st.integers(0, len(names) - 1), st.integers(0, len(names) - 1)), max_size=3)
        ):
            if i < j:
                pair = draw(st.booleans())
                subject, of = (order[i], order[j]) if pair else (order[j], order[i])
                found.append({"relation": lower if pair else upper, "subject": subject, "of": of})
    return found


@st.composite
def frames(draw: st.DrawFn) -> dict[str, Any]:
    names = NAMES[: draw(st.integers(0, 4))]
    frame: dict[str, Any] = {"objects": [{"name": name, **draw(objects)} for name in names]}
    if draw(st.booleans()) and names:
        given = draw(st.integers(0, len(names) - 1))
        frame["objects"][given]["location"] = draw(st.tuples(*[st.integers(-15, 15).map(lambda v: v / 10)] * 2))
    frame["constraints"] = draw(relations(names)) if names else []
    frame["constraints"] += draw(
        st.lists(
            st.sampled_from(
                [{"min_visible_pixels": 50}, {"min_distance": 0.1}, {"axis_margin": 0.2}, {"in_frame": False}]
            ),
            max_size=2,
        )
    )
    if draw(st.booleans()):
        frame["random_objects"] = draw(randoms)
    if draw(st.booleans()):
        frame["camera"] = draw(cameras)
    elif draw(st.booleans()):
        frame["views"] = [{"name": "one", **draw(cameras)}, {"name": "two"}]
    return frame


episodes = st.builds(
    lambda seed, number, drawn: EpisodeSpec.model_validate(
        {"version": 1, "id": f"drawn/{number}", "seed": seed, "frames": drawn}
    ),
    st.integers(0, 2**63 - 1),
    st.integers(0, 99),
    st.lists(frames(), min_size=1, max_size=2),
)
