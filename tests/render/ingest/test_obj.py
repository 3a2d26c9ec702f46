"""Wavefront files, each with what it is by "Object Files" and "Material Library File" (Wavefront, 1995)."""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.render.ingest.cases import Case
from tests.render.ingest.gltf_files import BLACK, BLUE, GREEN, RED, WHITE, YELLOW, picture, quadrants
from tests.scene_specs.shapes.shapenet.trees import FACES, box, lines_of

CORNERS = lines_of(box((-1, -1, -1), (1, 1, 1)))
SQUARE = "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"
TEXTURED = "".join("f " + " ".join(f"{k}/{n}" for n, k in enumerate(face, 1)) + "\n" for face in FACES)
# A whole texture on each face, whose first triangle is below: v begins at the bottom.
WHOLE = {RED: 6, YELLOW: 6}
TEX = {"tex.png": quadrants()}
GRAY = (0.5, 0.5, 0.5)


def cube(
    head: str = "mtllib m.mtl\n", material: str = "usemtl m\n", corners: str = CORNERS, more: str = "", uv: str = SQUARE
) -> bytes:
    return f"{head}{corners}{uv}{more}{material}{TEXTURED}".encode()


def written(mtl: str | bytes, obj: bytes = b"", images: dict[str, bytes] | None = None, **right: Any) -> dict[str, Any]:
    """A cube with the statements of its material."""
    content = mtl if isinstance(mtl, bytes) else f"newmtl m\n{mtl}".encode()
    return {"content": lambda: obj or cube(), "beside": {"m.mtl": content, **(images or TEX)}, **right}


def red(mtl: str | bytes = "Kd 1 0 0\n", obj: bytes = b"", **right: Any) -> dict[str, Any]:
    return written(mtl, obj, **{"colors": {RED: 12}, **right})


def textured(name: str, file: str = "tex.png", data: bytes = b"", **right: Any) -> dict[str, Any]:
    images = {file: data or quadrants()}
    return written(f"Kd 1 1 1\nmap_Kd {name}\n", images=images, **{"colors": WHOLE, **right})


def two_halves(first: str, second: str, form: str = "{}", **right: Any) -> dict[str, Any]:
    """Two faces side by side, of a material each, of which `red` alone is defined."""
    corners = "v -1 -1 0\nv 0 -1 0\nv 0 1 0\nv -1 1 0\nv 1 -1 0\nv 1 1 0\nvt 0 0\n"
    faces = (f"f {' '.join(form.format(k) for k in face)}\n" for face in ((1, 2, 3, 4), (2, 5, 6, 3)))
    text = f"mtllib m.mtl\n{corners}{first}\n{next(faces)}{second}\n{next(faces)}"
    mtl = b"newmtl red\nKd 1 0 0\n"
    return {"content": lambda: text.encode(), "beside": {"m.mtl": mtl}, "size": (2, 0, 2), **right}


def concave() -> bytes:
    """An L, 2 by 2 and 1 deep, of two faces of six corners and six of four."""
    outline = ((0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2))
    corners = "".join(f"v {x} {y} {z}\n" for z in (0, 1) for x, y in outline)
    sides = "".join(f"f {k + 1} {(k + 1) % 6 + 1} {(k + 1) % 6 + 7} {k + 7}\n" for k in range(6))
    return f"mtllib m.mtl\n{corners}usemtl m\nf 7 8 9 10 11 12\nf 6 5 4 3 2 1\n{sides}".encode()


def numbered(number: str, used: bool = False) -> bytes:
    """A cube and one more corner without numbers, which a face may have."""
    return cube(more=f"v {number} 0 0\n") + (b"f 1 2 9\n" if used else b"")


U_SHAPE = b"mtllib m.mtl\nv 0 0 0\nv 3 0 0\nv 3 3 0\nv 2 3 0\nv 2 1 0\nv 1 1 0\nv 1 3 0\nv 0 3 0\nusemtl m\n"
OPEN: dict[str, Any] = {"size": (2, 0, 2), "faces": (4,)}
HALVES: dict[str, Any] = {"size": (2, 0, 2), "faces": (2, 2)}

