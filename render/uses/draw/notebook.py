"""How notebooks show records and Scenes: self-contained HTML in which all text is escaped."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from diorama.render.uses.draw.canvas import Svg
from diorama.render.uses.draw.overlay import color_of
from diorama.render.uses.draw.top_view import top_view
from diorama.render.uses.draw.typography import printable
from diorama.scene_specs.errors import DioramaError
from diorama.scene_specs.model.record import EpisodeRecord, ImageRecord, ObjectAnnotation
from diorama.scene_specs.model.scene import Scene

# An image takes 70 KB or more in the notebook's file.
_MAX_IMAGES = 24
_MAX_ROWS = 100
_WIDTH = 320
_CELL = "padding:2px 10px 2px 0;text-align:left;white-space:nowrap"


def record_html(record: EpisodeRecord) -> str:
    """Return the images of an episode with boxes and names, its utterances and task, and a table of its objects."""
    settings = record.scene.settings
    device = record.provenance.device
    parts = [_title_html(record.episode_id, f"{settings.profile}, {settings.width} x {settings.height}, {device}")]
    parts += _task_html(record.scene)
    shown = zip(record.images[:_MAX_IMAGES], record.utterances(), strict=False)
    figures = [_figure_html(image, utterance) for image, utterance in shown]
    parts.append(f'<div style="display:flex;flex-wrap:wrap;gap:10px">{"".join(figures)}</div>')
    parts.append(_more_html(len(record.images) - _MAX_IMAGES, "images"))
    rows = [_object_row(image.name, item) for image in record.images for item in image.annotation.objects]
    parts.append(_rows(("image", "object", "shape", "color", "material", "size", "box", "visible"), rows))
    return f"<div>{''.join(parts)}</div>"


def scene_html(scene: Scene) -> str:
    """Return the top view of a Scene and a table of its objects."""
    settings = scene.settings
    parts = [_title_html(scene.id, f"stage {scene.stage}, {settings.profile}, {settings.width} x {settings.height}")]
    parts += _task_html(scene)
    try:
        parts.append(f'<div style="overflow-x:auto">{top_view(scene)}</div>')
    except DioramaError as error:
        # The stage or an asset may belong to a package that is not installed; the table needs neither.
        parts.append(f"<p>no top view: {_html(error)}</p>")
    rows = [
        (
            frame.name,
            item.name,
            item.shape,
            item.color or "custom",
            item.material.name,
            f"{item.scale:g}",
            ", ".join(f"{value:.2f}" for value in item.location),
            ", ".join(f"{value:.0f}" for value in item.rotation_deg),
        )
        for frame in scene.frames
        for item in frame.objects
    ]
    parts.append(_rows(("frame", "object", "shape", "color", "material", "scale", "location", "rotation (deg)"), rows))
    return f"<div>{''.join(parts)}</div>"


def _html(value: object) -> str:
    return escape(printable(str(value)))


def _title_html(name: str, facts: str) -> str:
    return f'<div style="margin:4px 0"><b>{_html(name)}</b> <span style="opacity:.7">{_html(facts)}</span></div>'


def _task_html(scene: Scene) -> Iterable[str]:
    for key, value in (scene.task or {}).items():
        if key in ("benchmark", "name", "instruction", "question", "options"):
            shown = ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
            yield f'<div style="opacity:.8">{_html(key)}: {_html(shown)}</div>'


def _figure_html(image: ImageRecord, utterance: str | None) -> str:
    data = base64.b64encode(image.png).decode("ascii")
    names = ", ".join(item.name for item in image.annotation.objects)
    smooth = "" if image.width >= _WIDTH else ";image-rendering:pixelated"
    alt = _html(f"{image.name}: {names}")
    picture = f'<img alt="{alt}" style="display:block;width:100%{smooth}" src="data:image/png;base64,{data}">'
    lines = (
        f'<svg viewBox="0 0 {image.width} {image.height}" aria-hidden="true" '
        f'style="position:absolute;left:0;top:0;width:100%;height:100%" font-family="sans-serif">{_boxes(image)}</svg>'
    )
    text = f" <i>{_html(utterance)}</i>" if utterance else ""
    caption = f'<figcaption style="font-size:90%">{_html(image.name)}{text}</figcaption>'
    return (
        f'<figure style="margin:0;width:{_WIDTH}px"><div style="position:relative">{picture}{lines}</div>{caption}'
        "</figure>"
    )


def _boxes(image: ImageRecord) -> str:
    """Boxes and names in the pixels of the image; the amodal box is dashed where it differs."""
    size = image.width / _WIDTH * 11
    svg = Svg(image.width, image.height, image.name, background=None)
    for item in image.annotation.objects:
        look: dict[str, Any] = {
            "fill": "none",
            "stroke": f"rgb{color_of(item.index)}",
            "vector_effect": "non-scaling-stroke",
        }
        if item.amodal_bbox is not None and item.amodal_bbox != item.bbox:
            svg.rect(*item.amodal_bbox, **look, stroke_dasharray=size / 4)
        if item.bbox is not None:
            svg.rect(*item.bbox, **look)
        if (box := item.bbox or item.amodal_bbox) is not None:
            halo = {"fill": "#fff", "stroke": "#111", "stroke_width": size / 4, "paint_order": "stroke"}
            svg.text((box[0], max(box[1] - size / 4, size)), item.name, size, **halo)
    return svg.elements()


def _object_row(image: str, item: ObjectAnnotation) -> tuple[str, ...]:
    box = ", ".join(map(str, item.bbox)) if item.bbox is not None else "not visible"
    look = (item.shape, item.color or "custom", item.material, item.size or f"{item.scale:g}")
    return (image, item.name, *look, box, f"{item.visible_fraction:.0%}")


def _rows(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    titles = "".join(f'<th scope="col" style="{_CELL}">{_html(name)}</th>' for name in head)
    lines = "".join(
        "<tr>" + "".join(f'<td style="{_CELL}">{_html(cell)}</td>' for cell in row) + "</tr>"
        for row in rows[:_MAX_ROWS]
    )
    table = f'<table style="margin-top:8px;border-collapse:collapse"><tr>{titles}</tr>{lines}</table>'
    return table + _more_html(len(rows) - _MAX_ROWS, "objects")


def _more_html(count: int, what: str) -> str:
    return f"<div>and {count} more {what}</div>" if count > 0 else ""
