"""Check that the word for an object's color is what its material shows.

    python -m tools check-colors

For Diorama's materials, those of .blend files (the packaged ones, and those of tests/blend_groups.py with verdicts
written beforehand) and the plug-in of docs/extending.md, in all eight colors, from the front and the back of the faces.
The judge compares hue and chroma (CIELAB) of each pixel with those of eight spheres of its own plain diffuse shader in
the same place on the stage `clevr`, and imports nothing of materials or looks. Exit code 1: a word is wrong.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import bpy
import numpy as np

from diorama.render.api import compile_spec, render_scene
from diorama.render.renderers.cycles.capture import captured
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs.asset_roots import searching
from diorama.scene_specs.errors import AssetError, SpecError
from diorama.scene_specs.language.vocabulary import COLORS
from diorama.scene_specs.model.scene import Scene
from tests.acme import write_installed
from tests.blend_groups import VERDICTS, write_groups

# Wide enough for the stripes of a pattern.
SIZE = (128, 96)
# Written before the first run. A pixel shows the color of the seven whose reference is nearest in hue if its chroma is
# at least this share of the reference's; light passes through glass, and emission may be brighter than its reference.
LEAST_CHROMA = {"glass": 0.3, "emission": 0.3}
USUAL_CHROMA = 0.45
# An object shows the color that most of its pixels show, if at least this share does; otherwise it is gray.
LEAST_PIXELS = 0.1
OURS = ("rubber", "metal", "matte", "glass", "emission")
# The color is thin in stripes: in a green object, nearly white covers more.
PACKAGED = {"Checker": ("checker", "shown"), "Stripes": ("checker", "hidden"), "Wood": ("wood", "shown")}
_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]]
)


def opponents(linear: Any) -> Any:
    """a and b of CIELAB (D65) of linear RGB, which is clipped as in an image: (..., 3) to (..., 2)."""
    ratios = np.clip(linear, 0, 1) @ _TO_XYZ.T / _TO_XYZ.sum(axis=1)
    x, y, z = np.moveaxis(np.where(ratios > 0.008856, np.cbrt(ratios), 7.787 * ratios + 16 / 116), -1, 0)
    return np.stack([500 * (x - y), 200 * (y - z)], axis=-1)


class Judge:
    """Renders one sphere on the stage and says which of the eight colors it shows."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.renderer = folder, CyclesRenderer("cpu", 0, [folder])
        self.mask = render_scene(self.compiled("matte", "red"), renderer=FakeRenderer())[0].passes.ids == 1
        own = self._own_material()
        means = {word: self.pixels(self.compiled("matte", word), False, own).mean(axis=0) for word in COLORS}
        self.gray = means.pop("gray")
        self.references = {word: mean - self.gray for word, mean in means.items()}

    def compiled(self, material: Any, color: str | None) -> Scene:
        """A large sphere in the middle of the stage."""
        item = {"shape": "sphere", "size": "large", "location": [0, 0], "material": material, "rotation_deg": 0}
        frame = {"objects": [item | ({"color": color} if color else {})]}
        return compile_spec({"version": 1, "id": "a/1", "frames": [frame]}, "draft", SIZE, self.folder)

    @staticmethod
    def _own_material() -> Any:
        material: Any = bpy.data.materials.new("judge")
        material.use_nodes = True
        nodes = material.node_tree.nodes
        nodes.clear()
        body, surface = nodes.new("ShaderNodeBsdfDiffuse"), nodes.new("ShaderNodeOutputMaterial")
        material.node_tree.links.new(nodes.new("ShaderNodeObjectInfo").outputs["Color"], body.inputs["Color"])
        material.node_tree.links.new(body.outputs[0], surface.inputs["Surface"])
        return material

    def pixels(self, scene: Scene, back: bool, own: Any = None) -> Any:
        """a and b of the pixels of the sphere. back: turn its faces inwards. own: its material, not the Scene's."""
        frame, stage = scene.frames[0], bpy.context.scene
        self.renderer.build(scene, frame, frame.views[0])
        (ball,) = (item for item in stage.objects if item.pass_index == 1)
        kept, file = (ball.data, ball.material_slots[0].material), self.folder / "judged.exr"
        if back:
            ball.data = ball.data.copy()
            ball.data.flip_normals()
        ball.material_slots[0].link = "OBJECT"
        ball.material_slots[0].material = own or kept[1]
        stage.cycles.samples = 8
        stage.render.image_settings.file_format, stage.render.filepath = "OPEN_EXR", str(file)
        with captured():
            bpy.ops.render.render(write_still=True)
        image: Any = bpy.data.images.load(str(file))
        linear = np.array(image.pixels).reshape(SIZE[1], SIZE[0], -1)[::-1, :, :3]
        bpy.data.images.remove(image)
        ball.data, ball.material_slots[0].material = kept
        return opponents(linear[self.mask])

    def seen(self, scene: Scene, back: bool, material: str) -> str:
        """The word for the color that the sphere shows."""
        shown, least = self.pixels(scene, back) - self.gray, LEAST_CHROMA.get(material, USUAL_CHROMA)
        lengths = {word: float(np.hypot(*there)) for word, there in self.references.items()}
        chroma = np.hypot(shown[:, 0], shown[:, 1])
        along = np.stack([shown @ there / lengths[word] for word, there in self.references.items()])
        nearest = along.argmax(axis=0)
        shares = {
            word: float(((nearest == k) & (chroma >= least * lengths[word])).mean()) for k, word in enumerate(lengths)
        }
        word = max(shares, key=lambda word: shares[word])
        return word if shares[word] >= LEAST_PIXELS else "gray"

    def verdict(self, material: Any, color: str, back: bool) -> str:
        """What Diorama makes of a stated color: `shown`, `hidden`, or `null` where it refuses the color."""
        try:
            scene = self.compiled(material, color)
        except SpecError:
            assert self.compiled(material, None).frames[0].objects[0].color is None
            return "null"
        frame = scene.frames[0]
        hollow = frame.objects[0].model_copy(update={"shape": "model:hollow.obj"})
        try:
            with searching([self.folder]):
                self.renderer.check_colors(scene, frame.model_copy(update={"objects": (hollow,)}) if back else frame)
        except AssetError:
            return "hidden"
        return "shown"

    def unchecked(self, material: Any, color: str) -> Scene:
        """The Scene as version 0.1 made it, which had every color."""
        scene = self.compiled("matte", color)
        frame = scene.frames[0]
        blend = frame.objects[0].material.model_copy(update={"name": "blend", **material})
        item = frame.objects[0].model_copy(update={"material": blend})
        return scene.model_copy(update={"frames": (frame.model_copy(update={"objects": (item,)}),)})


