"""Small episodes made without Blender, for tests of everything behind the renderer."""

from __future__ import annotations

import io
from functools import lru_cache
from typing import Any

import numpy as np
from hypothesis import strategies as st
from PIL import Image

from diorama.scene_specs.model.record import (
    RLE,
    CameraAnnotation,
    EpisodeRecord,
    FrameAnnotation,
    ImageRecord,
    ObjectAnnotation,
    Provenance,
    RenderKey,
)
from diorama.scene_specs.model.scene import Scene, SceneCamera, SceneFrame, SceneView, Settings

SETTINGS = Settings(
    profile="standard",
    width=32,
    height=24,
    samples=24,
    denoise=True,
    prefilter="NONE",
    bounces=(12, 4, 4, 12),
    filter_glossy=2.0,
    caustics=True,
    light_tree=False,
    sampling_pattern="BLUE_NOISE",
    adaptive_threshold=0.0,
    adaptive_min_samples=0,
)


@lru_cache(maxsize=256)
def png(width: int = 32, height: int = 24, seed: int = 0) -> bytes:
    """A picture of noise, the same for the same seed; noise of 160 x 128 pixels takes about 60 KB."""
    pixels = np.random.Generator(np.random.Philox(seed)).integers(0, 256, (height, width, 3), dtype=np.uint8)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, format="PNG", compress_level=1)
    return stream.getvalue()


def make_object(index: int = 1, **changes: Any) -> ObjectAnnotation:
    """A red cube; its mask is a block of 4 x 4 pixels at (2 + index, 3)."""
    facts: dict[str, Any] = {
        "index": index,
        "name": f"object-{index}",
        "shape": "cube",
        "color": "red",
        "color_linear": (0.678, 0.137, 0.137),
        "material": "rubber",
        "size": "small",
        "scale": 0.35,
        "location": (0.1 * index, -1.0 / 3.0, 0.35),
        "rotation_deg": (0.0, 0.0, 30.0),
        "rotation": (0.9659258262890683, 0.0, 0.0, 0.25881904510252074),
        "camera_location": (0.0, 0.5, 9.0),
        "camera_rotation": (1.0, 0.0, 0.0, 0.0),
        "pixel_center": (4.5 + index, 5.5, 9.0),
        "bbox": (2 + index, 3, 4, 4),
        "amodal_bbox": (2 + index, 3, 4, 4),
        "rle": RLE(size=(24, 32), counts="3d01"),
        "visible_pixels": 16,
        "alone_pixels": 16,
        "visible_fraction": 1.0,
        "truncated": False,
    }
    return ObjectAnnotation(**{**facts, **changes})


def make_annotation(objects: int = 2) -> FrameAnnotation:
    """Truth of one picture with so many objects in a row."""
    items = [make_object(index) for index in range(1, objects + 1)]
    identity = ((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0))
    camera = CameraAnnotation(
        location=(7.36, -6.93, 4.96),
        rotation=(1.0, 0.0, 0.0, 0.0),
        intrinsics=((35.0, 0.0, 16.0), (0.0, 35.0, 12.0), (0.0, 0.0, 1.0)),
        extrinsics=identity,
        clip=(0.1, 1000.0),
    )
    names = [item.name for item in items]
    relations = {"right": {name: names[number + 1 :] for number, name in enumerate(names)}}
    return FrameAnnotation(camera=camera, directions={"left": (-1.0, 0.0, 0.0)}, relations=relations, objects=items)


def make_spec(episode_id: str = "demo/0001", frames: int = 2, color: str = "red") -> dict[str, Any]:
    """What was asked for, as a spec file says it."""
    one = {"objects": [{"name": "object-1", "shape": "cube", "color": color}]}
    return {"version": 1, "id": episode_id, "seed": 7, "frames": [one for _ in range(frames)]}


def make_job(spec: Any = None, **changes: Any) -> RenderKey:
    """What decides whether an episode is there; settings are SETTINGS."""
    facts: dict[str, Any] = {
        "spec": make_spec() if spec is None else spec,
        "settings": SETTINGS.model_dump(mode="json"),
        "assets": {"mesh:cube": "ab" * 32, "stage:clevr": "cd" * 32},
        "version": "0.1.0",
        "renderer": "fake",
    }
    return RenderKey(**{**facts, **changes})


