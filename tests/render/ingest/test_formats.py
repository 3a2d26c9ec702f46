"""Files of the other formats, each with what it is by its specification; some are written by Blender itself."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diorama.scene_specs.asset_roots import searching
from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.shapes.shapenet import Model, load_model
from tests.hostile.traps import ROOT
from tests.render.ingest.blends import OLD
from tests.render.ingest.cases import Case
from tests.render.ingest.format_files import (
    CORNERS,
    LAYERS,
    SQUARE,
    ascii_fbx,
    ascii_stl,
    binary_stl,
    collada,
    mesh_text,
    ply,
    ply_with,
    usdz,
)
from tests.render.ingest.gltf_files import BLUE, GREEN, RED, YELLOW, quadrants

SIZE = (2, 6, 4)
# A whole texture on each face: v begins at the bottom.
WHOLE = {RED: 6, YELLOW: 6}
TINTED = {RED: 6, (1, 0.5, 0): 6}
GRAY = (0.5, 0.5, 0.5)


def usd(**options: Any) -> dict[str, Any]:
    return {"file": "m.usda", "content": lambda: mesh_text(**options).encode(), "beside": {"tex.png": quadrants()}}


def with_z_up(text: str) -> bytes:
    """The same box in a file whose Z is up: y is the depth, backwards."""
    turned = ", ".join(str((x, -z, y)) for x, y, z in CORNERS)
    return text.replace(", ".join(map(str, CORNERS)), turned).encode()


COLLADA: dict[str, Any] = (
    {"size": (4, 6, 4), "colors": {BLUE: 12}} if OLD else {"error": "does not read; export it as .glb"}
)
METAL = {"Roughness": {0.3: 12}, "Metallic": {0.9: 12}}
INSTANCES = """
def PointInstancer "Many" {
    rel prototypes = [</World/Many/Sheet>]
    int[] protoIndices = [0, 0]
    point3f[] positions = [(10, 0, 0), (20, 0, 0)]
    def Mesh "Sheet" {
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
    }
}
"""
READ, OUT = "inputs:st.connect = </World/Paint/Reader.outputs:result>", "float3 outputs:rgb"
OTHER = f'texCoord2f[] primvars:other = [{", ".join(["(0.1, 0.1)"] * 24)}] (interpolation = "faceVarying")'
TRANSFORM = """def Shader "Move" {
    uniform token info:id = "UsdTransform2d"
    float2 inputs:in.connect = </World/Paint/Reader.outputs:result>
    float2 inputs:scale = (0.5, 0.5)
    float2 inputs:translation = (0.5, 0)
    float2 outputs:result
}
def Shader "Texture"
"""
COATED = "float inputs:opacity = 0.5\nfloat inputs:clearcoat = 0.4\nfloat inputs:ior = 1.7\n"


def changed(*pairs: tuple[str, str], **options: Any) -> dict[str, Any]:
    """The file of USD with other texts."""
    text = mesh_text(**options)
    for before, after in pairs:
        assert before in text
        text = text.replace(before, after)
    return {**usd(), "content": lambda: text.encode()}


CASES: dict[str, dict[str, Any]] = {
    "PLY as text": {"file": "m.ply", "content": ply, "colors": {RED: 12}},
    "PLY, little-endian": {"file": "m.ply", "content": lambda: ply("binary_little_endian"), "colors": {RED: 12}},
    "PLY, big-endian": {"file": "m.PLY", "content": lambda: ply("binary_big_endian"), "colors": {RED: 12}},
    "PLY without colors": {
        "file": "m.ply",
        "content": lambda: ply(colors=False),
        "colors": {GRAY: 12},
        "notes": ("gray",),
    },
    "STL as text": {"file": "m.stl", "content": ascii_stl, "colors": {GRAY: 12}, "notes": ("gray",)},
    "STL": {"file": "m.stl", "content": binary_stl, "notes": ("gray",)},
    "STL that begins like text": {"file": "m.STL", "content": lambda: binary_stl(b"solid box"), "notes": ("gray",)},
    "USD as text": {**usd(), "colors": WHOLE, "inputs": METAL},
    "USD with Z up": {**usd(), "content": lambda: with_z_up(mesh_text("Z")), "colors": WHOLE},
    "USD in centimeters": {**usd(unit=0.01), "size": (0.02, 0.06, 0.04), "colors": WHOLE},
    "USD with a color of its own": {
        **usd(bound=False, more="color3f[] primvars:displayColor = [(1, 0, 0)]"),
        "colors": {RED: 12},
    },
    "USD whose picture is missing": {
        **usd(),
        "beside": {},
        "colors": {(0.8, 0.8, 0.8): 12},
        "notes": ("Couldn't open image file 'tex.png'",),
    },
    "USDZ": {"file": "m.usdz", "content": usdz, "colors": WHOLE},
    "USD that refers to another file": {
        **usd(),
        "content": lambda: LAYERS,
        "beside": {"part.usda": mesh_text().encode(), "tex.png": quadrants()},
        "size": (12, 6, 4),
        "faces": (12, 12),
        "colors": {RED: 12, YELLOW: 12},
    },
    "USD with instances": {
        **usd(),
        "content": lambda: (mesh_text().rstrip().removesuffix("}") + INSTANCES + "}\n").encode(),
        "size": (22, 6, 4),
        "faces": (12, 2),
        "notes": ("gray",),
    },
    "USD, texture times scale, plus bias": {
        **changed((OUT, f"float4 inputs:scale = (0.5, 0.5, 1, 1)\nfloat4 inputs:bias = (0, 0, 0.25, 0)\n{OUT}")),
        "colors": {(0.5, 0, 0.25): 6, (0.5, 0.5, 0.25): 6},
    },
    "USD, clamped texture": {
        **changed(
            (OUT, f'token inputs:wrapS = "clamp"\ntoken inputs:wrapT = "clamp"\n{OUT}'),
            (", ".join(map(str, SQUARE)), "(1, 1), (2, 1), (2, 2), (1, 2)"),
        ),
        "colors": {GREEN: 12},
    },
    "USD, scaled and moved texture": {
        **changed((READ, READ.replace("Reader", "Move")), ('def Shader "Texture"', TRANSFORM)),
        "colors": {YELLOW: 12},
    },
    "USD, other texture coordinates": {
        **changed(('varname = "st"', 'varname = "other"'), more=OTHER),
        "colors": {BLUE: 12},
    },
    "USD, coat and opacity": {
        **changed(
            ("float inputs:roughness", f"{COATED}color3f inputs:emissiveColor = (0, 1, 0)\nfloat inputs:roughness")
        ),
        "inputs": {
            **({"Alpha": {0.5: 12}} if OLD else {"Alpha": {1: 12}, "Transmission Weight": {0.5: 12}}),
            "Coat Weight": {0.4: 12},
            "IOR": {1.7: 12},
            "Emission Color": {GREEN: 12},
            "Emission Strength": {1: 12},
        },
    },
    "USD, faces of the left hand": {
        **changed(("uniform token subdiv", 'uniform token orientation = "leftHanded"\nuniform token subdiv')),
        "notes": ("12 faces were turned to look outwards",),
    },
    "COLLADA": {"file": "m.dae", "content": collada, **COLLADA},
    "FBX as text": {
        "file": "m.fbx",
        "content": ascii_fbx,
        "size": (0.02, 0.06, 0.04),
        "colors": {GREEN: 12},
    },
}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIORAMA_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("name", CASES)
def test_a_file_is_what_the_specification_of_its_format_says(tmp_path: Path, name: str) -> None:
    (tmp_path / "files").mkdir()
    Case(name, **{"size": SIZE, **CASES[name]}).check(tmp_path / "files")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files that Blender wrote, in a process of its own."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "tex.png").write_bytes(quadrants())
    command = [sys.executable, "-W", "ignore", "-m", "tests.render.ingest.blender_files"]
    subprocess.run([*command, folder, folder / "tex.png"], check=True, capture_output=True, timeout=120, cwd=ROOT)
    return folder


DRACO: dict[str, Any] = {"colors": TINTED} if OLD else {"error": "reads no draco compression; export it without"}
MADE: dict[str, dict[str, Any]] = {
    "box.fbx": {"colors": WHOLE},
    "box.usdc": {"colors": WHOLE},
    "box.usdz": {"colors": WHOLE},
    "box.glb": {"colors": TINTED},
    "packed.blend": {"colors": TINTED},
    "scene.blend": {"faces": (22,), "colors": {RED: 11, (1, 0.5, 0): 11}, "notes": ("1 camera", "1 light")},
    "named.blend": {"colors": {(0, 1, 0): 12}},
    "parts.blend": {"notes": ("its materials are not defined",)},
    "noise.blend": {"notes": ("a material has the coordinates of its object (node 'Noise Texture')",)},
    "stereo.blend": {"error": "has 81,000,256 pixels; allowed"},
    "subdivided.blend": {"faces": (48,), "notes": ("its materials are not defined",)},
    **({"draco.glb": DRACO} if OLD else {}),
}


@pytest.mark.parametrize("name", MADE)
def test_what_blender_wrote_is_read_as_it_was(tmp_path: Path, made: Path, name: str) -> None:
    beside = {str(path.relative_to(made)): path.read_bytes() for path in made.rglob("*.png")}
    content: Callable[[], bytes] = (made / name).read_bytes
    (tmp_path / "files").mkdir()
    Case(name, content, name, beside, **{"size": (2, 4, 6), **MADE[name]}).check(tmp_path / "files")


@pytest.mark.parametrize(("part", "size"), [("Box", (2, 4, 6)), ("Lid", (2, 4, 6)), ("Spare", (52, 4, 6))])
def test_a_part_of_a_file_is_an_object_with_its_children_or_a_collection(
    tmp_path: Path, made: Path, part: str, size: tuple[int, int, int]
) -> None:
    name = f"parts.blend?part={part}"
    with searching([made]):
        model, whole = load_model(f"model:{name}"), load_model("model:parts.blend")
    np.testing.assert_allclose(np.subtract(model.upper, model.lower) * model.unit, size, rtol=1e-5)
    assert model.sha256 != whole.sha256 != load_part(made, "Box").sha256


def test_a_part_that_is_not_there_is_named_with_its_like(made: Path) -> None:
    with pytest.raises(AssetError, match="it has no collection or object 'box'; did you mean 'Box'"):
        load_part(made, "box")


def load_part(folder: Path, part: str) -> Model:
    with searching([folder]):
        return load_model(f"model:parts.blend?part={part}")


def test_layers_of_a_scene_count_wherever_they_lie(tmp_path: Path) -> None:
    files = {"base/part.usda": mesh_text().encode(), "tex.png": quadrants(), "scenes/other.usda": b"#usda 1.0"}
    files["base/tex.png"] = files["tex.png"]
    case = Case("m", lambda: LAYERS.replace(b"@part", b"@../base/part"), "scenes/m.usda", files)
    before = case.load(tmp_path)
    assert {str(Path(state.path).relative_to(tmp_path)) for state in before.files if state.sha256} == {
        "base/part.usda",
        "base/tex.png",
        "scenes/m.usda",
    }
    # Its image was found at once, and the record names no folder of this machine.
    assert before.notes == ()
    (tmp_path / "scenes/other.usda").write_bytes(b"#usda 1.0 ")
    assert before.is_current()
    files["base/part.usda"] = mesh_text().replace("-1", "-2").encode()
    assert case.load(tmp_path).sha256 != before.sha256


LEFT_OUT = "5 faces with corners that are no numbers"
NUMBERLESS: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "PLY as text": ("m.ply", lambda: ply().replace(b"-1 -2 -3", b"nan -2 -Inf"), "2 coordinates without a number"),
    "PLY, little-endian": ("m.ply", lambda: ply_with(math.nan, "little"), "1 coordinate without a number"),
    "PLY, big-endian": ("m.ply", lambda: ply_with(-math.inf, "big"), "1 coordinate without a number"),
    "STL": ("m.stl", lambda: ascii_stl().replace(b"vertex -1 -2 -3", b"vertex nan -2 -3"), LEFT_OUT),
    "FBX": ("m.fbx", lambda: ascii_fbx().replace(b"a: -1,-2,-3", b"a: nan,-2,-3"), "1 coordinate without a number"),
    "USD": ("m.usda", lambda: mesh_text().replace("(-1, -2, -3)", "(nan, -2, -3)").encode(), LEFT_OUT),
}


@pytest.mark.parametrize("name", NUMBERLESS)
def test_coordinates_that_are_no_numbers_are_noted(tmp_path: Path, name: str) -> None:
    file, content, note = NUMBERLESS[name]
    model = Case(name, content, file, {"tex.png": quadrants()}).load(tmp_path)
    assert note in model.notes[0]
    assert len(model.triangles) == (7 if note == LEFT_OUT else 12)


def test_a_list_among_the_numbers_of_vertices_is_no_fault(tmp_path: Path) -> None:
    """Their sizes differ, so nothing is said of the numbers."""
    text = ply("binary_little_endian").replace(b"element face", b"property list uchar int more\nelement face")
    with suppress(AssetError):
        assert not any("number" in note for note in Case("m", lambda: text, "m.ply").load(tmp_path).notes)
