"""Try a GPU with bare bpy: devices, kernels, speed, differences.

    python -m tools gpu-probe            # --kinds CPU if the machine has no GPU
    python -m tools gpu-probe --size 64x48 --samples 2 --images 2 --processes 1,2 --kinds CPU    # a quick try

Prints the devices that Cycles finds, how long kernels take, images per second, and how images differ, one line at a
time. Needs only numpy and bpy, and also runs as `python tools/gpu_probe.py` without Diorama.
"""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
import tempfile
import time
from argparse import SUPPRESS, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Planes = dict[str, NDArray[Any]]
OBJECTS: tuple[tuple[str, tuple[float, float, float], tuple[float, ...], dict[str, float]], ...] = (
    ("cube", (-1.6, -1.0, 0.7), (0.68, 0.14, 0.14, 1), {"Roughness": 0.6}),
    ("uv_sphere", (0.2, 1.7, 0.7), (0.16, 0.29, 0.84, 1), {"Metallic": 1, "Roughness": 0.2}),
    ("cylinder", (1.3, -1.2, 0.7), (0.11, 0.41, 0.08, 1), {"Transmission Weight": 1, "Roughness": 0, "IOR": 1.1}),
)
LIGHTS = (((6.4, -2.9, 4.3), 236.0), ((-4.7, -4.0, 3.0), 63.0), ((-1.2, 2.6, 5.8), 118.0))
_start = time.perf_counter()


def say(text: str) -> None:
    """Print a finding with the seconds since the start."""
    sys.stdout.write(f"{time.perf_counter() - _start:7.1f} s  {text}\n")
    sys.stdout.flush()


def aim(item: Any) -> Any:
    """Turn a light or a camera to the origin and return it."""
    item.rotation_euler = (-item.location).to_track_quat("-Z", "Y").to_euler()
    return item


def build_scene(args: Namespace) -> Any:
    """Build a CLEVR-like scene: ground, three lights, a rubber, a metal and a glass object."""
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    bpy.ops.mesh.primitive_plane_add(size=60)
    for k, (shape, place, color, look) in enumerate(OBJECTS):
        getattr(bpy.ops.mesh, f"primitive_{shape}_add")(location=place, scale=(0.7,) * 3)
        made = bpy.context.object
        made.name, made.pass_index = shape, k + 1
        material = bpy.data.materials.new(shape)
        material.use_nodes = True
        for key, value in {**look, "Base Color": color}.items():
            material.node_tree.nodes["Principled BSDF"].inputs[key].default_value = value
        made.data.materials.append(material)
    for place, energy in LIGHTS:
        bpy.ops.object.light_add(type="AREA", location=place)
        aim(bpy.context.object)
        bpy.context.object.data.energy, bpy.context.object.data.size = energy, 0.7
    bpy.ops.object.camera_add(location=(7.48, -6.5, 5.34))
    scene.camera = aim(bpy.context.object)
    scene.camera.data.lens, scene.camera.data.sensor_width = 35, 32
    render, cycles, layer = scene.render, scene.cycles, scene.view_layers[0]
    render.engine, (render.resolution_x, render.resolution_y) = "CYCLES", args.size
    cycles.samples, cycles.use_adaptive_sampling, cycles.use_light_tree = args.samples, False, False
    cycles.use_denoising, cycles.denoiser, cycles.denoising_prefilter = True, "OPENIMAGEDENOISE", "NONE"
    layer.use_pass_z = layer.use_pass_object_index = True
    render.image_settings.file_format = "OPEN_EXR_MULTILAYER"
    render.image_settings.color_depth, render.image_settings.exr_codec = "32", "NONE"
    return scene


def enable_devices(scene: Any, kind: str, denoiser: str) -> list[str]:
    """Switch on all devices of a kind and return their names."""
    import bpy

    preferences = bpy.context.preferences.addons["cycles"].preferences
    preferences.refresh_devices()
    names = [str(d.name) for d in preferences.get_devices_for_type(kind) or [] if d.type == kind]
    preferences.compute_device_type = "NONE" if kind == "CPU" else kind
    for device in preferences.devices:
        device.use = device.type == kind
    scene.cycles.device = "CPU" if kind == "CPU" else "GPU"
    scene.cycles.denoising_use_gpu = denoiser == "GPU"
    return names


