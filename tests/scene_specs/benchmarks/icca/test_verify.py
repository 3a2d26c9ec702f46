"""Verification of rendered contexts, through the form in which benchmarks see episodes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from diorama.scene_specs.benchmarks.icca.truth import Truth
from diorama.scene_specs.benchmarks.icca.verify import pictures_of_record, pictures_of_spec, verify_record, verify_spec
from diorama.scene_specs.errors import SpecError
from tests.scene_specs.benchmarks.icca.pieces import context_spec


class Item(SimpleNamespace):
    """A rendered object with the attributes of its spec."""

    def model_dump(self, *, mode: str = "python") -> Any:
        return vars(self)


def episode_of(spec: Any) -> Any:
    """An episode as it would be rendered, every object visible."""
    frames = [SimpleNamespace(name=frame["name"], truth=frame["truth"]) for frame in spec["frames"]]
    images = [
        SimpleNamespace(
            name=frame["name"],
            annotation=SimpleNamespace(
                objects=[
                    Item(**{"visible_pixels": 9, "pixel_center": item.get("location"), **item})
                    for item in frame["objects"]
                ],
                relations={},
            ),
        )
        for frame in spec["frames"]
    ]
    scene = SimpleNamespace(task=spec["task"], frames=frames)
    return SimpleNamespace(episode_id=spec["id"], scene=scene, images=images)


@pytest.mark.parametrize("source", ["clevr", "flat", "tangram"])
def test_specs_and_episodes_agree(source: str) -> None:
    spec = context_spec(2, "hard", source)
    assert verify_spec(spec) == verify_record(episode_of(spec)) == ""
    assert pictures_of_record(episode_of(spec), Truth.of_spec(spec)) == pictures_of_spec(spec, Truth.of_spec(spec))


@pytest.mark.parametrize("source", ["clevr", "flat", "shapenet"])
def test_layouts_that_tell_images_apart(source: str) -> None:
    spec = context_spec(2, "hard", source)
    moved = spec["frames"][1]["objects"][0]
    if source == "shapenet":
        places = {item["place"] for item in spec["frames"][1]["objects"]}
        free = {"top_left", "top_right", "bottom_left", "bottom_right"} - places
        moved["place"] = min(free or places - {moved["place"]})
    else:
        edge = 2.3 if source == "clevr" else 884
        x, y = moved["location"]
        moved["location"] = [-edge if x > edge / 2 else edge, y]
    assert "the layout alone identifies image 1 (" in verify_spec(spec)
    # Contexts of version 0.1.0 promise nothing.
    del spec["task"]["layout"]
    assert verify_spec(spec) == ""


def test_a_half_black_part_is_a_diagnostic_with_its_image() -> None:
    episode = episode_of(context_spec(0, "hard", "tangram"))
    piece = next(part["pieces"][0] for part in episode.scene.frames[1].truth["parts"] if len(part["pieces"]) > 1)
    item = next(one for one in episode.images[1].annotation.objects if one.name == f"piece-{piece}")
    item.color = "red" if item.color == "black" else "black"
    with pytest.raises(SpecError, match=r"icca/tangram/hard/000000: image image-1: part .* some are not"):
        verify_record(episode)


def test_wrong_episodes_are_diagnostics() -> None:
    episode = episode_of(context_spec(0, "hard", "clevr"))
    episode.images[2].annotation.objects[0].visible_pixels = 0
    with pytest.raises(SpecError, match="image image-2: nothing is visible of"):
        verify_record(episode)
    episode.scene.task = {"benchmark": "mewl"}
    with pytest.raises(SpecError, match=r'task\.benchmark: found "mewl"; allowed: "icca"'):
        verify_record(episode)
    episode = episode_of(context_spec(0, "hard", "tangram"))
    del episode.scene.frames[1].truth["picture"]
    with pytest.raises(SpecError, match=r'frames\[1\]\.truth\.picture: required key "picture" is missing'):
        verify_record(episode)


def test_images_with_more_statements_than_a_search_can_take() -> None:
    spec = context_spec(0, "hard", "flat", "relations")
    pairs = [(a, b) for a in range(4) for b in range(4)]
    for frame in spec["frames"]:
        frame["truth"]["picture"]["relations"] = [[name, *pair] for name in ("left", "front") for pair in pairs]
    assert verify_spec(spec) == "an image has 44 values and relations; expected at most 41"
