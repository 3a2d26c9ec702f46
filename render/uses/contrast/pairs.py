"""Whether the change within each pair of a store can be seen, and where the images of a pair differ.

Two renders of one Scene differ by noise. Twins measure it: a few first members, rendered again with other seeds of
Cycles. A pixel counts as changed if it differs by more than NOISE of the pixels of twins do.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise, product
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from diorama.render.geometry.camera import Camera
from diorama.render.geometry.solid import world_vertices
from diorama.render.store.episode_store import EpisodeReader, OnProgress
from diorama.render.store.selection import iter_valid_records, pair_of_id
from diorama.render.uses.rerender.find import find, record_of_frames, scene_of_frames
from diorama.render.uses.rerender.request import EpisodeRequest
from diorama.render.uses.rerender.rerender import render_request
from diorama.scene_specs.asset_roots import in_asset_roots
from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.model.scene import SceneContrast, SceneFrame
from diorama.scene_specs.rotation import euler_matrix

# Share of the pixels of twins that count as unchanged.
NOISE = 0.99
# Around the objects that change, a share of the image's width: their shadows and reflections.
_MARGIN = 0.05
# What another object may show less of, or where the box of the rest of it is.
_VISIBILITY = {"bbox", "rle", "visible_pixels", "visible_fraction", "coverage_pixels", "index"}
# Materials that do not mirror other objects.
_DULL = ("rubber", "matte")
_Histograms = NDArray[np.int64]
_Mask = NDArray[np.bool_]


@dataclass
class Step:
    """Two neighbors of a pair or chain.

    Attributes:
        pair: id of the pair.
        change: what differs.
        members: numbers of the two.
        same_truth: whether the annotations of all other objects are equal, except for what hides them.
        changed: pixels of the changed objects, and of a margin of 5% of the width around them, that differ by more than
            noise.
        expected: the most that two seeds would change there, computed from the margins of all objects of a twin.
        beyond: of the pixels that the changed objects can't reach (see `regions`), the share that differ so.
        twins: the share of all pixels of twins that differ so.
    """

    pair: str
    change: str
    members: tuple[int, int]
    same_truth: bool
    changed: int = 0
    expected: float = 0.0
    beyond: float = 0.0
    twins: float = 0.0


@dataclass
class PairReport:
    """What is known of the pairs of a store.

    Attributes:
        steps: all neighbors that were compared.
        unseen: ids of pairs with fewer changed pixels than asked for.
        incomplete: ids of pairs that lack members.
        damaged: a line for each damaged episode.
    """

    steps: list[Step] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    incomplete: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per change: numbers of steps, median of changed pixels, and shares as in Step.

        `within_noise` counts the steps with no greater share of changed pixels beyond the objects than twins have.
        """
        by_change = defaultdict(list)
        for step in self.steps:
            by_change[step.change].append(step)
        return [
            {
                "change": change, "steps": len(some), "unseen": sum(step.pair in self.unseen for step in some),
                "changed": median(step.changed for step in some), "twins": round(some[0].twins, 6),
                "beyond": round(sum(step.beyond for step in some) / len(some), 6),
                "within_noise": sum(step.beyond <= step.twins for step in some),
                "same_truth": sum(step.same_truth for step in some),
            }
            for change, some in sorted(by_change.items())
        ]  # fmt: skip