def render(scene: Any, number: int, file: Path, seed: int = 0) -> float:
    """Render image `number`, with its own layout, and return the seconds."""
    import bpy

    scene.cycles.seed = seed
    for k, (shape, (x, y, z), _, _) in enumerate(OBJECTS):
        bpy.data.objects[shape].location = (x + 0.1 * ((number * (k + 3)) % 7), y, z)
    scene.render.filepath = str(file)
    start = time.perf_counter()
    # Cycles reports some failures only on standard output.
    with tempfile.TemporaryFile("w+") as output:
        kept = os.dup(1)
        os.dup2(output.fileno(), 1)
        try:
            bpy.ops.render.render(write_still=True)
        finally:
            os.dup2(kept, 1)
            os.close(kept)
        seconds = time.perf_counter() - start
        output.seek(0)
        for line in output:
            if any(word in line.lower() for word in ("error", "fail", "warn", "compil")):
                say(f"Cycles: {line.strip()}")
    return seconds


def planes(file: Path) -> Planes:
    """Read an uncompressed 32-bit OpenEXR file: channel without layer -> (H, W); color: (H, W, 3), 0 to 255."""
    data, at = file.read_bytes(), 8
    attributes: dict[bytes, bytes] = {}
    while data[at]:
        key, _, rest = data[at:].split(b"\0", 2)
        at = len(data) - len(rest) + 4
        (size,) = struct.unpack_from("<i", rest)
        attributes[key], at = data[at : at + size], at + size
    box = struct.unpack("<4i", attributes[b"dataWindow"])
    # Each channel is its name, a zero byte, and 16 bytes of numbers.
    names = [name.decode() for name in re.findall(rb"([^\0]+)\0.{16}", attributes[b"channels"], re.DOTALL)]
    width, height = box[2] - box[0] + 1, box[3] - box[1] + 1
    rows = np.frombuffer(data, "<f4", offset=at + 1 + 8 * height).reshape(height, 2 + len(names) * width)[:, 2:]
    found: Planes = {name.split(".", 1)[-1]: rows[:, k * width : (k + 1) * width] for k, name in enumerate(names)}
    linear = np.clip(np.stack([found[f"Combined.{c}"] for c in "RGB"], axis=2), 0, 1)
    curve = np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)
    return {**found, "color": np.round(curve * 255)}


def compare(a: Planes, b: Planes) -> str:
    """Describe the differences of ids and depth exactly, and of color as PSNR."""
    error = float(((a["color"] - b["color"]) ** 2).mean())
    psnr = f"{10 * np.log10(255**2 / error):.1f} dB" if error else "identical"
    depth = np.abs(a["Depth.Z"] - b["Depth.Z"])
    ids = int((a["IndexOB.X"] != b["IndexOB.X"]).sum())
    return f"ids differ in {ids} pixels, depth by {depth.max():.2g} ({int((depth > 0).sum())} pixels), color {psnr}"


def gpu_memory() -> float:
    """Return the MB in use on all GPUs; 0 if that is unknown."""
    try:
        command = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
        return sum(float(line) for line in subprocess.check_output(command, text=True).split())
    except (OSError, ValueError, subprocess.CalledProcessError):
        return 0.0


def work(args: Namespace, folder: Path) -> None:
    """Render as a process of a throughput test: once to warm up, then, after a line on stdin, the timed images."""
    scene, file = build_scene(args), folder / f"{os.getpid()}.exr"
    enable_devices(scene, *args.work)
    render(scene, 0, file)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    for number in range(1, args.images + 1):
        render(scene, number, file)
    peak = next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)
    sys.stdout.write(f"{int(peak) / 1024}\n")