def materials(folder: Path) -> Iterator[tuple[str, Any, str]]:
    """Name, value in a spec and expected verdict of each material."""
    write_groups(folder / "groups.blend")
    yield from ((name, name, "shown") for name in (*OURS, "velvet"))
    for group, (file, verdict) in PACKAGED.items():
        yield group, {"blend": f"materials/{file}.blend", "group": group}, verdict
    yield from ((name, {"blend": "groups.blend", "group": name}, verdict) for name, verdict in VERDICTS.items())


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--colors", nargs="+", choices=COLORS, default=list(COLORS), help="default: all")
    parser.add_argument("--materials", nargs="+", metavar="NAME", help="default: all")


def main(options: Namespace) -> int:
    """Judge all materials; 1 if a word is not what is seen."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_installed(folder / "site")
        sys.path.insert(0, str(folder / "site"))
        # A sheet, of which both faces can be seen.
        (folder / "hollow.obj").write_text("v -1 0 1\nv 1 0 1\nv 1 0 -1\nv -1 0 -1\nf 1 2 3 4\n")
        judge, wrong = Judge(folder), 0
        chosen = [part for part in materials(folder) if part[0] in (options.materials or part[0])]
        for (material, value, expected), back in product(chosen, (False, True)):
            said = judge.verdict(value, options.colors[0], back)
            due = {"front": "hidden" if back else "shown"}.get(expected, expected)
            scenes = {
                color: judge.compiled(value, color) if said == "shown" else judge.unchecked(value, color)
                for color in options.colors
            }
            seen = {color: judge.seen(scene, back, material) for color, scene in scenes.items()}
            right = sum(color == word for color, word in seen.items())
            # A color that is not said must not be seen, for one of the colors at least.
            holds = said == due and (right == len(seen) if said == "shown" else right < len(seen))
            wrong += not holds
            others = ", ".join(f"{color} looks {word}" for color, word in seen.items() if color != word)
            side, state = "back" if back else "front", "holds" if holds else "WRONG"
            print(f"{state}  {material:14} {side:6} {said:7} {right} of {len(seen)} seen  {others}", flush=True)
    return int(wrong > 0)
