"""Stores for tests of the gallery: true episodes of the fake renderer, and odd ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lance

from diorama.render.episode.make_record import make_record
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.store.lance.lance_store import LanceStore
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.record import EpisodeRecord, RenderKey
from diorama.scene_specs.model.spec import EpisodeSpec
from tests import factories

# Whatever of this a browser took for HTML or script would set window.hacked, load something, or end the page's data.
HOSTILE = (
    "<script>window.hacked=1</script><img src=x onerror='window.hacked=1'>\"'`\\ </script> ]]> <!-- ${window.hacked=1} "
    "\u2028\u2029 \u202e javascript:window.hacked=1 &lt;b&gt; {{ 7*7 }} " + "long" * 60
)
POINTING: dict[str, Any] = {
    "version": 1,
    "id": "demo/pointing",
    "seed": 5,
    "split": "train",
    "frames": [
        {
            "name": "question",
            "utterance": "blicket",
            "objects": [
                {"name": "a", "shape": "cube", "color": "red", "material": "rubber", "size": "large"},
                {"name": "b", "shape": "sphere", "color": "blue", "material": "metal", "size": "small"},
                {"name": "c", "shape": "cylinder", "color": "green", "material": "glass", "size": "large"},
            ],
            "pointer": {"target": "b"},
            "truth": {"referent": "b"},
        }
    ],
    "task": {
        "benchmark": "demo",
        "name": "pointing",
        "instruction": "Which word is the blue one?",
        "options": ["blicket", "dax"],
        "answer": "blicket",
        "lexicon": {"blicket": "blue"},
    },
}
# The cube of the first frame hides most of the sphere behind it.
HIDING: dict[str, Any] = {
    "version": 1,
    "id": "demo/hiding",
    "split": "val",
    "frames": [
        {
            "name": "only",
            "objects": [
                {"name": "near", "shape": "cube", "color": "cyan", "size": 0.9, "location": [1.2, -1.2]},
                {"name": "far", "shape": "sphere", "color": "purple", "size": 0.6, "location": [-0.4, 0.6]},
            ],
        }
    ],
}


def rendered(spec: dict[str, Any], size: tuple[int, int] = (320, 240)) -> EpisodeRecord:
    """The record of a spec, by the fake renderer."""
    settings = settings_for("draft", *size)
    job = RenderKey(spec=spec, settings=settings.model_dump(mode="json"), assets={}, version="0", renderer="fake")
    return make_record(FakeRenderer(), EpisodeSpec.model_validate(spec), job, settings)


def hostile() -> EpisodeRecord:
    """An episode whose every free text is HOSTILE, names and provenance of a foreign store included."""
    task: dict[str, Any] = {"benchmark": HOSTILE, "name": HOSTILE, "options": [HOSTILE, "b"], "answer": HOSTILE}
    task["__proto__"] = {"x": HOSTILE}
    scene = factories.make_scene("hostile/1", 1, task)
    frame = scene.frames[0].model_copy(update={"utterance": HOSTILE, "truth": {HOSTILE: HOSTILE}})
    record = factories.make_record("hostile/1", images=1)
    item = factories.make_object(1, name=HOSTILE, shape=HOSTILE, color=HOSTILE, material=HOSTILE)
    relations = {HOSTILE: {HOSTILE: [HOSTILE]}}
    annotation = record.images[0].annotation.model_copy(update={"objects": [item], "relations": relations})
    image = record.images[0].model_copy(update={"name": HOSTILE, "annotation": annotation})
    odd = {"device": HOSTILE, "versions": {HOSTILE: HOSTILE}, "seconds": {HOSTILE: 1.0}}
    provenance = record.provenance.model_copy(update=odd)
    changes = {"scene": scene.model_copy(update={"frames": (frame,)}), "images": [image], "provenance": provenance}
    return record.model_copy(update=changes)


def without_objects() -> EpisodeRecord:
    """Two large square pictures without objects, an instruction and an action a frame."""
    task = {"benchmark": "flat", "name": "actions", "instruction": "Are they alike?", "actions": ["null", "true"]}
    made = factories.make_record("flat/1", images=2, objects=0, size=(1478, 1478))
    return made.model_copy(update={"scene": factories.make_scene("flat/1", 2, task)})


def numbered(count: int) -> list[EpisodeRecord]:
    """Small episodes of noise with ids many/000, many/001, ..."""
    return [factories.make_record(f"many/{number:03}", images=1, seed=number) for number in range(count)]


def odd_store(path: Path, many: int = 70) -> LanceStore:
    """A store of all of them, `demo/damaged` among them, whose pictures are not what their SHA-256 says."""
    store = LanceStore.create(str(path), fsync=False)
    damaged = rendered({**HIDING, "id": "demo/damaged"}, (64, 48))
    store.put([rendered(POINTING), rendered(HIDING), damaged, hostile(), without_objects(), *numbered(many)])
    lance.dataset(store.url).update({"sha256": "'00'"}, where="episode_id = 'demo/damaged'")
    store.refresh()
    return store
