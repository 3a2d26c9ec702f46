"""Records and Scenes in a notebook: well-formed, self-contained, escaped."""

from __future__ import annotations

import base64
from html.parser import HTMLParser
from typing import Any

# This import makes records and Scenes show themselves.
from diorama import compile_spec
from diorama.scene_specs.model.record import EpisodeRecord
from tests.render.store.rendered import rendered

HOSTILE = "<script>alert(1)</script>\"'&\u2028"
VOID = {"img", "rect", "circle", "line", "polygon"}


class Reader(HTMLParser):
    """Tags with their attributes, text, and whether every tag is closed where it should be."""

    def __init__(self, text: str | None) -> None:
        super().__init__()
        assert text is not None
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def tags(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.found if tag == name]


def hostile(record: EpisodeRecord) -> EpisodeRecord:
    """With markup wherever a spec or a plug-in can put text."""
    image = record.images[0]
    item = image.annotation.objects[0].model_copy(update={"name": HOSTILE, "shape": HOSTILE, "material": HOSTILE})
    truth = image.annotation.model_copy(update={"objects": [item, *image.annotation.objects[1:]]})
    frame = record.scene.frames[0].model_copy(update={"utterance": HOSTILE})
    task = {"benchmark": HOSTILE, "name": HOSTILE, "options": [HOSTILE]}
    scene = record.scene.model_copy(update={"frames": (frame, *record.scene.frames[1:]), "task": task})
    images = [image.model_copy(update={"annotation": truth, "name": HOSTILE}), *record.images[1:]]
    return record.model_copy(update={"images": images, "scene": scene})


def test_a_record_shows_its_pictures_boxes_and_objects() -> None:
    record = rendered("nb/1")
    page = Reader(record._repr_html_())
    sources = [tag["src"] or "" for tag in page.tags("img")]
    assert [base64.b64decode(source.split(",", 1)[1]) for source in sources] == [image.png for image in record.images]
    boxes = [tuple(int(tag[key] or 0) for key in ("x", "y", "width", "height")) for tag in page.tags("rect")]
    expected = [item.bbox for image in record.images for item in image.annotation.objects]
    assert [box for box in expected if box in boxes] == expected
    assert {"word0", "supri, ecle"} <= {text.split(": ")[-1].strip() for text in page.texts}
    assert len(page.tags("tr")) == 1 + len(expected)


def test_the_answer_is_not_given_away() -> None:
    record = rendered("nb/2")
    scene = record.scene.model_copy(update={"task": {"benchmark": "m", "answer": "the-answer"}})
    assert "the-answer" not in (record.model_copy(update={"scene": scene})._repr_html_() or "the-answer")


def test_nothing_becomes_markup_or_leaves_the_page() -> None:
    record = hostile(rendered("nb/3"))
    for text in (record._repr_html_(), record.scene._repr_html_()):
        page = Reader(text)
        assert not page.tags("script")
        assert all(not name.startswith("on") for _, attributes in page.found for name in attributes)
        links = [
            value or "" for _, attributes in page.found for key, value in attributes.items() if key in ("src", "href")
        ]
        assert all(link.startswith("data:image/png;base64,") for link in links)
        assert any("<script>alert(1)</script>\"'&" in data for data in page.texts)


def test_a_scene_shows_its_plan_and_objects_also_without_its_stage() -> None:
    spec: dict[str, Any] = {"version": 1, "id": "nb", "frames": [{"objects": [{"name": "a"}, {"name": "b"}]}]}
    scene = compile_spec(spec, "draft")
    page = Reader(scene._repr_html_())
    assert page.tags("polygon") and len(page.tags("tr")) == 3
    gone = Reader(scene.model_copy(update={"stage": "dusk"})._repr_html_())
    assert any("no top view: unknown stage 'dusk'" in text for text in gone.texts) and len(gone.tags("tr")) == 3


def test_a_long_episode_is_cut_and_says_so() -> None:
    record = rendered("nb/4")
    images = [record.images[0].model_copy(update={"name": f"f{number}"}) for number in range(70)]
    page = Reader(record.model_copy(update={"images": images})._repr_html_())
    assert len(page.tags("img")) == 24
    assert {"and 46 more images", "and 40 more objects"} <= set(page.texts)