@in_asset_roots
def check_pairs(
    store: EpisodeReader, twins: int, least: int, device: str, asset_roots: tuple[Path, ...], progress: OnProgress
) -> PairReport:
    """Compare the members of all pairs. Memory: three histograms per step.

    Args:
        store: store with the pairs.
        twins: number of twins to render, per profile and image size.
        least: changed pixels that a step must have, beyond what two seeds gave.
        device: device to render twins on.
        asset_roots: folders of .blend materials and meshes.
        progress: called with numbers of episodes done.

    Raises:
        RenderError: a twin can't be rendered.
        StoreError: the store can't be read.
        UsageError: episodes were rendered by a renderer of a module, which a store doesn't name.
    """
    report, measured, seen = PairReport(), defaultdict(list), Counter[str]()
    noise: dict[str, list[_Histograms]] = defaultdict(list)
    ids = sorted(key for key, _ in store.ids() if pair_of_id(key))
    spacing = max(sum(key.endswith("-0") for key in ids) // twins, 1)
    valid = iter_valid_records(store, ids, report.damaged, progress)
    for pair, some in groupby(
        (record for record in valid if record.scene.contrast), lambda record: _contrast_of(record).pair
    ):
        records = sorted(some, key=lambda record: _contrast_of(record).member)
        progress(len(records))
        first = _contrast_of(records[0])
        if len(records) < first.members:
            report.incomplete.append(pair)
            continue
        group = records[0].scene.settings.model_dump_json()
        seen[group] += 1
        for old, new in pairwise(records):
            members = (_contrast_of(old).member, _contrast_of(new).member)
            report.steps.append(Step(pair, first.change, members, _unchanged(old) == _unchanged(new)))
            measured[group].append((report.steps[-1], _diff(old, new, first.objects)))
        if (seen[group] - 1) % spacing == 0 and len(noise[group]) < twins:
            names = [item.name for frame in records[0].scene.frames for item in frame.objects]
            noise[group].append(_diff(records[0], _render_twin(store.url, records[0], device, asset_roots), names))
    for group, steps in measured.items():
        _judge_pixels(steps, noise[group], report, least)
    return report


def _contrast_of(record: EpisodeRecord) -> SceneContrast:
    assert record.scene.contrast is not None
    return record.scene.contrast


def _diff(old: EpisodeRecord, new: EpisodeRecord, names: Sequence[str]) -> _Histograms:
    """Histograms, (3, 256), of the largest difference of a channel.

    They are of the pixels of the objects with these names and a margin, of others that they reach, and of the rest.
    """
    counts = np.zeros((3, 256), dtype=np.int64)
    records = [record_of_frames(record, [_contrast_of(old).frame]) for record in (old, new)]
    for k, images in enumerate(zip(*(record.images for record in records), strict=True)):
        before, after = (image.color().astype(np.int16) for image in images)
        error = np.abs(before - after).max(axis=-1)
        near, reached = regions(records, k, names)
        counts += [np.bincount(error[where], minlength=256) for where in (near, reached & ~near, ~reached & ~near)]
    return counts


def regions(records: Sequence[EpisodeRecord], k: int, names: Sequence[str]) -> tuple[_Mask, _Mask]:
    """Find where changed objects can show in an image. Around the objects and shadows is a margin.

    Args:
        records: records of the two neighbors, with the changed frame only.
        k: number of the image.
        names: names of the changed objects.

    Returns:
        Two masks (H, W): the pixels of the objects, and pixels that they shade or are mirrored in.
    """
    inside, shaded, mirrors = np.zeros((3, records[0].images[k].height, records[0].images[k].width), dtype=bool)
    for record in records:
        image, (frame,) = record.images[k], record.scene.frames
        shaded |= _shadow_mask(frame, Camera.of(frame.views[k].camera, image.width, image.height), names)
        for item in image.annotation.objects:
            if item.name in names:
                inside |= item.rle.mask()
            elif item.material not in _DULL:
                mirrors |= item.rle.mask()
    reach = ImageFilter.MaxFilter(2 * round(_MARGIN * inside.shape[1]) + 1)
    near, shaded = (np.array(Image.fromarray(mask).convert("L").filter(reach), dtype=bool) for mask in (inside, shaded))
    return near, shaded | mirrors


def _shadow_mask(frame: SceneFrame, camera: Camera, names: Sequence[str]) -> _Mask:
    """(H, W) pixels between the objects with these names and their shadows on the ground, as if they were convex."""
    canvas = Image.new("1", (camera.width, camera.height))
    angles = np.linspace(0, 2 * np.pi, 64, endpoint=False)
    for item, light in product([item for item in frame.objects if item.name in names], frame.lights):
        body = world_vertices(item)
        down = -np.array(euler_matrix(light.rotation_rad or (0.0, 0.0, 0.0)))[:, 2]
        along = body - light.location if light.kind == "area" else np.broadcast_to(down, body.shape)
        falls = along[:, 2] < 0
        ground = body[falls] - along[falls] * body[falls, 2:] / along[falls, 2:]
        points = camera.project(np.concatenate([body, ground]))
        points = points[points[:, 2] > 0, :2]
        if len(points):
            # The outermost point in each direction.
            outline = points[np.argmax(points @ [np.cos(angles), np.sin(angles)], axis=0)]
            ImageDraw.Draw(canvas).polygon([*map(tuple, outline)], fill=1)
    return np.array(canvas)


def _unchanged(record: EpisodeRecord) -> list[Any]:
    """Return all images' annotations without the objects that change, and without what depends on what hides others."""
    unchanged: list[Any] = []
    for image in record.images:
        truth = image.annotation
        names = _contrast_of(record).objects if image.frame == _contrast_of(record).frame else ()
        unchanged += [item.model_dump(exclude=_VISIBILITY) for item in truth.objects if item.name not in names]
        for table in truth.relations.values():
            # Of "between", a key is "A | B".
            held = ((of, some) for of, some in table.items() if not {*of.split(" | ")} & {*names})
            unchanged += [(of, left) for of, some in held if (left := [name for name in some if name not in names])]
        unchanged += [truth.camera, truth.directions]
    return unchanged


def _render_twin(url: str, record: EpisodeRecord, device: str, roots: tuple[Path, ...]) -> EpisodeRecord:
    """Return the changed frame of a record, rendered again with another seed. Raises RenderError."""
    name = _contrast_of(record).frame
    (frame,) = scene_of_frames(record.scene, [name]).frames
    edit = f"frames[{json.dumps(name)}].seed={frame.seed ^ 1}"
    request = EpisodeRequest(
        url, record.episode_id, frames=(name,), scene_sets=(edit,), device=device, asset_roots=roots
    )
    resolved = find(request)
    if resolved.request.renderer != record.job.renderer:
        raise UsageError(
            f"{record.episode_id}: rendered by {record.job.renderer}, which this command doesn't load; compare "
            "such pairs with render-episode --renderer"
        )
    return render_request(resolved, Path())[0]


def _judge_pixels(
    steps: Sequence[tuple[Step, _Histograms]], noise: Sequence[_Histograms], report: PairReport, least: int
) -> None:
    """Count changed pixels against the noise of twins with the same settings."""
    total = np.sum(noise, axis=(0, 1))
    level = int(np.searchsorted(np.cumsum(total), NOISE * total.sum()))

    def share(counts: _Histograms) -> float:
        return float(counts[level + 1 :].sum()) / max(int(counts.sum()), 1)

    most = max(share(near) for near, *_ in noise)
    for step, (near, _, beyond) in steps:
        step.changed, step.expected = int(near[level + 1 :].sum()), round(most * float(near.sum()), 1)
        step.beyond, step.twins = share(beyond), share(total)
        if step.changed - step.expected < least and step.pair not in report.unseen:
            report.unseen.append(step.pair)
