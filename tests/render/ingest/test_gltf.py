"""glTF files, each with what it is by the specification (Khronos, glTF 2.0 and the registry of extensions)."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.render.ingest.blends import OLD, mesh_of, principled
from tests.render.ingest.cases import Case
from tests.render.ingest.gltf_files import (
    BLACK,
    BLUE,
    GREEN,
    RED,
    SQUARE,
    WHITE,
    YELLOW,
    Gltf,
    box,
    floats,
    picture,
    plain,
    quadrants,
    shorts,
    sphere,
)

# A whole texture on each face: v begins at the top.
WHOLE = {GREEN: 6, BLUE: 6}
PAINT: dict[str, Any] = {"baseColorFactor": [0.2, 0.4, 0.8, 1]}
SMALL = box((0.4, 0.4, 0.4))


def of(primitive: dict[str, Any] | None = None, image: bytes = b"", **material: Any) -> Gltf:
    """A box with a material."""
    return Gltf().material(image, **material).mesh({**(primitive or box()), "material": 0})


def with_uv(**layers: Any) -> dict[str, Any]:
    return {**box(), **layers}


def scenes(**head: Any) -> Gltf:
    """A red box in one scene and a tall blue one in another."""
    built = Gltf(**head).material(baseColorFactor=[0.8, 0.1, 0.1, 1]).material(baseColorFactor=[0.1, 0.1, 0.8, 1])
    built.mesh({**box(), "material": 0}).mesh({**box((0.5, 3, 0.5)), "material": 1})
    return built.scene(0)


def transformed(image: bytes = b"", **transform: Any) -> Gltf:
    texture = {"extensions": {"KHR_texture_transform": transform}}
    return of(with_uv(), image or quadrants(), texture=texture).extensions("KHR_texture_transform")


def extended(name: str, values: dict[str, Any], image: bytes = b"", **material: Any) -> Gltf:
    return of(None, image, extensions={name: values}, **material).extensions(name)


def specular(image: bytes = b"", fallback: bool = False, **values: Any) -> Gltf:
    """A material of specular and glossiness, which has the last word where both are given."""
    built = Gltf()
    name = "KHR_materials_pbrSpecularGlossiness"
    if image:
        values["diffuseTexture"] = built.texture(image)
    built.material(extensions={name: values})
    if fallback:
        built.head["materials"][0]["pbrMetallicRoughness"] = {"baseColorFactor": [0, 1, 0, 1]}
    return built.mesh({**box(), "material": 0}).extensions(name)


def taller(primitive: dict[str, Any]) -> Any:
    """Moves of the upper corners, by 2."""
    return floats((primitive["POSITION"][:, 1:2] > 0) * np.array([[0, 2, 0]]))


def morphed(**node: Any) -> Gltf:
    primitive = box()
    built = Gltf().material(**PAINT)
    targets = [{"POSITION": built.accessor(taller(primitive))}, {"POSITION": built.accessor(-taller(primitive))}]
    return built.mesh({**primitive, "material": 0, "targets": targets}, weights=[1, 0], node=node)


def skinned(rows: Any, nodes: list[dict[str, Any]], mesh: dict[str, Any], size: tuple[float, ...] = (1, 1, 1)) -> Gltf:
    """A box with a weight for each of two joints.

    Args:
        rows: joint of each corner.
        nodes: of the joints, which come first.
    """
    primitive = box(size)
    joints = np.zeros((24, 4), dtype=np.uint8)
    joints[:, 0] = rows(primitive["POSITION"])
    weights = np.tile(floats([1, 0, 0, 0]), (24, 1))
    built = Gltf(nodes=[*nodes]).material(**PAINT)
    skin = {"joints": list(range(len(nodes)))}
    identity = np.tile(np.eye(4, dtype=np.float32), (len(nodes), 1, 1))
    built.add("skins", {**skin, "inverseBindMatrices": built.accessor(identity)})
    built.mesh({**primitive, "JOINTS_0": joints, "WEIGHTS_0": weights, "material": 0}, node={**mesh, "skin": 0})
    del built.head["accessors"][built.head["meshes"][0]["primitives"][0]["attributes"]["JOINTS_0"]]["normalized"]
    return built.scene(0, len(nodes))


def sparse() -> Gltf:
    """A box whose upper corners stand in the sparse part."""
    primitive = box()
    upper = np.flatnonzero(primitive["POSITION"][:, 1] > 0).astype(np.uint16)
    built = of(primitive, **PAINT)
    accessor = built.head["accessors"][0]
    values = primitive["POSITION"][upper] + floats([0, 2, 0])
    accessor["sparse"] = {
        "count": len(upper),
        "indices": {"bufferView": built.view(upper.tobytes()), "componentType": 5123},
        "values": {"bufferView": built.view(values.tobytes())},
    }
    accessor["max"] = [1, 3, 1]
    return built


def fan(mode: int) -> Gltf:
    """A disc of 12 triangles, as a fan around its middle or as a strip, before a box."""
    turn = np.linspace(0, 2 * np.pi, 13)
    rim = np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=1)
    points = np.concatenate([np.zeros((1, 3)), rim]) if mode == 6 else np.stack([rim, 0.5 * rim], axis=1).reshape(-1, 3)
    built = Gltf().material(baseColorFactor=[0.8, 0.1, 0.1, 1]).material(baseColorFactor=[0.1, 0.8, 0.1, 1])
    first = {**box((0.2, 0.2, 0.2), (0, 0, -0.3)), "material": 0}
    return built.mesh(first, {"POSITION": floats(points), "mode": mode, "material": 1})


def webp(fallback: bool, required: bool) -> Gltf:
    built = Gltf()
    image = built.add("images", {"bufferView": built.view(quadrants("WEBP")), "mimeType": "image/webp"})
    texture: dict[str, Any] = {"extensions": {"EXT_texture_webp": {"source": image}}}
    if fallback:
        texture["source"] = built.add("images", {"bufferView": built.view(quadrants()), "mimeType": "image/png"})
    built.material(baseColorTexture={"index": built.add("textures", texture)})
    return built.mesh({**box(), "material": 0}).extensions("EXT_texture_webp", required=required)


def tray() -> Gltf:
    """A tray without a floor, and its floor, one-sided and of a color of its own."""
    floor = {"POSITION": floats([(x * 1.6 - 0.8, 0.2, 0.8 - y * 1.6) for x, y in SQUARE])}
    built = Gltf().material(baseColorFactor=[0.8, 0.8, 0.8, 1]).material(baseColorFactor=[0.9, 0.5, 0.7, 1])
    walls = box((1, 0.4, 1))
    return built.mesh({**walls, "material": 0}, {**floor, "indices": shorts([0, 1, 2, 0, 2, 3]), "material": 1})


def sheet(turned: bool = False) -> Gltf:
    points = floats([(2 * x - 1, 0, 1 - 2 * y) for x, y in SQUARE])
    order = shorts([0, 1, 2, 0, 2, 3])
    return of(
        {"POSITION": points, "indices": order[::-1].copy() if turned else order}, baseColorFactor=[0.8, 0.8, 0.8, 1]
    )


def two_sheets() -> Gltf:
    """Two sheets in one place, blue to the back and red to the front."""
    points = floats([(2 * x - 1, 2 * y - 1, 0) for x, y in SQUARE])
    order = shorts([0, 1, 2, 0, 2, 3])
    built = Gltf().material(baseColorFactor=[0, 0, 1, 1]).material(baseColorFactor=[1, 0, 0, 1])
    parts = ({"POSITION": points, "indices": order[::-1].copy()}, {"POSITION": points, "indices": order})
    return built.mesh(*({**part, "material": k} for k, part in enumerate(parts)))


def sheared() -> Gltf:
    """A node whose matrix is no rotation, scale and translation, which the specification forbids."""
    built = Gltf().material(baseColorFactor=[1, 0, 0, 1]).mesh({**box(), "material": 0})
    built.head["nodes"][0]["matrix"] = [1, 0, 0, 0, 0, 1, 0, 0, 0.5, 0, 1, 0, 0, 0, 0, 1]
    return built


def chained() -> Gltf:
    """A box moved by 1 along x, doubled along y, turned by 45 degrees and doubled along x: nodes shear it."""
    turn = {"rotation": [0, 0, 0.38268343, 0.92387953], "scale": [1, 2, 1]}
    built = (
        Gltf().material(baseColorFactor=[1, 0, 0, 1]).mesh({**box(), "material": 0}, node={"translation": [1, 0, 0]})
    )
    built.head["nodes"] += [{"children": [0], **turn}, {"children": [1], "scale": [2, 1, 1]}]
    return built.scene(2)


def forty() -> Gltf:
    """40 boxes of colors of their own, side by side."""
    built = Gltf()
    for k in range(40):
        built.material(baseColorFactor=[k / 40, 1 - k / 40, 0.2, 1])
        built.mesh({**box((0.1, 0.1, 0.1), (k, 0, 0)), "material": k})
    return built


def colored(kind: type[Any], material: bool = True, width: int = 4) -> Gltf:
    """A box whose corners have a color: half red by 8, 16 bits or as a number."""
    most = 1 if kind is np.float32 else np.iinfo(kind).max
    colors = np.tile((np.array([0.5, 0, 0, 1])[:width] * most).astype(kind), (24, 1))
    return of(with_uv(COLOR_0=colors)) if material else Gltf().mesh(with_uv(COLOR_0=colors))


def roughened() -> Gltf:
    """Green is roughness, blue is metallic, each times its factor."""
    built = Gltf()
    texture = built.texture(plain(0, 128, 255))
    built.material(metallicRoughnessTexture=texture, metallicFactor=0.5, roughnessFactor=0.5)
    return built.mesh({**box(), "material": 0})


def shining(strength: float = 1.0) -> Gltf:
    """A texture that shines, times a factor, perhaps times a strength."""
    built = Gltf()
    texture = built.texture(quadrants())
    name = "KHR_materials_emissive_strength"
    more: dict[str, Any] = {"extensions": {name: {"emissiveStrength": strength}}} if strength != 1 else {}
    built.material(baseColorFactor=[0, 0, 0, 1], emissiveTexture=texture, emissiveFactor=[1, 0.5, 1], **more)
    return built.mesh({**box(), "material": 0}).extensions(*[name] * (strength != 1))


def unlit() -> Gltf:
    return extended("KHR_materials_unlit", {}, quadrants(), baseColorFactor=[1, 0.5, 1, 1])


def instanced() -> Gltf:
    """Two boxes by EXT_mesh_gpu_instancing, 4 apart."""
    built = of(**PAINT)
    places = built.accessor(floats([[0, 0, 0], [4, 0, 0]]))
    extension = {"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": places}}}
    built.head["nodes"][0]["extensions"] = extension
    return built.extensions("EXT_mesh_gpu_instancing", required=True)


def quantized(normalized: bool) -> Gltf:
    """Positions of 16 bits."""
    primitive = box()
    primitive["POSITION"] = (primitive["POSITION"] * (32767 if normalized else 500)).astype(np.int16)
    built = of(primitive, **PAINT)
    built.head["accessors"][0]["normalized"] = normalized
    built.head["nodes"][0]["scale"] = [1, 1, 1] if normalized else [0.002, 0.002, 0.002]
    return built.extensions("KHR_mesh_quantization", required=True)


def interleaved() -> Gltf:
    """Positions and texture coordinates in one view, 20 bytes a corner."""
    primitive = box()
    built = Gltf().material(quadrants())
    rows = np.concatenate([primitive["POSITION"], primitive["TEXCOORD_0"]], axis=1).astype(np.float32)
    view = built.view(rows.tobytes(), byteStride=20)
    item = {"bufferView": view, "componentType": 5126, "count": 24}
    known = {"min": [-1, -1, -1], "max": [1, 1, 1]}
    position = built.add("accessors", {**item, "type": "VEC3", **known})
    uv = built.add("accessors", {**item, "type": "VEC2", "byteOffset": 12})
    return built.mesh({"POSITION": position, "TEXCOORD_0": uv, "indices": primitive["indices"], "material": 0})


def unindexed() -> Gltf:
    primitive = box()
    order = primitive.pop("indices")
    return of({key: values[order] for key, values in primitive.items()}, quadrants())


def lines_beside() -> Gltf:
    """A box with lines and points beside it, which no renderer of surfaces shows."""
    points = floats([[9, 9, 9], [10, 10, 10]])
    return Gltf().material(**PAINT).mesh({**box(), "material": 0}, *({"POSITION": points, "mode": k} for k in (0, 1)))


def animated() -> Gltf:
    """The first animation would move the box by 9, away from the other one."""
    built = Gltf().material(**PAINT).mesh({**box(), "material": 0}).mesh({**SMALL, "material": 0})
    sampler = {"input": built.accessor(floats([0, 1])), "output": built.accessor(floats([[9, 0, 0]] * 2))}
    built.head["accessors"][sampler["input"]] |= {"min": [0], "max": [1]}
    channel = {"sampler": 0, "target": {"node": 0, "path": "translation"}}
    built.add("animations", {"samplers": [sampler], "channels": [channel]})
    return built


def lit() -> Gltf:
    built = of(**PAINT).extensions("KHR_lights_punctual")
    built.head["extensions"] = {"KHR_lights_punctual": {"lights": [{"type": "point"}, {"type": "directional"}]}}
    for k in range(2):
        built.add("nodes", {"extensions": {"KHR_lights_punctual": {"light": k}}})
    return built.scene(0, 1, 2)


def missing(**more: Any) -> Gltf:
    built = of(None, quadrants(), **more)
    built.head["images"] = [{"uri": "gone.png"}]
    return built


def normal_map() -> Gltf:
    built = Gltf()
    texture = built.texture(plain(128, 128, 255))
    return built.material(normalTexture={**texture, "scale": 0.5}).mesh({**box(), "material": 0})


def masked(cutoff: float = 0.5, mode: str = "MASK", alpha: tuple[int, ...] = (0, 255, 0, 255), **more: Any) -> Gltf:
    return of(
        None, quadrants(alpha=alpha), alphaMode=mode, **({"alphaCutoff": cutoff} if mode == "MASK" else {}), **more
    )


def glass_around_red() -> Gltf:
    built = Gltf().material(extensions={"KHR_materials_transmission": {"transmissionFactor": 1}}, roughnessFactor=0)
    built.material(baseColorFactor=[1, 0, 0, 1]).mesh({**box(), "material": 0}, {**SMALL, "material": 1})
    return built.extensions("KHR_materials_transmission")


def hidden_around_red() -> Gltf:
    built = (
        Gltf().material(picture(((0, 0, 255, 0),), size=8), alphaMode="BLEND").material(baseColorFactor=[1, 0, 0, 1])
    )
    return built.mesh({**box(), "material": 0}, {**SMALL, "material": 1})


def integers(kind: Any) -> Any:
    return (box()["TEXCOORD_0"] * np.iinfo(kind).max).astype(kind)


def indices(kind: Any) -> dict[str, Any]:
    return with_uv(indices=box()["indices"].astype(kind))


def mirrored() -> Gltf:
    built = of(None, quadrants())
    built.head["nodes"] = [{"mesh": 0, "translation": [-1.5, 0, 0]}]
    built.head["nodes"] += [{"mesh": 0, "translation": [1.5, 0, 0], "scale": [-1, 1, 1]}]
    return built.scene(0, 1)


def zero_scale() -> Gltf:
    built = of(**PAINT)
    built.add("nodes", {"mesh": 0, "scale": [0, 0, 0], "translation": [50, 0, 0]})
    return built.scene(0, 1)


def not_shown() -> Gltf:
    return scenes(scenes=[{"nodes": [0]}])


def second_scene(default: int) -> Gltf:
    return scenes(scene=default).scene(1, add=True)


def draco(required: bool) -> Gltf:
    """What says that it is compressed, and isn't."""
    name = "KHR_draco_mesh_compression"
    built = Gltf()
    extension = {name: {"bufferView": built.view(b"DRACO\2\2\1\1" + bytes(40)), "attributes": {"POSITION": 0}}}
    item = {"componentType": 5126, "count": 20, "type": "VEC3", "min": [-1, -1, -1], "max": [1, 1, 1]}
    parts = {"POSITION": built.add("accessors", item), "extensions": extension}
    parts["indices"] = built.add("accessors", {"componentType": 5125, "count": 60, "type": "SCALAR"})
    return built.mesh(parts).extensions(name, required=required)


