"""`--format iwisdm-stimuli`: the stimuli of iWISDM trials as a stimulus set for the published code.

    <out>/<split>/<ref>/image.png    the quadrant of an object, 8-bit RGB
          <split>_meta.csv           ref, ctg_mod, obj_mod, ang_mod, ctg: number of the image, category, identity and
                                     side as in `--format iwisdm`; name of the category

`render-specs iwisdm stimuli` makes specs that show all of them. Frames with a fixation cross are left out. The tables
describe the store; every export without conflicts rewrites them.
"""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from PIL import Image

from diorama.scene_specs.benchmarks.iwisdm.stimuli import VARIANTS, VIEW_ANGLES, view_of
from diorama.scene_specs.benchmarks.iwisdm.truth import CompleteTruth, Truth
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.tasks.csv_table import csv_table
from diorama.scene_specs.tasks.exporting.layouts import Folder, ImageLists, Images, Written, split_of

_COLUMNS = ("ref", "ctg_mod", "obj_mod", "ang_mod", "ctg")


class Lists(ImageLists):
    """Collects the rows of the tables, by split."""

    def __init__(self, export: Folder) -> None:
        super().__init__(export)
        self._rows: dict[str, dict[int, tuple[object, ...]]] = defaultdict(dict)
        # Split -> categories and models of its episodes, which the numbers of the table refer to.
        self._lists: dict[str, tuple[object, object]] = {}

    def write(self, record: EpisodeRecord) -> Images:
        truth, split = CompleteTruth.of_record(record), split_of(record.scene.split)
        lists = (truth.categories, truth.models)
        if self._lists.get(split, lists) != lists:
            raise ValueError("numbers its models otherwise than earlier episodes; export it alone (--where, --out)")
        rows, images = {}, []
        for frame, image in zip(record.job.spec["frames"], record.images, strict=True):
            for item in () if frame.get("fixation") else frame.get("objects", ()):
                row = _table_row(item, split, truth)
                # Equal views of equal objects are equal images, whatever the trial.
                if row[0] not in self._rows[split] and row[0] not in rows:
                    rows[row[0]] = row
                    images.append((f"{split}/{row[0]}/image.png", _crop_quadrant(image.png, item["place"])))
        self._rows[split].update(rows)
        self._lists[split] = lists
        return images

    def names(self) -> list[str]:
        """Return the tables."""
        return [f"{split}_meta.csv" for split in self._rows]

    def finish(self, written: Written) -> None:
        for split, rows in self._rows.items():
            written.put({f"{split}_meta.csv": csv_table([_COLUMNS, *(rows[ref] for ref in sorted(rows))])})


def _table_row(item: Mapping[str, Any], split: str, truth: Truth) -> tuple[int, int, int, int, str]:
    """ref, category, identity, side, name of the category. Raises ValueError for another object."""
    identity = item["shape"].removeprefix("shapenet:")
    view = item.get("view") or {}
    seen = (view.get("yaw_deg", 0.0), view.get("elevation_deg", 0.0))
    category = identity.split("/")[0]
    if identity in truth.models:
        number = truth.models.index(identity)
        for side, name in enumerate(VIEW_ANGLES):
            for variant in range(VARIANTS):
                if view_of(split, identity, name, variant) == seen:
                    ref = (number * len(VIEW_ANGLES) + side) * VARIANTS + variant
                    return ref, truth.categories.index(category), number, side, category
    raise ValueError(f"found {identity} from {seen}; expected a view that iWISDM's trials show")


def _crop_quadrant(png: bytes, place: str) -> bytes:
    """Return the quadrant of an image, as PNG."""
    with Image.open(io.BytesIO(png)) as image:
        width, height = image.size
        left, top = (width // 2 if "right" in place else 0), (height // 2 if "bottom" in place else 0)
        out = io.BytesIO()
        image.convert("RGB").crop((left, top, left + width // 2, top + height // 2)).save(out, "PNG")
        return out.getvalue()
