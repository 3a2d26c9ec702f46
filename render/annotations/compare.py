"""Compare two records of one episode: images by error, annotations by value, provenance by name."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from diorama.scene_specs.language.json_diff import differences, preview_json
from diorama.scene_specs.model.record import EpisodeRecord, ImageRecord

# Differences listed one by one; a moved camera changes every number.
_MOST_LINES = 20


@dataclass(frozen=True)
class ImageComparison:
    """One image of both records. Errors are differences of display values, 0 to 255.

    Attributes:
        identical: whether all pixels are equal.
        same_bytes: whether the PNG files are, too.
        changed_pixels: how many pixels differ.
        largest: absolute difference.
        mean: absolute difference.
        psnr: dB, inf if equal.
        truth: differences of the annotations.
    """

    name: str
    identical: bool
    same_bytes: bool
    changed_pixels: int
    largest: int
    mean: float
    psnr: float
    truth: tuple[str, ...]

    def pixel_errors(self) -> str:
        """Return the errors as text."""
        if self.identical:
            return f"{self.name}: identical" + ("" if self.same_bytes else " in every pixel, packed otherwise")
        return (
            f"{self.name}: {self.changed_pixels} pixels differ, by at most {self.largest} of 255 "
            f"(mean {self.mean:.3f}, PSNR {self.psnr:.1f} dB)"
        )

    def line(self) -> str:
        """Return the comparison as text."""
        text = self.pixel_errors()
        if self.truth:
            return f"{text}; truth differs in {len(self.truth)} places, first {self.truth[0]}"
        return text if self.identical else f"{text}; truth identical"


@dataclass(frozen=True)
class Comparison:
    """All images of both records, and the changes of their provenance.

    Attributes:
        missing: new images, and images whose size changed.
        gone: images that only the old record has.
    """

    images: tuple[ImageComparison, ...]
    changed: tuple[str, ...]
    missing: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    @property
    def identical(self) -> bool:
        """Whether all images and annotations are equal."""
        same_images = not self.missing and not self.gone
        return same_images and all(image.identical and not image.truth for image in self.images)


def diff_lines(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """Yield a line for each difference of two JSON values."""
    for where, a, b in differences(old, new, path):
        yield f"{where}: {preview_json(a)}, now {preview_json(b)}"


def first_lines(lines: Iterable[str], rest: str) -> tuple[str, ...]:
    """Return the first lines; `rest` describes how many follow."""
    listed = tuple(lines)
    more = len(listed) - _MOST_LINES
    return (*listed[:_MOST_LINES], rest.format(more)) if more > 0 else listed


def compare_images(old: ImageRecord, new: ImageRecord) -> ImageComparison:
    """Compare two images of the same size."""
    a, b = old.color().astype(np.int16), new.color().astype(np.int16)
    error = np.abs(a - b)
    mean_square = float((error.astype(np.float64) ** 2).mean())
    # Records of before 0.2 lack extents.
    was, now = (
        image.annotation.model_dump(mode="json", exclude=None if old.annotation.extents else {"extents"})
        for image in (old, new)
    )
    return ImageComparison(
        name=new.name,
        identical=mean_square == 0,
        same_bytes=old.png == new.png,
        changed_pixels=int(error.any(axis=-1).sum()),
        largest=int(error.max(initial=0)),
        mean=float(error.mean()),
        psnr=math.inf if mean_square == 0 else 10 * math.log10(255**2 / mean_square),
        truth=first_lines(diff_lines(was, now), "and {} more"),
    )


def circumstances(old: EpisodeRecord, new: EpisodeRecord) -> tuple[str, ...]:
    """Differences in how two records were made, one line each: versions, device, processor, settings, assets."""
    pairs = (
        ("", old.provenance.versions, new.provenance.versions),
        ("device", old.provenance.device, new.provenance.device),
        ("processor", old.provenance.cpu, new.provenance.cpu),
        ("settings", old.scene.settings.model_dump(mode="json"), new.scene.settings.model_dump(mode="json")),
        ("asset", old.scene.assets, new.scene.assets),
    )
    return tuple(
        f"{name} {path}".strip() + f": {preview_json(a)}, now {preview_json(b)}"
        for name, was, now in pairs
        for path, a, b in differences(was, now)
    )


def compare_records(old: EpisodeRecord, new: EpisodeRecord) -> Comparison:
    """Compare two records image by image, and their versions, device, processor, settings and assets."""
    before = {image.name: image for image in old.images}
    now = {image.name for image in new.images}
    compared, missing = [], []
    for image in new.images:
        was = before.get(image.name)
        if was is None or (was.width, was.height) != (image.width, image.height):
            missing.append(image.name)
        else:
            compared.append(compare_images(was, image))
    gone = tuple(name for name in before if name not in now)
    return Comparison(tuple(compared), circumstances(old, new), tuple(missing), gone)
