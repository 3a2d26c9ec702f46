"""`tools check-contacts`: compiled piles are right, and what is wrong with a pile or its annotation is named."""

from __future__ import annotations

import math
from argparse import Namespace
from typing import Any

import pytest

from diorama.render.geometry.contact import contact_relations
from diorama.scene_specs.model.scene import SceneFrame
from tests.render.compiler.test_piles import BALL, CUBE, PLANK, SMALL, frame_of
from tools.claims import check_contacts

OBJECTS = {"a": CUBE, "b": SMALL, "c": BALL, "plank": {"shape": PLANK}, "bowl": {"shape": "bowl", "size": 0.9}}
RELATIONS = ("b on a", "c in bowl", "plank leaning a", "a far bowl")


@pytest.fixture(scope="module")
def frame() -> SceneFrame:
    return frame_of(OBJECTS, *RELATIONS)


def with_object(frame: SceneFrame, name: str, shift: tuple[float, float, float], **update: Any) -> SceneFrame:
    """The frame with one object moved, and other fields of it changed."""
    changed = []
    for item in frame.objects:
        x, y, z = (a + b for a, b in zip(item.location, shift, strict=True))
        changed.append(item.model_copy(update={"location": (x, y, z), **update}) if item.name == name else item)
    return frame.model_copy(update={"objects": tuple(changed)})


def problems(frame: SceneFrame, table: check_contacts.Table | None = None) -> str:
    return "; ".join(check_contacts.diagnostics(frame, contact_relations(frame.objects) if table is None else table))


@pytest.mark.slow
def test_compiled_piles_are_right_and_changes_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert check_contacts.main(Namespace(piles=8, tamper=8, seed=0, removals=0)) == 0
    assert "0 wrong" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "shift", "expected"),
    [
        ("b", (0, 0, 0.01), "b floats"),
        ("b", (0, 0, -0.01), "a and b overlap"),
        ("a", (0, 0, -0.01), "a sinks into the ground by 0.0100"),
        ("c", (0, 0, 0.01), "c floats"),
        ("plank", (0.0, 0.0, 0.005), "plank floats"),
    ],
)
def test_what_does_not_stand_is_named(
    frame: SceneFrame, name: str, shift: tuple[float, float, float], expected: str
) -> None:
    assert problems(frame) == ""
    assert expected in problems(with_object(frame, name, shift))


def test_an_object_past_an_edge_falls(frame: SceneFrame) -> None:
    cube, top, *_ = frame.objects
    yaw = math.radians(cube.rotation_deg[2])
    shift = (cube.location[0] + 0.75 * math.cos(yaw) - top.location[0],
             cube.location[1] + 0.75 * math.sin(yaw) - top.location[1], 0.0)  # fmt: skip
    assert "b: the center of mass of b is not over what carries it" in problems(with_object(frame, "b", shift))


def test_every_relation_is_compared(frame: SceneFrame) -> None:
    table = contact_relations(frame.objects)
    for relation, rows in table.items():
        of, names = next(iter(rows.items()), ("a | b", []))
        wrong = {**table, relation: {**rows, of: [n for n in OBJECTS if n not in names and n not in of]}}
        assert relation in problems(frame, wrong), relation


def test_contacts_without_a_relation_and_relations_without_contact_are_named(frame: SceneFrame) -> None:
    assert "a and b touch, which no relation states" in problems(frame.model_copy(update={"contacts": ()}))
    near = tuple(c.model_copy(update={"relation": "near"}) for c in frame.contacts if c.relation == "far")
    assert "a near bowl does not hold" in problems(frame.model_copy(update={"contacts": (*frame.contacts, *near)}))


@pytest.mark.parametrize(("name", "fallen"), [("a", {"b", "plank"}), ("b", set()), ("plank", set()), ("c", set())])
def test_what_falls_is_what_the_relations_say(frame: SceneFrame, name: str, fallen: set[str]) -> None:
    assert check_contacts.removal(frame, name, contact_relations(frame.objects)) == (fallen, fallen)


@pytest.mark.slow
def test_a_wrong_support_graph_is_found(frame: SceneFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    options = Namespace(piles=2, tamper=0, seed=0, removals=4)
    assert check_contacts.main(options) == 0
    monkeypatch.setattr(check_contacts, "falling", lambda table: {name: {"nobody"} for name in table["on"]})
    assert check_contacts.main(options) == 1


@pytest.mark.parametrize(
    ("fell", "graph", "kind"),
    [("a", "a", ""), ("", "a", "stays in"), ("ab", "a", "hit by what"), ("a", "", "lost a neighbor")],
)
def test_differences_have_a_kind(fell: str, graph: str, kind: str) -> None:
    found = check_contacts.difference({*fell}, {*graph})
    assert found.startswith(kind) and bool(found) == bool(kind)
