"""`--format clevr-masks`: boxes and masks for CLEVR's published images, which the published files lack.

    render-export CLEVR_val_scenes.json --format clevr-masks --out masks
    <out>/CLEVR_val_masks.json    info, scenes: image_index, image_filename, camera, objects

Objects are in the order of the scene file. Each has bbox, amodal_bbox ([x, y, width, height]; amodal: the object alone,
inside the image), mask (COCO run lengths), visible_pixels, alone_pixels, visible_fraction, truncated.

Accuracy. The camera's location is solved from `pixel_coords`, which hold unrounded depths: to about 1e-6 units unless
the objects are in a row, which moves no edge by a hundredth of a pixel. Shapes are Diorama's meshes with CLEVR's sizes:
spheres agree; the rounding of cubes' and cylinders' edges is fitted and may be off by a fraction of a pixel. `camera`
holds the residuals of each scene. A scene whose camera can't be found is reported and left out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from diorama.render.annotations.annotate import camera_annotation
from diorama.render.geometry.camera import Camera
from diorama.render.geometry.raster import Pose, compose, mask_box, rasterize
from diorama.render.geometry.solid import solid
from diorama.render.uses.export.protocol import ExportOptions, ExportReport
from diorama.render.uses.io.atomic_output import FileConflictError, below, output_lock, put_file
from diorama.scene_specs.benchmarks.clevr.importing import read_published_scenes
from diorama.scene_specs.errors import ConflictError, StoreError, UsageError
from diorama.scene_specs.files.foreign import read_foreign
from diorama.scene_specs.files.writing import GrowingFile, compact_json, open_growing
from diorama.scene_specs.language.vocabulary import SIZES
from diorama.scene_specs.model.record import RLE
from diorama.scene_specs.model.scene import SceneCamera
from diorama.scene_specs.model.spec import FrameSpec
from diorama.scene_specs.model.stage import load_stage
from diorama.scene_specs.tasks.importing.scenes import SIZES_OF_IMAGES, STAGE, Recovery, SourceFile, frame_of, recover

FROM_FILES = True
FORMAT_VERSION = 1
# Scenes between two writes of the journal.
_FLUSH = 200


def export(file: Path, out: Path, options: ExportOptions, progress: Callable[[int], None]) -> ExportReport:
    """Write masks for a scene file; `progress` receives the scenes done since the last call. Memory: the file's text.

    A stopped export continues from its journal.

    Raises:
        SpecError: for a file that is not a scene file.
        StoreError: the store can't be read or written.
        UsageError: an argument, option or name is wrong.
    """
    report = ExportReport()
    digest = _file_digest(file)
    name = file.stem.removesuffix("_scenes") + "_masks"
    with output_lock(out):
        path = below(out, f".{name}.jsonl")
        try:
            with open_growing(path) as journal:
                lines = _missing_lines(journal, file, digest, options.limit, progress)
                while part := "".join(islice(lines, _FLUSH)):
                    journal.append(part)
                _write_result(journal, below(out, f"{name}.json"), file, digest, options, report)
            path.unlink()
        except FileConflictError as error:
            report.differing.append(str(error))
        except OSError as error:
            raise StoreError(f"writing below {out} failed: {error}") from error
    return report


def _file_digest(file: Path) -> str:
    try:
        return hashlib.sha256(read_foreign(file)).hexdigest()
    except OSError as error:
        raise UsageError(f"{file}: can't be read: {error.strerror or error}; name a CLEVR scene file") from error


def _missing_lines(
    journal: GrowingFile, file: Path, digest: str, limit: int | None, progress: Callable[[int], None]
) -> Iterator[str]:
    """Yield the lines that the journal of a stopped export lacks. Raises ConflictError for a file of somebody else."""
    head = compact_json({"format_version": FORMAT_VERSION, "source_sha256": digest})
    first, *scenes = [line for _, line in journal.read_and_repair(b"{")] or [b""]
    if first != head.encode():
        if first and not first.startswith(b'{"format_version":'):
            raise ConflictError(
                f"{journal.path} was not written by Diorama; move it away, or pass another --out folder"
            )
        journal.truncate(0)
        scenes = []
        yield f"{head}\n"
    for scene, at in islice(read_published_scenes(file), len(scenes), limit):
        yield f"{compact_json(_masks_of(scene, SourceFile(str(file), at=at)))}\n"
        progress(1)


def _write_result(
    journal: GrowingFile, target: Path, file: Path, digest: str, options: ExportOptions, report: ExportReport
) -> None:
    lines = journal.contents().decode().split("\n")[1:-1][: options.limit]
    problems = [json.loads(line).get("problem") for line in lines]
    scenes = [line for line, problem in zip(lines, problems, strict=True) if problem is None]
    report.failed += [problem for problem in problems if problem is not None]
    info = {"source": file.name, "source_sha256": digest, "format_version": FORMAT_VERSION}
    text = f'{{"info": {compact_json(info)},\n"scenes": [\n' + ",\n".join(scenes) + "]}\n"
    if put_file(target.parent, target.name, text.encode(), options.overwrite):
        report.exported += len(scenes)
    else:
        report.skipped += len(scenes)


def _masks_of(scene: Any, source: SourceFile) -> dict[str, Any]:
    """Return a scene with boxes and masks, or with `problem` if it can't be done."""
    source.camera = "nominal"
    frame = frame_of(scene, source)
    if frame is None:
        return {"problem": "; ".join(str(diagnostic) for diagnostic in source.diagnostics)}
    try:
        recovery = _recover_camera(scene, frame)
    except ValueError as error:
        return {"problem": f"{source.location()}: {error}"}
    head = {key: scene[key] for key in ("image_index", "image_filename", "split") if key in scene}
    camera = _camera_of(recovery)
    matrices = camera_annotation(camera).model_dump(mode="json", include={"intrinsics", "extrinsics"})
    recovered = {key: getattr(recovery, key) for key in ("location", "size", "depth_residual", "pixel_residual")}
    return {**head, "camera": {**recovered, **matrices}, "objects": list(_objects_with_masks(frame, camera))}