CASES: list[tuple[str, Callable[[], dict[str, Any]]]] = [
    # Names of shared/cases/models.
    ("a_plain_tex", lambda: textured("tex.png")),
    ("b_opt_s2", lambda: textured("-s 2 2 1 tex.png")),
    ("c_opt_o", lambda: textured("-o 0.5 0 0 tex.png", colors={GREEN: 6, BLUE: 6})),
    ("d_kd_times_tex", lambda: written("Kd 1 0 0\nmap_Kd tex.png\n", colors={RED: 12})),
    ("e_name_space", lambda: textured("Big Name.png", "Big Name.png")),
    ("f_case", lambda: textured("case.png", "Case.PNG", notes=("was found as Case.PNG",))),
    ("g_upper_keys", lambda: red("KD 1 0 0\n")),
    ("h_indent_tabs", lambda: red(b"\tnewmtl m\n\t\tKd\t1 0 0\n")),
    ("i_comment_usemtl", lambda: red("Kd 1 0 0 # red\n", cube(material="usemtl m # my red\n"))),
    ("k_kd_single", lambda: red("Kd 0.05\n", colors={(0.05, 0.05, 0.05): 12})),
    ("l_two_libs", lambda: red(obj=cube("mtllib n.mtl m.mtl\n"), images={"n.mtl": b"newmtl n\nKd 0 0 1\n"})),
    (
        "m_two_lib_lines",
        lambda: red(obj=cube("mtllib n.mtl\nmtllib m.mtl\n"), images={"n.mtl": b"newmtl n\nKd 0 0 1\n"}),
    ),
    ("n_faces_first", lambda: red(obj=f"mtllib m.mtl\nusemtl m\n{TEXTURED}{CORNERS}{SQUARE}".encode())),
    (
        "o_emission",
        lambda: written(
            "Kd 0 0 0\nKe 0 1 0\n",
            colors={BLACK: 12},
            inputs={"Emission Color": {GREEN: 12}, "Emission Strength": {1: 12}},
        ),
    ),
    (
        "p_map_d",
        lambda: written(
            "Kd 1 1 1\nmap_Kd tex.png\nmap_d alpha.png\n",
            images={**TEX, "alpha.png": picture((128, 255))},
            colors=WHOLE,
            inputs={"Alpha": {0.502: 6, 1: 6}},
        ),
    ),
    ("q_tex_alpha", lambda: textured("tex.png", data=quadrants(alpha=(0, 0, 0, 0)), inputs={"Alpha": {1: 12}})),
    ("r_webp", lambda: textured("t.webp", "t.webp", quadrants("WEBP"))),
    ("s_tif", lambda: textured("t.tif", "t.tif", quadrants("TIFF"))),
    ("u_cmyk", lambda: textured("cmyk.jpg", "cmyk.jpg", cmyk())),
    ("w_tr", lambda: red("Kd 1 0 0\nTr 0.25\n", inputs={"Alpha": {0.75: 12}})),
    ("x_d_halo", lambda: red("Kd 1 0 0\nd -halo 0.5\n", inputs={"Alpha": {0.5: 12}})),
    ("y_map_ka_only", lambda: written("Ka 1 1 1\nmap_Ka tex.png\nKd 1 1 1\n", colors={WHITE: 12}, notes=("map_Ka",))),
    ("z_vertexcol", lambda: red("Kd 1 1 1\n", cube(material="", corners=CORNERS.replace("\n", " 1 0 0\n")))),
    (
        "za_latin1",
        lambda: red(
            "newmtl Grün\nKd 1 0 0\n".encode("latin-1"),
            cube(material="").replace(b"f 1", "usemtl Grün\nf 1".encode("latin-1"), 1),
            notes=("not UTF-8", "not UTF-8"),
        ),
    ),
    ("zb_crlf_cont", lambda: red(b"newmtl m\r\nKd 1 0 0\r\n", cube().replace(b"/4 ", b"/4 \\\n"))),
    ("zc_ind", lambda: red(obj=numbered("1.#IND -1.#QNAN"))),
    ("zd_nan", lambda: red(obj=numbered("nan inf"))),
    ("ze_concave_L", lambda: red(obj=concave(), size=(2, 1, 2), faces=(20,), colors={RED: 20})),
    ("zf_concave_U", lambda: red(obj=U_SHAPE + b"f 1 2 3 4 5 6 7 8\n", size=(3, 0, 3), faces=(6,), colors={RED: 6})),
    (
        "zg_huge_offset",
        lambda: red(obj=cube(corners=lines_of(box((4999999, 4999999, 4999999), (5000001, 5000001, 5000001))))),
    ),
    ("zh_tiny", lambda: red(obj=cube(corners=lines_of(box((-1, -1, -1), (1, 1, 1)), 1e-9)), size=(2e-9, 2e-9, 2e-9))),
    ("zi_no_mtl_uv_tex", lambda: {"content": lambda: cube("", ""), "colors": {GRAY: 12}, "notes": ("gray",)}),
    ("zj_mtl_bom", lambda: red(b"\xef\xbb\xbfnewmtl m\nKd 1 0 0\n")),
    ("zk_usemap", lambda: red(obj=cube(material="usemtl m\nusemap tex\n"), notes=("usemap tex",))),
    (
        "zl_newmtl_twice",
        lambda: written(
            "Kd 1 0 0\nnewmtl m\nKd 0 0 1\n", colors={BLUE: 12}, notes=("defined twice; the last one counts",)
        ),
    ),
    ("zm_abs_win", lambda: textured(r"C:\Users\me\Desktop\tex.png", notes=("was found as tex.png",))),
    ("zn_quoted", lambda: textured('"tex.png"')),
    ("zo_leading_dash", lambda: textured("-dash.png", "-dash.png")),
    ("zp_clamp", lambda: textured("-clamp on tex.png")),
    ("zq_spectral", lambda: written("Kd xyz 0.4 0.2 0.02\n", colors={(0.8, 0.8, 0.8): 12}, notes=("is not read",))),
    (
        "all_undefined_novt",
        lambda: two_halves("usemtl green", "usemtl blue", **HALVES, colors={GRAY: 4}, notes=("gray",)),
    ),
    (
        "all_undefined_vt",
        lambda: two_halves("usemtl green", "usemtl blue", "{}/1", **HALVES, colors={GRAY: 4}, notes=("gray",)),
    ),
    (
        "one_undefined_novt",
        lambda: two_halves(
            "usemtl red",
            "usemtl blue",
            **HALVES,
            colors={RED: 2, GRAY: 2},
            notes=("'blue' is not defined; it is gray",),
        ),
    ),
    (
        "one_undefined_vt",
        lambda: two_halves(
            "usemtl red",
            "usemtl blue",
            "{}/1",
            **HALVES,
            colors={RED: 2, GRAY: 2},
            notes=("'blue' is not defined; it is gray",),
        ),
    ),
    ("trailing_space", lambda: two_halves("usemtl red  ", "usemtl\tred", **OPEN, colors={RED: 4})),
    # More of the kinds.
    (
        "opacity by the alpha of an image",
        lambda: written(
            "Kd 1 1 1\nmap_Kd tex.png\nmap_d a.png\n",
            images={**TEX, "a.png": quadrants(alpha=(0, 255, 0, 255))},
            inputs={"Alpha": {0: 6, 1: 6}},
        ),
    ),
    (
        "an opaque image for color and opacity",
        lambda: written("Kd 1 1 1\nmap_Kd tex.png\nmap_d tex.png\n", inputs={"Alpha": {1: 12}}),
    ),
    ("scaled in one direction", lambda: textured("-s 2 1 1 tex.png", colors={BLUE: 6, GREEN: 6})),
    ("scaled and moved", lambda: textured("-s 0.5 0.5 1 -o 0.5 0.5 0 tex.png", colors={GREEN: 12})),
    ("scaled by one number", lambda: textured("-s 0.5 tex.png", colors={BLUE: 6, RED: 6})),
    (
        "clamped",
        lambda: written(
            "Kd 1 1 1\nmap_Kd -clamp on tex.png\n",
            cube(uv=SQUARE.replace("1", "3").replace("0", "2")),
            colors={GREEN: 12},
            texture={"extension": "EXTEND"},
        ),
    ),
    (
        "not clamped",
        lambda: written(
            "Kd 1 1 1\nmap_Kd -clamp off tex.png\n",
            cube(uv=SQUARE.replace("1", "3").replace("0", "2")),
            colors=WHOLE,
            texture={"extension": "REPEAT"},
        ),
    ),
    ("a texture times black", lambda: written("Kd 0 0 0\nmap_Kd tex.png\n", colors=WHOLE)),
    # Programs that write colors of corners, which the specification does not have, write sRGB.
    (
        "a texture times a factor times colors",
        lambda: written(
            "Kd 1 0.5 1\nmap_Kd tex.png\n",
            cube(corners=CORNERS.replace("\n", " 0.5 1 1\n")),
            colors={(0.214, 0, 0): 6, (0.214, 0.5, 0): 6},
        ),
    ),
    (
        "roughness and metallic",
        lambda: red("Kd 1 0 0\nPr 0.3\nPm 0.9\n", inputs={"Roughness": {0.3: 12}, "Metallic": {0.9: 12}}),
    ),
    (
        "a missing texture",
        lambda: written(
            "Kd 0.2 0.4 0.8\nmap_Kd gone.png\n", colors={(0.2, 0.4, 0.8): 12}, notes=("'gone.png' is not there",)
        ),
    ),
    (
        "other missing textures",
        lambda: red(
            "Kd 1 0 0\nmap_Bump gone.png\nmap_d away.png\nmap_Ke lost.png\n",
            inputs={"Alpha": {1: 12}, "Emission Strength": {0: 12}},
            notes=("gone.png", "away.png", "lost.png"),
        ),
    ),
    ("lines", lambda: red(obj=cube() + b"l 1 7\n", notes=("1 line left out",))),
    (
        "a texture that is cut off",
        lambda: written(
            "Kd 0.2 0.4 0.8\nmap_Kd tex.png\n",
            images={"tex.png": quadrants()[:60]},
            colors={(0.2, 0.4, 0.8): 12},
            notes=("'tex.png' can't be read as a picture",),
        ),
    ),
    (
        "a TGA that passes as a small PCX",
        lambda: written(
            "map_Kd big.tga\n", images={"big.tga": two_in_one(9000)}, error="has 81,000,000 pixels; allowed"
        ),
    ),
    ("exponents of three digits", lambda: red(obj=cube(corners=re.sub(r"(?m) (\S+)", r" \1e+000", CORNERS)))),
    ("a face without numbers", lambda: red(obj=numbered("nan", True), notes=("no numbers or too large",))),
]


def two_in_one(side: int) -> bytes:
    """A TGA of run lengths, red, whose first bytes are a header of PCX, too, for 16x16 pixels."""
    head = struct.pack("<4B6H2B", 10, 0, 10, 1, 0, 0, 15, 15, side, side, 24, 0)
    runs = [min(128, side - start) for start in range(0, side, 128)]
    row = b"".join(struct.pack("<B3B", 0x80 | run - 1, 0x20, 0x20, 0xC0) for run in runs)
    data = bytearray(head + bytes(10) + row * side)
    data[65] = 1
    return bytes(data)


def cmyk() -> bytes:
    stream = io.BytesIO()
    Image.open(io.BytesIO(quadrants())).convert("CMYK").save(stream, "JPEG", quality=95, subsampling=0)
    return stream.getvalue()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIORAMA_CACHE", str(tmp_path / "cache"))


@pytest.mark.alike
@pytest.mark.parametrize("name", [name for name, _ in CASES])
def test_an_obj_is_what_its_specification_says(tmp_path: Path, name: str) -> None:
    (tmp_path / "files").mkdir()
    Case(name, file="model.obj", **dict(CASES)[name]()).check(tmp_path / "files")
