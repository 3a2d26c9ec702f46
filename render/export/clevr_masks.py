"""`--format clevr-masks`: boxes and masks for CLEVR's published pictures, which its files don't have.

    render-export CLEVR_val_scenes.json --format clevr-masks --out masks
    <out>/CLEVR_val_masks.json    info, scenes: image_index, image_filename, camera, objects

Objects are in the order of the scene file, each with bbox, amodal_bbox ([x, y, width, height]; amodal: the object
alone, inside the image), mask (COCO run lengths), visible_pixels, alone_pixels, visible_fraction, truncated.

How exact. The camera's place is solved from `pixel_coords`, which hold unrounded depths: to about 1e-6 units where the
objects are not in a row, which moves no edge by a hundredth of a pixel. Shapes are our own meshes, made to CLEVR's
measures: spheres agree; the rounding of cubes' and cylinders' edges is fitted, and may be off by a fraction of a pixel.
`camera` says how well the numbers of each scene agree. A scene whose camera can't be found is named and left out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from render.annotations.annotate import encode_mask
from render.export._pictures import Differs, compact_json, put_file
from render.export.protocol import ExportOptions, ExportReport, output_lock
from render.geometry.camera import Camera
from render.geometry.raster import Pose, compose, mask_box, rasterize
from render.geometry.solid import solid
from render.model.errors import StoreError, UsageError
from render.model.scene import SceneCamera
from scene_specs.importing.camera import Recovery, recover
from scene_specs.importing.clevr import published_scenes
from scene_specs.importing.scenes import SIZES_OF_IMAGES, STAGE, SourceFile, frame_of
from scene_specs.language.spec import FrameSpec
from scene_specs.language.stage import load_stage
from scene_specs.language.vocabulary import SIZES

FORMAT_VERSION = 1
# So often what is done so far is brought to the disk.
_FLUSH = 200


def export(file: Path, out: Path, options: ExportOptions, progress: Callable[[int], None]) -> ExportReport:
    """Write masks for a scene file; `progress` gets the scenes done since its last call. Memory: the file's text.

    Stopped, it goes on where it was. Raises SpecError for a file that is no scene file, StoreError, UsageError.
    """
    report = ExportReport()
    digest = _digest(file)
    name = file.stem.removesuffix("_scenes") + "_masks"
    with output_lock(out):
        partial = out / f".{name}.jsonl"
        done = _done(partial, digest)
        lines: list[str] = []
        try:
            for number, (scene, at) in enumerate(published_scenes(file)):
                if options.limit is not None and number >= options.limit:
                    break
                if number >= done:
                    lines.append(compact_json(_one(scene, SourceFile(str(file), at=at))))
                    if len(lines) >= _FLUSH:
                        _append(partial, digest, lines)
                    progress(1)
            _append(partial, digest, lines)
            _join(partial, out / f"{name}.json", file, digest, options, report)
            partial.unlink()
        except Differs as error:
            report.differing.append(str(error))
        except OSError as error:
            raise StoreError(f"writing below {out} failed: {error}") from error
    return report


def _digest(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"{file}: can't be read: {error.strerror or error}; name a CLEVR scene file") from error


def _done(partial: Path, digest: str) -> int:
    """Scenes that an export of the same file, which was stopped, has done; what it cut short is cut away."""
    try:
        data = partial.read_bytes()
    except FileNotFoundError:
        return 0
    whole = data[: data.rfind(b"\n") + 1]
    lines = whole.splitlines()
    if not lines or lines[0] != _head(digest).encode():
        partial.unlink()
        return 0
    partial.write_bytes(whole)
    return len(lines) - 1


def _head(digest: str) -> str:
    return compact_json({"format_version": FORMAT_VERSION, "source_sha256": digest})


def _append(partial: Path, digest: str, lines: list[str]) -> None:
    with partial.open("a", encoding="utf-8") as stream:
        if stream.tell() == 0:
            stream.write(_head(digest) + "\n")
        stream.writelines(f"{line}\n" for line in lines)
    lines.clear()


def _join(partial: Path, target: Path, file: Path, digest: str, options: ExportOptions, report: ExportReport) -> None:
    with partial.open(encoding="utf-8") as stream:
        next(stream)
        scenes = []
        for line in stream:
            scene = json.loads(line)
            if "problem" in scene:
                report.failed.append(scene["problem"])
            else:
                scenes.append(line.rstrip("\n"))
    info = {"source": file.name, "source_sha256": digest, "format_version": FORMAT_VERSION}
    text = f'{{"info": {compact_json(info)},\n"scenes": [\n' + ",\n".join(scenes) + "]}\n"
    new = put_file(target, text.encode(), options)
    report.exported += len(scenes) if new else 0
    report.skipped += 0 if new else len(scenes)


def _one(scene: Any, source: SourceFile) -> dict[str, Any]:
    """One scene with boxes and masks; `problem` instead where it can't be done."""
    source.camera = "nominal"
    frame = frame_of(scene, source)
    if frame is None:
        return {"problem": "; ".join(str(diagnostic) for diagnostic in source.diagnostics)}
    found, problem = _camera(scene, frame)
    if found is None:
        return {"problem": f"{source.location()}: {problem}"}
    head = {key: scene[key] for key in ("image_index", "image_filename", "split") if key in scene}
    camera = {
        "location": found.location,
        "size": found.size,
        "depth_residual": found.depth_residual,
        "pixel_residual": found.pixel_residual,
    }
    return {**head, "camera": camera, "objects": list(_objects(frame, found))}


