"""Whether images agree with a reference, except for noise: Z-tests of pixels and of the means of regions.

A reference is what many renders with independent seeds have in common: mean and standard deviation of each display
value, and of the mean over each region. Display values are what users get, and a wrong color space shows in them. They
are bounded, so that a few bright samples cannot hide a change.

- Pixels, as in Mitsuba 3 (src/render/tests/test_renders.py): 99.75 % of the values must agree, each at a significance
  of 1 %, corrected for their number (Sidak). This finds what moved. Light that glass focuses is far from normally
  distributed, so twice the share that differs among the reference's own renders may differ in addition.
- Regions: each object, the rest of the image, and their parts in a grid of tiles. Their means must agree in each
  channel. This finds a bias that is far smaller than the noise of a pixel. FALSE_ALARMS is for all scenes together.

Both allow for the uncertainty of the reference. Deviations are estimated, so Student's distribution applies.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diorama.scene_specs.files.atomic import write_atomic

# Renders with different seeds whose mean is tested.
RENDERS = 16
# Probability that the regions of all scenes together fail, although nothing changed.
FALSE_ALARMS = 1e-4
PIXEL_SIGNIFICANCE = 0.01
MOST_DIFFERING = 0.0025
# Side of the tiles, and the least number of an object's pixels in a tile, so that their mean is normally distributed.
_TILE, _LEAST_PIXELS = 8, 16
# Standard deviation of rounding to whole numbers: the least that a display value has.
_ROUNDING = 12**-0.5
# Display values and their deviations are kept as 16-bit integers in steps of 1/256.
_STEPS = 256

Floats = NDArray[np.float64]


class Region(NamedTuple):
    """name: for messages. mask: (H, W) bool."""

    name: str
    mask: NDArray[np.bool_]


def regions_of(ids: NDArray[np.uint16]) -> Iterator[Region]:
    """Return the regions of an image with these (H, W) instance ids, 0 for none."""
    for index in np.unique(ids):
        name = f"object {index}" if index else "pixels without object"
        yield Region(name, ids == index)
        for top in range(0, ids.shape[0], _TILE):
            for left in range(0, ids.shape[1], _TILE):
                mask = np.zeros(ids.shape, dtype=np.bool_)
                tile = np.s_[top : top + _TILE, left : left + _TILE]
                mask[tile] = ids[tile] == index
                if np.count_nonzero(mask) >= _LEAST_PIXELS:
                    yield Region(f"{name} in the tile at row {top}, column {left}", mask)


def region_means(images: NDArray[np.uint8], ids: NDArray[np.uint16]) -> Floats:
    """Return the mean of each image over each region: (N, H, W, 3) -> (N, R, 3)."""
    return np.stack([images[:, region.mask].mean(axis=1) for region in regions_of(ids)], axis=1)


@dataclass(frozen=True)
class Reference:
    """Display values, 0 to 255, of `seeds` independent renders of one scene.

    about: what rendered them. mean, deviation: (H, W, 3), of one render. ids: (H, W) instance ids, 0 for none.
    region_mean, region_deviation: (R, 3), of the mean over a region of one render. differing: largest share of values
    that differ significantly between RENDERS of the renders and all others.
    """

    about: str
    seeds: int
    mean: Floats
    deviation: Floats
    ids: NDArray[np.uint16]
    region_mean: Floats
    region_deviation: Floats
    differing: float

    @classmethod
    def of(cls, images: NDArray[np.uint8], ids: NDArray[np.uint16], about: str) -> Reference:
        """Return the reference that (N, H, W, 3) images give."""
        regions = region_means(images, ids)
        return cls(
            about=about,
            seeds=len(images),
            mean=_steps(images.mean(axis=0)) / _STEPS,
            deviation=_steps(images.std(axis=0, ddof=1)) / _STEPS,
            ids=ids,
            region_mean=regions.mean(axis=0),
            region_deviation=regions.std(axis=0, ddof=1),
            differing=_share_by_noise(images),
        )

    def save(self, path: Path) -> None:
        """Write it as a compressed .npz file."""
        out = io.BytesIO()
        packed = {"mean": _steps(self.mean), "deviation": _steps(self.deviation)}
        np.savez_compressed(out, **{**asdict(self), **packed})
        write_atomic(path, out.getvalue())

    @classmethod
    def load(cls, path: Path) -> Reference:
        """Read what `save` wrote."""
        with np.load(path, allow_pickle=False) as kept:
            values = dict(kept)
        for name in ("mean", "deviation"):
            values[name] = values[name] / _STEPS
        # Numbers and text are read as arrays.
        return cls(**{name: value if value.ndim else value.item() for name, value in values.items()})


@dataclass(frozen=True)
class Comparison:
    """What a test of one scene found.

    regions: their names. difference: (R, 3), of their means, in display values. region_z: (R, 3), none of which may
    exceed region_limit. pixel_z: (H, W, 3), of which the share most_differing may exceed pixel_limit.
    """

    regions: tuple[str, ...]
    difference: Floats
    region_z: Floats
    region_limit: float
    pixel_z: Floats
    pixel_limit: float
    most_differing: float

    @property
    def differing(self) -> float:
        """Share of the pixels' values that differ significantly."""
        return float((np.abs(self.pixel_z) > self.pixel_limit).mean())

    @property
    def region_excess(self) -> float:
        """Largest |Z| of a region as a multiple of its limit."""
        return float(np.abs(self.region_z).max()) / self.region_limit

    @property
    def pixel_excess(self) -> float:
        """Share of differing values as a multiple of what is allowed."""
        return self.differing / self.most_differing

    @property
    def passes(self) -> bool:
        """Whether the images agree with the reference."""
        return self.region_excess <= 1 and self.pixel_excess <= 1

    def problems(self) -> list[str]:
        """Return what differs significantly, one sentence each, the worst regions first; empty if the test passes."""
        found = []
        if self.pixel_excess > 1:
            allowed = f"|Z| > {self.pixel_limit:.2f}, allowed {self.most_differing:.2%}"
            found.append(f"{self.differing:.2%} of the pixels' values differ by {allowed}")
        order = np.argsort(-np.abs(self.region_z), axis=None)
        for row, channel in zip(*np.unravel_index(order, self.region_z.shape), strict=True):
            z = self.region_z[row, channel]
            if abs(z) <= self.region_limit or len(found) == 5:
                break
            change = f"the mean of {'RGB'[channel]} differs by {self.difference[row, channel]:+.2f} of 255"
            found.append(f"{self.regions[row]}: {change}, Z {z:+.1f}, allowed {self.region_limit:.2f}")
        return found