def make_scene(episode_id: str = "demo/0001", frames: int = 2, task: dict[str, Any] | None = None) -> Scene:
    """A Scene with frames `frame-0`, ...; the objects are in the annotations only."""
    camera = SceneCamera(
        location=(7.36, -6.93, 4.96), look_at=(0, 0, 0), lens=35.0, sensor_width=32.0, clip=(0.1, 1000.0)
    )
    if task is None:
        task = {"benchmark": "demo", "name": "colour", "options": ["supri", "ecle"], "answer": "ecle"}
    made = [
        SceneFrame(
            name=f"frame-{number}",
            utterance=f"word-{number}" if number % 2 == 0 else None,
            truth=None,
            objects=(),
            lights=(),
            views=(SceneView(name=None, camera=camera),),
            passes=(),
            seed=number,
        )
        for number in range(frames)
    ]
    return Scene(
        scene_version=1,
        id=episode_id,
        seed=7,
        stage="clevr",
        split="train",
        settings=SETTINGS,
        assets={"stage:clevr": "cd" * 32},
        frames=tuple(made),
        task=task,
    )


def make_record(
    episode_id: str = "demo/0001",
    images: int = 2,
    objects: int = 2,
    attempt: int = 1,
    seed: int = 0,
    size: tuple[int, int] = (32, 24),
    job: RenderKey | None = None,
    **changes: Any,
) -> EpisodeRecord:
    """A whole episode, one image a frame; `seed` decides the pictures. changes: fields to set instead."""
    width, height = size
    pictures = [
        ImageRecord(
            name=f"frame-{number}",
            frame=f"frame-{number}",
            view=None,
            width=width,
            height=height,
            png=png(width, height, 100 * seed + number),
            annotation=make_annotation(objects),
        )
        for number in range(images)
    ]
    facts: dict[str, Any] = {
        "episode_id": episode_id,
        "job": job or make_job(make_spec(episode_id, images)),
        "scene": make_scene(episode_id, images),
        "images": pictures,
        "provenance": Provenance(
            versions={"diorama": "0.1.0"},
            device="CPU",
            cpu="x86-64-v3",
            created="2025-01-01T00:00:00+00:00",
            attempt=attempt,
            seconds={"compile": 0.1, "render": 1.0 / 3.0},
        ),
    }
    return EpisodeRecord(**{**facts, **changes})


# --- for property tests -------------------------------------------------------------------------------------------

_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_float = st.floats()
_vector = st.tuples(_float, _float, _float)
_box = st.none() | st.tuples(*[st.integers(-(2**31), 2**31 - 1)] * 4)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3),
    max_leaves=8,
)
_json_object = st.dictionaries(_text, _json, max_size=4)
episode_ids = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,9}(/[A-Za-z0-9_][A-Za-z0-9_.+-]{0,9}){0,3}", fullmatch=True)


@st.composite
def records(draw: st.DrawFn) -> EpisodeRecord:
    """Episodes with every field odd in some example: infinities, empty lists, any Unicode, huge integers."""
    episode_id = draw(episode_ids)
    count = draw(st.integers(1, 3))
    items = st.builds(
        make_object,
        index=st.integers(1, 32767),
        name=_text,
        color=st.none() | _text,
        size=st.none() | _text,
        scale=_float,
        location=_vector,
        rotation_deg=_vector,
        pixel_center=_vector,
        bbox=_box,
        amodal_bbox=_box,
        rle=st.builds(RLE, size=st.tuples(st.integers(1, 9), st.integers(1, 9)), counts=_text),
        visible_fraction=_float,
        truncated=st.booleans(),
        coverage_pixels=st.none() | _float,
    )
    names = [f"frame-{number}" for number in range(count)]
    pictures = [
        ImageRecord(
            name=name,
            frame=name,
            view=draw(st.none() | _text),
            width=draw(st.integers(1, 16384)),
            height=draw(st.integers(1, 16384)),
            png=draw(st.binary(max_size=40)),
            annotation=make_annotation(0).model_copy(update={"objects": draw(st.lists(items, max_size=3))}),
            extra=draw(st.none() | st.binary(max_size=40)),
        )
        for name in names
    ]
    task = draw(st.fixed_dictionaries({}, optional={"name": _json, "options": _json, "answer": _json, "other": _json}))
    provenance = Provenance(
        versions=draw(st.dictionaries(_text, _text, max_size=3)),
        device=draw(_text),
        cpu=draw(_text),
        created=draw(_text),
        attempt=draw(st.integers(1, 2**31 - 1)),
        seconds=draw(st.dictionaries(_text, _float, max_size=3)),
    )
    return EpisodeRecord(
        episode_id=episode_id,
        job=make_job(draw(_json_object)),
        scene=make_scene(episode_id, count, task),
        images=pictures,
        provenance=provenance,
    )