def beside_draco() -> Gltf:
    return draco(False).material(**PAINT).mesh({**box(), "material": 0})


def outside_uv() -> dict[str, Any]:
    """Coordinates of which each triangle's center is 1 to the right of and 1 below the image's."""
    return with_uv(TEXCOORD_0=box()["TEXCOORD_0"] + 1)


CLAMP, MIRROR = 33071, 33648
POLES = ("faces without area were left out",)


def clamped(wrap: int, shift: float) -> Gltf:
    built = Gltf()
    texture = built.texture(quadrants(), wrapS=wrap, wrapT=wrap)
    primitive = with_uv(TEXCOORD_0=box()["TEXCOORD_0"] + np.float32(shift))
    return built.material(baseColorTexture=texture).mesh({**primitive, "material": 0})


def textured_sphere(image: bytes) -> Gltf:
    return of(sphere(), image)


CASES: list[tuple[str, Callable[[], Gltf], dict[str, Any]]] = [
    # Names of shared/cases/models.
    ("plain_textured", lambda: of(None, quadrants()), {"colors": WHOLE}),
    ("alpha_mask", masked, {"colors": WHOLE, "inputs": {"Alpha": {1: 6, 0: 6}}}),
    ("black_texture_box", lambda: of(None, plain(0, 0, 0)), {"colors": {BLACK: 12}}),
    (
        "black_texture_sphere",
        lambda: textured_sphere(plain(0, 0, 0)),
        {"faces": (48,), "colors": {BLACK: 48}, "notes": POLES},
    ),
    ("white_texture_box", lambda: of(None, plain(255, 255, 255)), {"colors": {WHITE: 12}}),
    ("white_sphere", lambda: of(sphere()), {"faces": (48,), "colors": {WHITE: 48}, "notes": POLES}),
    (
        "no_material_sphere",
        lambda: Gltf().mesh(sphere()),
        {"faces": (48,), "colors": {(0.5, 0.5, 0.5): 48}, "notes": (*POLES, "gray")},
    ),
    (
        "noise_texture_sphere",
        lambda: textured_sphere(quadrants()),
        {"faces": (48,), "colors": {RED: 12, GREEN: 12, BLUE: 12, YELLOW: 12}, "notes": POLES},
    ),
    (
        "blend_texture_alpha0",
        hidden_around_red,
        {"faces": (12, 12), "colors": {BLUE: 12, RED: 12}, "inputs": {"Alpha": {0: 12, 1: 12}}},
    ),
    (
        "box_and_fan",
        lambda: fan(6),
        {"size": (2, 0.5, 2), "faces": (12, 12), "colors": {(0.8, 0.1, 0.1): 12, (0.1, 0.8, 0.1): 12}},
    ),
    ("clamp_wrap", lambda: clamped(CLAMP, 1), {"colors": {YELLOW: 12}, "texture": {"extension": "EXTEND"}}),
    ("dark_factor", lambda: of(baseColorFactor=[0.0015, 0, 0, 1]), {"colors": {(0.0015, 0, 0): 12}}),
    ("default_scene_is_1", lambda: second_scene(1), {"size": (1, 1, 6), "colors": {(0.1, 0.1, 0.8): 12}}),
    ("second_scene_not_default", lambda: second_scene(0), {"colors": {(0.8, 0.1, 0.1): 12}}),
    ("orphan_node", not_shown, {"colors": {(0.8, 0.1, 0.1): 12}}),
    (
        "emissive_black",
        lambda: of(baseColorFactor=[0, 0, 0, 1], emissiveFactor=[0, 1, 0]),
        {"colors": {BLACK: 12}, "inputs": {"Emission Color": {GREEN: 12}, "Emission Strength": {1: 12}}},
    ),
    (
        "factor_times_texture",
        lambda: of(None, quadrants(), baseColorFactor=[1, 0.5, 0.1, 1]),
        {"colors": {(0, 0.5, 0): 6, (0, 0, 0.1): 6}},
    ),
    (
        "fine_checker_box",
        lambda: of(None, picture(*[((0, 0, 0), (255, 255, 255)) * 4, ((255, 255, 255), (0, 0, 0)) * 4] * 4)),
        {"colors": {WHITE: 12}},
    ),
    ("mirrored_instance", mirrored, {"size": (5, 2, 2), "faces": (24,), "colors": {GREEN: 12, BLUE: 12}}),
    ("morph_default_weight", morphed, {"size": (2, 2, 4)}),
    (
        "quantization_used_not_required",
        lambda: of(baseColorFactor=[1, 0, 0, 1]).extensions("KHR_mesh_quantization"),
        {"colors": {RED: 12}},
    ),
    ("sheared_nodes", sheared, {"size": None, "notes": ("1 sheared node read without the shear",)}),
    (
        "skin_node_transform",
        lambda: skinned(
            lambda p: 0, [{"scale": [1, 2, 1]}], {"rotation": [0, 0, 0.70710678, 0.70710678], "scale": [3, 1, 1]}
        ),
        {"size": (2, 2, 4)},
    ),
    (
        "skin_rest_pose",
        lambda: skinned(lambda p: p[:, 1] > 0, [{"children": [1]}, {"translation": [1, 0, 0]}], {}, (0.3, 1, 0.3)),
        {"size": (1.6, 0.6, 2)},
    ),
    ("sparse", sparse, {"size": (2, 2, 4), "colors": {(0.2, 0.4, 0.8): 12}}),
    (
        "specgloss_plain",
        lambda: specular(diffuseFactor=[1, 0.2, 0, 1], glossinessFactor=0.2),
        {"colors": {(1, 0.2, 0): 12}, "inputs": {"Roughness": {0.8: 12}, "Metallic": {0: 12}}},
    ),
    (
        "specgloss_textured",
        lambda: specular(quadrants(), diffuseFactor=[1, 0.5, 1, 1]),
        {"colors": {(0, 0.5, 0): 6, BLUE: 6}},
    ),
    (
        "specgloss_with_fallback",
        lambda: specular(quadrants(), True),
        {"colors": WHOLE, "inputs": {"Roughness": {0: 12}}},
    ),
    (
        "texcoord1",
        lambda: of(
            with_uv(TEXCOORD_0=box()["TEXCOORD_0"] * np.float32(0.1), TEXCOORD_1=box()["TEXCOORD_0"]),
            quadrants(),
            texture={"texCoord": 1},
        ),
        {"colors": WHOLE},
    ),
    (
        "texture_palette",
        lambda: of(with_uv(TEXCOORD_0=np.full((24, 2), 0.8, dtype=np.float32)), quadrants()),
        {"colors": {YELLOW: 12}},
    ),
    ("texture_transform", lambda: transformed(scale=[0.5, 0.5], offset=[0, 0]), {"colors": {RED: 12}}),
    (
        "transmission_optional",
        glass_around_red,
        {
            "faces": (12, 12),
            "colors": {WHITE: 12, RED: 12},
            "inputs": {"Transmission Weight": {1: 12, 0: 12}, "Roughness": {0: 12, 1: 12}},
        },
    ),
    (
        "two_sided_sign",
        two_sheets,
        {"size": (2, 0, 2), "faces": (2,), "colors": {BLUE: 2}, "notes": ("2 doubled faces",)},
    ),
    ("uv_uint16", lambda: of(with_uv(TEXCOORD_0=integers(np.uint16)), quadrants()), {"colors": WHOLE}),
    ("uv_uint8", lambda: of(with_uv(TEXCOORD_0=integers(np.uint8)), quadrants()), {"colors": WHOLE}),
    ("floor_only", sheet, {"size": (2, 2, 0), "faces": (2,), "colors": {(0.8, 0.8, 0.8): 2}}),
    ("sheet_down", lambda: sheet(True), {"size": (2, 2, 0), "faces": (2,)}),
    (
        "tray_floor_own_material",
        tray,
        {"size": (2, 2, 0.8), "faces": (12, 2), "colors": {(0.8, 0.8, 0.8): 12, (0.9, 0.5, 0.7): 2}},
    ),
    ("mapping_node_scale4", lambda: transformed(scale=[4, 4], offset=[0, -3]), {"colors": WHOLE}),
    (
        "second_uv_map",
        lambda: of(with_uv(TEXCOORD_1=box()["TEXCOORD_0"] * np.float32(0.1)), quadrants(), texture={"texCoord": 1}),
        {"colors": {RED: 12}},
    ),
    ("shape_key_on", lambda: morphed(weights=[1, 0.5]), {"size": (2, 2, 3)}),
    (
        "tint_multiply",
        lambda: of(None, quadrants(), baseColorFactor=[1, 0.1, 0.1, 1], doubleSided=True),
        {"colors": {(0, 0.1, 0): 6, (0, 0, 0.1): 6}},
    ),
    (
        "forty_materials",
        forty,
        {"size": (39.2, 0.2, 0.2), "faces": (12,) * 40, "colors": {(k / 40, 1 - k / 40, 0.2): 12 for k in range(40)}},
    ),
    ("jpeg_labelled_png", lambda: of(None, quadrants("JPEG")), {"colors": WHOLE}),
    ("uint8_indices", lambda: of(indices(np.uint8), quadrants()), {"colors": WHOLE}),
    ("webp_fallback_png", lambda: webp(True, False), {"colors": WHOLE}),
    ("webp_only_optional", lambda: webp(False, False), {"colors": WHOLE}),
    ("webp_required", lambda: webp(False, True), {"colors": WHOLE}),
    ("zero_scale_node", zero_scale, {"notes": ("12 faces without area",)}),
    (
        "draco_required_few",
        lambda: draco(True),
        {"error": r"model\.glb: .*(it has no faces; Error during Draco|reads no draco compression)"},
    ),
    (
        "draco_used_only",
        lambda: draco(False),
        {"error": r"model\.glb: .*(it has no faces; Error during Draco|reads no draco compression)"},
    ),
    # More of the issue's kinds.
    ("moved, scaled texture", lambda: transformed(scale=[0.5, 0.5], offset=[0.5, 0]), {"colors": {GREEN: 12}}),
    (
        "turned texture",
        lambda: transformed(scale=[0.5, 1], rotation=np.pi / 2, offset=[0, 1]),
        {"colors": {BLUE: 6, YELLOW: 6}},
    ),
    (
        "transform names a second set",
        lambda: of(
            with_uv(TEXCOORD_1=box()["TEXCOORD_0"] * np.float32(0.1)),
            quadrants(),
            texture={"extensions": {"KHR_texture_transform": {"texCoord": 1}}},
        ).extensions("KHR_texture_transform"),
        {"colors": {RED: 12}},
    ),
    ("clamped below 0", lambda: clamped(CLAMP, -1), {"colors": {RED: 12}}),
    ("repeated", lambda: clamped(10497, 1), {"colors": WHOLE}),
    ("mirrored texture", lambda: clamped(MIRROR, 1), {"colors": WHOLE}),
    ("normalized colors, 8 bits", lambda: colored(np.uint8), {"colors": {(0.5, 0, 0): 12}}),
    ("normalized colors, 16 bits", lambda: colored(np.uint16), {"colors": {(0.5, 0, 0): 12}}),
    ("colors of three numbers", lambda: colored(np.float32, width=3), {"colors": {(0.5, 0, 0): 12}}),
    ("colors without a material", lambda: colored(np.float32, False), {"colors": {(0.5, 0, 0): 12}}),
    (
        "factor times texture times colors",
        lambda: of(
            with_uv(COLOR_0=np.tile(floats([0.5, 0.5, 1, 1]), (24, 1))),
            quadrants(),
            baseColorFactor=[1, 0.5, 0.5, 1],
        ),
        {"colors": {(0, 0.25, 0): 6, (0, 0, 0.5): 6}},
    ),
    ("triangle strip", lambda: fan(5), {"size": (2, 0.5, 2), "faces": (12, 24)}),
    ("chained nodes", chained, {"size": (8.48528, 2, 4.24264)}),
    ("weights of the node", lambda: morphed(weights=[0, 0]), {}),
    ("roughness and metallic", roughened, {"inputs": {"Roughness": {0.251: 12}, "Metallic": {0.5: 12}}}),
    (
        "emission times factor",
        shining,
        {"inputs": {"Emission Color": {(0, 0.5, 0): 6, BLUE: 6}, "Emission Strength": {1: 12}}},
    ),
    (
        "emissive strength",
        lambda: shining(5),
        {"inputs": {"Emission Color": {(0, 0.5, 0): 6, BLUE: 6}, "Emission Strength": {5: 12}}},
    ),
    (
        "clearcoat",
        lambda: extended("KHR_materials_clearcoat", {"clearcoatFactor": 0.7, "clearcoatRoughnessFactor": 0.2}),
        {"inputs": {"Coat Weight": {0.7: 12}, "Coat Roughness": {0.2: 12}}},
    ),
    ("index of refraction", lambda: extended("KHR_materials_ior", {"ior": 1.8}), {"inputs": {"IOR": {1.8: 12}}}),
    ("unlit", unlit, {"colors": {(0, 0.5, 0): 6, BLUE: 6}}),
    ("alpha cutoff", lambda: masked(0.7, alpha=(128, 128, 255, 255)), {"inputs": {"Alpha": {0: 6, 1: 6}}}),
    (
        "alpha of texture and factor",
        lambda: masked(mode="BLEND", alpha=(0, 128, 255, 255), baseColorFactor=[1, 1, 1, 0.5]),
        {"inputs": {"Alpha": {0.251: 6, 0.5: 6}}},
    ),
    ("alpha that does not count", lambda: masked(mode="OPAQUE"), {"colors": WHOLE, "inputs": {"Alpha": {1: 12}}}),
    (
        "alpha of the factor",
        lambda: of(alphaMode="BLEND", baseColorFactor=[1, 0, 0, 0.5]),
        {"inputs": {"Alpha": {0.5: 12}}},
    ),
    (
        "invisible",
        lambda: of(alphaMode="BLEND", baseColorFactor=[1, 0, 0, 0]),
        {"inputs": {"Alpha": {1: 12}}, "notes": ("wholly transparent; made opaque",)},
    ),
    ("instances", instanced, {"size": (6, 2, 2), "faces": (24,)}),
    ("quantized, normalized", lambda: quantized(True), {}),
    ("quantized", lambda: quantized(False), {}),
    ("interleaved", interleaved, {"colors": WHOLE}),
    ("no indices", unindexed, {"colors": WHOLE}),
    ("32-bit indices", lambda: of(indices(np.uint32), quadrants()), {"colors": WHOLE}),
    ("lines and points", lines_beside, {"size": (2, 2, 2), "notes": ("1 point set left out", "1 line left out")}),
    ("an animation", animated, {"faces": (24,), "notes": ("1 animation left out",)}),
    ("lights", lit, {"notes": ("2 lights left out",)}),
    ("an unknown extension", lambda: of(**PAINT).extensions("ACME_fur"), {"notes": ("extension ACME_fur left out",)}),
    ("a missing image", missing, {"colors": {WHITE: 12}, "notes": ("texture 'gone.png' is not there",)}),
    (
        "a missing image, with a factor",
        lambda: missing(baseColorFactor=[0.2, 0.4, 0.8, 1]),
        {"colors": {(0.2, 0.4, 0.8): 12}, "notes": ("texture 'gone.png' is not there",)},
    ),
    (
        "draco beside what is not compressed",
        beside_draco,
        {"notes": ("Draco", "Draco")} if OLD else {"error": "reads no draco compression; export it without"},
    ),
]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIORAMA_CACHE", str(tmp_path / "cache"))