def _recover_camera(scene: dict[str, Any], frame: FrameSpec) -> Recovery:
    """Return the camera that its objects fix. Raises ValueError."""
    stage = load_stage(STAGE).camera
    pixels = [item.get("pixel_coords") for item in scene["objects"]]
    if len(pixels) < 3:
        raise ValueError(f"{len(pixels)} object{'' if len(pixels) == 1 else 's'}; finding the camera takes at least 3")
    if frame.pointer is not None or not all(map(_is_pixel, pixels)):
        raise ValueError("it has a pointer, or an object without pixel_coords [x, y, depth]")
    points = np.array([item.location for item in frame.objects], dtype=np.float64)
    focal = stage.lens / stage.sensor_width
    fit = recover(points, np.array(pixels, dtype=np.float64), stage.location, focal, SIZES_OF_IMAGES)
    if fit is None or not fit.consistent:
        off = f" (off by {fit.depth_residual:.2g} in depth and {fit.pixel_residual:.2g} pixels)" if fit else ""
        raise ValueError(f"its pixel_coords match no camera that looks at the origin{off}")
    return fit


def _is_pixel(value: Any) -> bool:
    match value:
        case [int() | float(), int() | float(), int() | float()]:
            return all(abs(number) < 1e6 for number in value)
    return False


def _camera_of(recovery: Recovery) -> Camera:
    nominal = load_stage(STAGE).camera
    facts = {key: getattr(nominal, key) for key in ("look_at", "lens", "sensor_width", "clip")}
    return Camera.of(SceneCamera(location=recovery.location, **facts), *recovery.size)


def _objects_with_masks(frame: FrameSpec, camera: Camera) -> Iterator[dict[str, Any]]:
    ground = load_stage(STAGE).ground
    layers = []
    for item in frame.objects:
        x, y, z = (float(v) for v in item.location or ())
        turn = item.rotation_deg if isinstance(item.rotation_deg, float) else 0.0
        pose = Pose((0.0, 0.0, turn), SIZES[str(item.size)], (x, y, z))
        layers.append(rasterize(solid(str(item.shape)), pose, camera, ground))
    order, _ = compose(layers, camera.width, camera.height)
    for number, layer in enumerate(layers, start=1):
        mask = order == number
        visible, alone = int(np.count_nonzero(mask)), layer.pixels
        rle = RLE.of(mask)
        yield {
            "bbox": mask_box(mask),
            "amodal_bbox": layer.box,
            "mask": {"size": rle.size, "counts": rle.counts},
            "visible_pixels": visible,
            "alone_pixels": alone,
            "visible_fraction": round(min(visible / alone, 1.0), 6) if alone else 0.0,
            "truncated": layer.truncated,
        }