def compare(images: NDArray[np.uint8], reference: Reference, scenes: int) -> Comparison:
    """Compare the mean of (N, H, W, 3) images with a reference. scenes: number of scenes that are tested together."""
    regions = tuple(regions_of(reference.ids))
    noise = np.sqrt(1 / len(images) + 1 / reference.seeds)
    difference = region_means(images, reference.ids).mean(axis=0) - reference.region_mean
    floor = _ROUNDING / np.sqrt([[np.count_nonzero(region.mask)] for region in regions])
    return Comparison(
        regions=tuple(region.name for region in regions),
        difference=difference,
        region_z=difference / (np.maximum(reference.region_deviation, floor) * noise),
        region_limit=limit(FALSE_ALARMS, scenes * difference.size, reference.seeds),
        pixel_z=_pixel_z(images, reference.mean, reference.deviation, reference.seeds),
        pixel_limit=limit(PIXEL_SIGNIFICANCE, reference.ids.size, reference.seeds),
        most_differing=MOST_DIFFERING + 2 * reference.differing,
    )


def _pixel_z(images: NDArray[np.uint8], mean: Floats, deviation: Floats, seeds: int) -> Floats:
    """Z of the mean of (N, H, W, 3) images, against mean and deviation of `seeds` others."""
    noise = np.sqrt(1 / len(images) + 1 / seeds)
    z: Floats = (images.mean(axis=0) - mean) / (np.maximum(deviation, _ROUNDING) * noise)
    return z


def _share_by_noise(images: NDArray[np.uint8]) -> float:
    """Return the largest share of values that differ significantly between RENDERS images and the others."""
    shares = []
    for start in range(0, len(images) - RENDERS + 1, RENDERS):
        others = np.delete(images, np.s_[start : start + RENDERS], axis=0)
        z = _pixel_z(images[start : start + RENDERS], others.mean(axis=0), others.std(axis=0, ddof=1), len(others))
        shares.append(float((np.abs(z) > limit(PIXEL_SIGNIFICANCE, z[..., 0].size, len(others))).mean()))
    return max(shares)


def limit(significance: float, tests: int, seeds: int) -> float:
    """Return the |Z| that any of `tests` independent two-sided tests exceeds by chance with this probability (Sidak).

    seeds: from which the standard deviation was estimated. The Cornish-Fisher expansion of Student's quantile is
    within 1e-3 of it from 100 seeds on.
    """
    single = -np.expm1(np.log1p(-significance) / tests)
    z = -NormalDist().inv_cdf(single / 2)
    freedom = seeds - 1
    return float(z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2))


def _steps(values: Floats) -> NDArray[np.uint16]:
    steps: NDArray[np.uint16] = np.rint(values * _STEPS).astype(np.uint16)
    return steps