@pytest.mark.alike
@pytest.mark.parametrize("name", [name for name, _, _ in CASES])
def test_a_glb_is_what_its_specification_says(tmp_path: Path, name: str) -> None:
    build, right = next((build, right) for known, build, right in CASES if known == name)
    (tmp_path / "files").mkdir()
    Case(name, lambda: build().glb(), **right).check(tmp_path / "files")


def test_corners_have_the_normals_of_the_file_whatever_its_nodes_do(tmp_path: Path) -> None:
    """Cycles reads those of corners only where edges are sharp."""
    primitive = box()
    normals = np.repeat([sign * np.eye(3)[axis] for axis in range(3) for sign in (-1, 1)], 4, axis=0)
    node = {"rotation": [0.2, 0.4, -0.4, 0.8], "scale": [1, 2, 3], "translation": [5, 0, 0]}
    built = Gltf().mesh({**primitive, "NORMAL": floats(normals)}, node=node)
    mesh = mesh_of(Case("normals", lambda: built.glb(), size=None).load(tmp_path))
    for face in mesh.polygons:
        for corner in face.loop_indices:
            assert np.dot(mesh.corner_normals[corner].vector, face.normal) == pytest.approx(1, abs=1e-4)
    assert sum(edge.use_edge_sharp for edge in mesh.edges) == 12


def test_a_normal_map_is_data_with_a_strength(tmp_path: Path) -> None:
    mesh = mesh_of(Case("normal map", lambda: normal_map().glb()).load(tmp_path))
    node = principled(mesh.materials[0]).inputs["Normal"].links[0].from_node
    assert (node.type, node.space, round(node.inputs["Strength"].default_value, 3)) == ("NORMAL_MAP", "TANGENT", 0.5)
    assert node.inputs["Color"].links[0].from_node.image.colorspace_settings.name == "Non-Color"


def test_a_gltf_reads_what_it_names_beside_it(tmp_path: Path) -> None:
    """Buffer and image in other files, with a space in their names."""
    built = of(None, quadrants())
    image = built.head["images"][0] = {"uri": "my%20skin.png"}
    beside = {"my skin.png": quadrants(), "data/a b.bin": built.body}
    Case("beside", lambda: built.text("data/a%20b.bin"), "m.gltf", beside, colors=WHOLE).check(tmp_path)
    image["uri"] = "data:image/png;base64," + base64.b64encode(quadrants()).decode()
    Case("inside", lambda: built.text(), "n.gltf", colors=WHOLE).check(tmp_path)
