"""Two makings of one episode, compared: pictures by error, truth value by value, circumstances by name."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from render.model.json_diff import MISSING, differences, preview_json
from render.model.png import decode_png
from render.model.record import EpisodeRecord, ImageRecord
from render.model.scene import Scene, SceneFrame

# Differences of truth that are told one by one; a moved camera changes every number.
_TOLD = 20


@dataclass(frozen=True)
class ImageComparison:
    """One image. identical: every pixel the same; same_bytes: the PNG file, too. Errors are of display values, 0
    to 255.

    changed_pixels: with any difference. largest, mean: absolute difference. psnr: dB, inf if equal.
    truth: places where the annotation differs, with both values.
    """

    name: str
    identical: bool
    same_bytes: bool
    changed_pixels: int
    largest: int
    mean: float
    psnr: float
    truth: tuple[str, ...]

    def pixels(self) -> str:
        """The pictures' error figures, for people."""
        if self.identical:
            return f"{self.name}: identical" + ("" if self.same_bytes else " in every pixel, packed otherwise")
        return (
            f"{self.name}: {self.changed_pixels} pixels differ, by at most {self.largest} of 255 "
            f"(mean {self.mean:.3f}, PSNR {self.psnr:.1f} dB)"
        )

    def line(self) -> str:
        """For people."""
        text = self.pixels()
        if self.truth:
            return f"{text}; truth differs in {len(self.truth)} places, first {self.truth[0]}"
        return text if self.identical else f"{text}; truth identical"


@dataclass(frozen=True)
class Comparison:
    """All images that both have, and what changed between the two makings.

    missing: images that are not there before, or were of another size then; nothing can be said of their pixels.
    gone: images that were there before and are not made any more.
    """

    images: tuple[ImageComparison, ...]
    changed: tuple[str, ...]
    missing: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    @property
    def identical(self) -> bool:
        """Every picture and all truth."""
        same_images = not self.missing and not self.gone
        return same_images and all(image.identical and not image.truth for image in self.images)

    def lines(self) -> list[str]:
        """For people; a single word where nothing differs."""
        if self.identical and not self.changed:
            return ["identical"]
        head = ["identical"] if self.identical else [image.line() for image in self.images]
        head += [f"{name}: nothing to compare with" for name in self.missing]
        head += [f"{name}: is no longer made" for name in self.gone]
        return head + [f"changed since: {line}" for line in self.changed]

    def as_dict(self) -> dict[str, Any]:
        """Plain data; an infinite PSNR is None, which JSON has."""
        images = [asdict(image) for image in self.images]
        for image in images:
            image["psnr"] = None if math.isinf(image["psnr"]) else round(image["psnr"], 3)
        facts = {"identical": self.identical, "images": images, "changed": list(self.changed)}
        return {**facts, "missing": list(self.missing), "gone": list(self.gone)}


def _told(old: Any, new: Any) -> tuple[str, ...]:
    found = [f"{path}: {preview_json(a)}, now {preview_json(b)}" for path, a, b in differences(old, new)]
    more = len(found) - _TOLD
    return (*found[:_TOLD], f"and {more} more") if more > 0 else tuple(found)


def compare_images(old: ImageRecord, new: ImageRecord) -> ImageComparison:
    """Two pictures of one image. Sizes must agree."""
    a, b = decode_png(old.png).astype(np.int16), decode_png(new.png).astype(np.int16)
    error = np.abs(a - b)
    mean_square = float((error.astype(np.float64) ** 2).mean())
    return ImageComparison(
        name=new.name,
        identical=mean_square == 0,
        same_bytes=old.png == new.png,
        changed_pixels=int(error.any(axis=-1).sum()),
        largest=int(error.max(initial=0)),
        mean=float(error.mean()),
        psnr=math.inf if mean_square == 0 else 10 * math.log10(255**2 / mean_square),
        truth=_told(old.annotation.model_dump(mode="json"), new.annotation.model_dump(mode="json")),
    )


def circumstances(old: EpisodeRecord, new: EpisodeRecord) -> tuple[str, ...]:
    """What differs in how two records were made, a line each: versions, device, processor, settings, assets."""
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


def scene_changes(old: Scene, new: Scene) -> tuple[str, ...]:
    """Where two Scenes differ beside settings and assets, a line a place, at most 20.

    Frames, objects and lights are paired by name.
    """
    before = {frame.name: _by_name(frame) for frame in old.frames}
    frames = [
        differences(before.pop(frame.name, MISSING), _by_name(frame), f"frames[{number}]")
        for number, frame in enumerate(new.frames)
    ]
    # By name: its number may be another frame's by now.
    frames += [differences(frame, MISSING, f"frames[{name}]") for name, frame in before.items()]
    was, now = (scene.model_dump(mode="json", exclude={"frames", "settings", "assets"}) for scene in (old, new))
    found = [
        f"{path}: {preview_json(a)}, now {preview_json(b)}"
        for walk in (differences(was, now), *frames)
        for path, a, b in walk
    ]
    more = len(found) - _TOLD
    return (*found[:_TOLD], f"and {more} more places") if more > 0 else tuple(found)


def _by_name(frame: SceneFrame) -> dict[str, Any]:
    """A frame as plain data, its objects and lights by name: one taken out doesn't make all that follow differ."""
    data = frame.model_dump(mode="json")
    return {**data, **{key: {item["name"]: item for item in data[key]} for key in ("objects", "lights")}}


def compare_records(old: EpisodeRecord, new: EpisodeRecord) -> Comparison:
    """What both have, image by image, and what changed: versions, device, processor, settings, assets."""
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
