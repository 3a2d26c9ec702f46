"""Pictures of a published stimulus set as models, which specs can show.

    <out>/<category>/picture-<object>/model.obj, model.mtl    a box, for --shapenet
                                      front.png, left.png, back.png, right.png
          stimuli.json                                        objects with all four pictures, for --stimuli
          <split>_meta.csv                                    the table of the set, for --images

Each side of the box has the picture of this side. Seen from there, it fills a quadrant of the stage `pictures`.
"""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from scene_specs.benchmarks.iwisdm import Pictures
from scene_specs.benchmarks.iwisdm.stimuli import DEFAULT, PICTURE, VIEW_ANGLES, Stimuli
from scene_specs.language.atomic import write_atomic
from scene_specs.language.benchmark import Series
from scene_specs.language.errors import spec_error
from scene_specs.language.foreign import read_foreign, read_text
from scene_specs.language.pictures import MOST_BYTES, read_picture
from scene_specs.language.tables import counted
from scene_specs.language.writing import report_write_errors

# Outwards from the box, in an .obj file of ShapeNet: y up, front towards -z.
_NORMALS = ((0, -1), (-1, 0), (0, 1), (1, 0))


def read_table(file: Path, *columns: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the label of the category and the numbers of these columns, for each row of a table. Raises SpecError."""
    for row in csv.DictReader(io.StringIO(read_text(file))):
        try:
            label = row.get("ctg") or DEFAULT.categories[int(row["ctg_mod"])]
            yield label, tuple(int(row[name]) for name in columns)
        # TypeError: a row with fewer columns.
        except (KeyError, ValueError, IndexError, TypeError):
            problem = "expected columns ref, ctg_mod, obj_mod, ang_mod, and ctg for more than 8 categories"
            raise spec_error(problem, file=str(file)) from None


def write_models(options: Pictures) -> Series:
    """Write the models of a split to the folder `out`. Raises SpecError for a set without this split."""
    root, split = options.folder, options.split
    tables = [file for file in sorted(root.rglob("*.csv")) if split in file.name]
    folders = [path for path in sorted(root.rglob(split)) if path.is_dir()]
    if not tables or len(folders) != 1:
        found = f"found {counted(len(tables), 'table')} and {counted(len(folders), 'folder')} of split {split}"
        raise spec_error(found, f"expected {split}/<ref>/image.png and a table {split}_meta.csv", file=str(root))
    with report_write_errors(f"--out {options.out}"):
        if options.out.exists() and any(options.out.iterdir()):
            raise spec_error("expected an empty or a new folder", file=str(options.out))
    refs: dict[str, dict[int, int]] = defaultdict(dict)
    for label, (ref, number, side) in read_table(tables[0], "ref", "obj_mod", "ang_mod"):
        if 0 <= side < len(VIEW_ANGLES):
            sides = refs[f"{label}/{PICTURE}{number}"]
            sides[side] = min(ref, sides.get(side, ref))
    stimuli_of(refs)
    complete = [identity for identity, sides in refs.items() if len(sides) == len(VIEW_ANGLES)]
    files = {
        "stimuli.json": json.dumps(_by_category(complete), indent=1).encode(),
        f"{split}_meta.csv": read_text(tables[0]).encode(),
    }

    def models() -> Iterator[str]:
        for identity, sides in refs.items():
            _write(options.out / identity, _model(sides, folders[0]))
            yield identity
        # Without these, the folder of an interrupted run is not taken for a complete one.
        _write(options.out, files)

    return Series(models(), len(refs), "models", f"{counted(len(refs), 'model')} in {options.out}")


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        with report_write_errors(f"--out {folder / name}"):
            write_atomic(folder / name, content, fsync=False)


def _model(refs: Mapping[int, int], folder: Path) -> dict[str, bytes]:
    """Name -> content of a model's files. refs: number of a side -> number of its picture. Raises SpecError."""
    shape, materials, files = ["mtllib model.mtl", "vt 0 0", "vt 1 0", "vt 1 1", "vt 0 1"], [], {}
    for side, ref in sorted(refs.items()):
        path, name, (x, z) = folder / str(ref) / "image.png", VIEW_ANGLES[side], _NORMALS[side]
        # Reading a model only notes a damaged picture.
        read_picture(path)
        # The file as it is, so that a model's digest is the same everywhere.
        files[f"{name}.png"] = read_foreign(path, MOST_BYTES)
        materials += [f"newmtl {name}", "Kd 1 1 1", f"map_Kd {name}.png"]
        # From the lower left corner of the picture, counter-clockwise; its right is (z, -x).
        shape += [f"v {x + z * u} {v} {z - x * u}" for u, v in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        shape += [f"usemtl {name}", "f -4/1 -3/2 -2/3 -1/4"]
    return {**files, "model.obj": "\n".join(shape).encode(), "model.mtl": "\n".join(materials).encode()}


def read_models(folder: Path) -> dict[str, set[int]]:
    """`<category>/picture-<object>` -> numbers of the sides with a picture, of a folder that `write_models` wrote."""
    found: dict[str, set[int]] = defaultdict(set)
    for side, name in enumerate(VIEW_ANGLES):
        for file in sorted(folder.glob(f"*/{PICTURE}*/{name}.png")):
            found["/".join(file.parts[-3:-1])].add(side)
    return found


def stimuli_of(identities: Mapping[str, object]) -> Stimuli:
    """The stimuli that these pictures are. Raises SpecError."""
    return Stimuli({category: tuple(models) for category, models in _by_category(identities).items()})


def _by_category(identities: Mapping[str, object] | list[str]) -> dict[str, list[str]]:
    models: dict[str, list[str]] = defaultdict(list)
    # By number, so that consecutive numbers stay what they are in exports.
    for identity in sorted(identities, key=lambda one: (len(one), one)):
        category, _, model = identity.rpartition("/")
        models[category].append(model)
    return models