def _camera(scene: dict[str, Any], frame: FrameSpec) -> tuple[Recovery | None, str]:
    stage = load_stage(STAGE).camera
    pixels = [item.get("pixel_coords") for item in scene["objects"]]
    if len(pixels) < 3:
        return None, f"{len(pixels)} objects; at least 3 are needed to find the camera"
    if frame.pointer is not None or not all(_three_numbers(one) for one in pixels):
        return None, "an object without pixel_coords [x, y, depth], or a pointer"
    points = np.array([item.location for item in frame.objects], dtype=np.float64)
    found = recover(
        points, np.array(pixels, dtype=np.float64), stage.location, stage.lens / stage.sensor_width, SIZES_OF_IMAGES
    )
    if found is None:
        return None, "no camera aimed at the origin explains its numbers"
    if not found.consistent:
        off = f"off by {found.depth_residual:.2g} in depth and {found.pixel_residual:.2g} pixels"
        return None, f"its numbers fit no camera aimed at the origin ({off})"
    return found, ""


def _three_numbers(value: Any) -> bool:
    numbers = isinstance(value, list) and all(isinstance(v, int | float) and abs(v) < 1e6 for v in value)
    return numbers and len(value) == 3


def _objects(frame: FrameSpec, found: Recovery) -> Iterator[dict[str, Any]]:
    stage = load_stage(STAGE)
    scene_camera = SceneCamera(
        location=found.location,
        look_at=stage.camera.look_at,
        lens=stage.camera.lens,
        sensor_width=stage.camera.sensor_width,
        clip=stage.camera.clip,
    )
    width, height = found.size
    camera = Camera.of(scene_camera, width, height)
    layers = []
    for item in frame.objects:
        x, y, z = (float(v) for v in item.location or ())
        turn = item.rotation_deg if isinstance(item.rotation_deg, float) else 0.0
        pose = Pose((0.0, 0.0, turn), SIZES[str(item.size)], (x, y, z))
        layers.append(rasterize(solid(str(item.shape)), pose, camera, stage.ground))
    order, _ = compose(layers, width, height)
    for number, layer in enumerate(layers, start=1):
        mask = order == number
        visible, alone = int(np.count_nonzero(mask)), layer.pixels
        rle = encode_mask(mask)
        yield {
            "bbox": mask_box(mask),
            "amodal_bbox": layer.box,
            "mask": {"size": rle.size, "counts": rle.counts},
            "visible_pixels": visible,
            "alone_pixels": alone,
            "visible_fraction": round(min(visible / alone, 1.0), 6) if alone else 0.0,
            "truncated": layer.truncated,
        }