def throughput(args: Namespace, kind: str, denoiser: str, count: int) -> None:
    """Measure images per second and memory of `count` processes on the same GPU."""
    before, pipe = gpu_memory(), subprocess.PIPE
    size = "x".join(map(str, args.size))
    options = ["--size", size, "--samples", str(args.samples), "--images", str(args.images)]
    command = [sys.executable, __file__, *options, "--work", kind, denoiser]
    workers = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for _ in range(count)]
    streams = [(w.stdin, w.stdout) for w in workers if w.stdin and w.stdout]
    # Other lines come from Blender.
    if any("ready\n" not in iter(out.readline, "") for _, out in streams):
        say(f"{kind} x{count}, denoiser {denoiser}: a process ended with {[w.poll() for w in workers]}")
        return
    memory, start = gpu_memory() - before, time.perf_counter()
    for into, _ in streams:
        into.write("go\n")
        into.flush()
    peaks = [float(out.readline() or "nan") for _, out in streams]
    rate = count * args.images / (time.perf_counter() - start)
    each = f"{max(peaks):.0f} MB per process, {memory / count:.0f} MB of GPU memory each"
    say(f"{kind} x{count}, denoiser {denoiser}: {rate:.2f} images/s, {1000 / rate:.0f} ms per image; {each}")


def pictures(scene: Any, kind: str, folder: Path, cpu: Planes | None) -> Planes:
    """Print the findings about a kind of device and return its first image. cpu: the image of the CPU."""
    for number in (1, 1, 2):
        say(f"{kind}: image {number} in {render(scene, number, folder / f'{number}.exr'):.2f} s")
    first = planes(folder / "1.exr")
    render(scene, 1, folder / "1.exr")
    say(f"{kind} twice: {compare(first, planes(folder / '1.exr'))}")
    if cpu is None:
        render(scene, 1, folder / "1.exr", seed=1)
        say(f"{kind}, another seed, for comparison with noise: {compare(first, planes(folder / '1.exr'))}")
        return first
    say(f"{kind} and CPU: {compare(first, cpu)}")
    enable_devices(scene, kind, "GPU")
    say(f"{kind}, denoiser on the GPU: first image in {render(scene, 1, folder / '1.exr'):.2f} s")
    say(f"{kind}, denoised on the GPU and on the CPU: {compare(planes(folder / '1.exr'), first)}")
    return first


def probe(args: Namespace, folder: Path) -> None:
    """Print the findings in order."""
    scene = build_scene(args)
    shown: dict[str, Planes] = {}
    for kind in ("CPU", *[k for k in args.kinds if k != "CPU"]):
        names = enable_devices(scene, kind, "CPU")
        say(f"{kind}: {', '.join(names) or 'nothing found'}")
        try:
            if names:
                shown[kind] = pictures(scene, kind, folder, shown.get("CPU"))
        except RuntimeError as error:
            say(f"{kind}: fails: {error}")
    for kind in [k for k in args.kinds if k in shown]:
        for denoiser in ("CPU",) if kind == "CPU" else ("GPU", "CPU"):
            for count in args.processes:
                throughput(args, kind, denoiser, count)


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=["OPTIX", "CUDA"])
    parser.add_argument("--processes", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2, 4, 8])
    parser.add_argument("--size", type=lambda text: [int(n) for n in text.split("x")], default=[320, 240])
    parser.add_argument("--samples", type=int, default=24)
    parser.add_argument("--images", type=int, default=40, help="per process")
    parser.add_argument("--work", nargs=2, help=SUPPRESS)


def main(options: Namespace) -> None:
    """Print all findings, or work as a process of a throughput test."""
    # Keep compiled kernels: without a home folder, or beyond 1 GB, the driver would drop them.
    cache = Path(tempfile.gettempdir()) / "gpu_probe_cache"
    os.environ.setdefault("CUDA_CACHE_PATH", str(cache / "cuda"))
    os.environ.setdefault("CUDA_CACHE_MAXSIZE", str(4 << 30))
    os.environ.setdefault("OPTIX_CACHE_PATH", str(cache / "optix"))
    disk = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=disk) as folder:
        (work if options.work else probe)(options, Path(folder))
    if not options.work and cache.is_dir():
        size = sum(file.stat().st_size for file in cache.rglob("*") if file.is_file())
        say(f"kernels kept in {cache}: {size / 1e6:.0f} MB")


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    add_options(parser)
    main(parser.parse_args())
