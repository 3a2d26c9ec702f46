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
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from diorama.scene_specs.benchmarks.iwisdm import Pictures
from diorama.scene_specs.benchmarks.iwisdm.stimuli import DEFAULT, PICTURE, VIEW_ANGLES, Stimuli
from diorama.scene_specs.errors import counted, located, spec_error
from diorama.scene_specs.files.atomic import write_atomic
from diorama.scene_specs.files.foreign import read_foreign, read_text
from diorama.scene_specs.files.writing import report_write_errors
from diorama.scene_specs.tasks.benchmark import Series
from diorama.scene_specs.tasks.importing.pictures import MOST_BYTES, read_picture

# Outwards from the box, in an .obj file of ShapeNet: y up, front towards -z.
_NORMALS = ((0, -1), (-1, 0), (0, 1), (1, 0))


def read_table(file: Path, *columns: str) -> Iterator[tuple[str, int, list[int]]]:
    """Yield label and number of the category, and the numbers of the columns, per row of a table. Raises SpecError.

    Labels are changed to lower case and hyphens for spaces, as names of categories must be.
    """
    table = csv.DictReader(io.StringIO(read_text(file)))
    columns = ("ctg_mod", *columns)
    try:
        if missing := [name for name in columns if name not in (table.fieldnames or ())]:
            raise ValueError(f"found no column {', '.join(missing)}")
        for row in table:
            # None in a row with fewer columns.
            texts = {name: row[name] or "" for name in columns}
            for name, text in texts.items():
                if not re.fullmatch(" *[0-9]{1,9} *", text):
                    raise ValueError(f"{name}: found {text[:20]!r}; expected a whole number of 0 or more")
            category, *numbers = map(int, texts.values())
            label = (row.get("ctg") or "").strip() or dict(enumerate(DEFAULT.categories)).get(category)
            if not label:
                raise ValueError(f"found category {category} without a label; expected one in column ctg")
            yield label.lower().replace(" ", "-"), category, numbers
    except (csv.Error, ValueError) as error:
        raise spec_error(str(error), file=str(file), line=table.reader.line_num) from None


def read_category_names(files: Iterable[Path]) -> dict[int, str]:
    """Return category number -> its label in these tables. Raises SpecError unless both determine each other."""
    names: dict[int, str] = {}
    numbers: dict[str, int] = {}
    for file in files:
        for label, number, _ in read_table(file):
            other = names.setdefault(number, label), numbers.setdefault(label, number)
            if other != (label, number):
                problem = f"found label {label!r} for category {number}, and {other[0]!r} and {other[1]} elsewhere"
                raise spec_error(problem, "expected one label per number, and one number per label", file=str(file))
    return names


def write_models(options: Pictures) -> Series:
    """Write the models of a split to the folder `out`. Raises SpecError for a set without this split."""
    root, split = options.folder, options.split
    tables = [file for file in sorted(root.rglob("*.csv")) if split in file.name]
    folders = [path for path in sorted(root.rglob(split)) if path.is_dir()]
    if not tables or len(folders) != 1:
        contents = f"found {counted(len(tables), 'table')} and {counted(len(folders), 'folder')} of split {split}"
        raise spec_error(contents, f"expected {split}/<ref>/image.png and a table {split}_meta.csv", file=str(root))
    with report_write_errors(f"--out {options.out}"):
        if options.out.exists() and any(options.out.iterdir()):
            hint = "delete what an interrupted run left, or choose another"
            raise spec_error("expected an empty or a new folder", hint, file=str(options.out))
    pictures: dict[str, dict[int, Path]] = defaultdict(dict)
    rows = read_table(tables[0], "ref", "obj_mod", "ang_mod")
    for label, _, (ref, number, side) in sorted(rows, key=lambda row: row[2]):
        if side < len(VIEW_ANGLES):
            pictures[f"{label}/{PICTURE}{number}"].setdefault(side, folders[0] / str(ref) / "image.png")
    read_category_names(tables[:1])
    stimuli_of(pictures, tables[0])
    complete = _by_category(identity for identity, sides in pictures.items() if len(sides) == len(VIEW_ANGLES))
    done = f"{counted(len(pictures), 'model')} in {options.out}, {sum(map(len, complete.values()))} with all four sides"
    files = {f"{split}_meta.csv": read_text(tables[0]).encode()}
    if len(complete) > 1:
        files["stimuli.json"] = json.dumps(complete, indent=1).encode()
    else:
        done += "; no stimuli.json, which needs models with all four sides in two categories"

    def models() -> Iterator[str]:
        # Before anything is written. Reading a model only notes a damaged picture.
        for sides in pictures.values():
            for file in sides.values():
                read_picture(file)
        for identity, sides in pictures.items():
            _write_folder(options.out / identity, _model_files(sides))
            yield identity
        # Without these, the folder of an interrupted run is not taken for a complete one.
        _write_folder(options.out, files)

    return Series(models(), len(pictures), "models", done)


def _write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        with report_write_errors(f"--out {folder / name}"):
            write_atomic(folder / name, content, fsync=False)


def _model_files(pictures: Mapping[int, Path]) -> dict[str, bytes]:
    """Name -> content of a model's files. pictures: number of a side -> its picture."""
    shape, materials, files = ["mtllib model.mtl", "vt 0 0", "vt 1 0", "vt 1 1", "vt 0 1"], [], {}
    for side, picture in sorted(pictures.items()):
        name, (x, z) = VIEW_ANGLES[side], _NORMALS[side]
        # The file as it is, so that a model's digest is the same everywhere.
        files[f"{name}.png"] = read_foreign(picture, MOST_BYTES)
        materials += [f"newmtl {name}", "Kd 1 1 1", f"map_Kd {name}.png"]
        # From the lower left corner of the picture, counter-clockwise; its right is (z, -x).
        shape += [f"v {x + z * u} {v} {z - x * u}" for u, v in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        shape += [f"usemtl {name}", "f -4/1 -3/2 -2/3 -1/4"]
    return {**files, "model.obj": "\n".join(shape).encode(), "model.mtl": "\n".join(materials).encode()}


def read_models(folder: Path) -> dict[str, set[int]]:
    """`<category>/picture-<object>` -> numbers of the sides with a picture, of a folder that `write_models` wrote."""
    sides_by_model: dict[str, set[int]] = defaultdict(set)
    for side, name in enumerate(VIEW_ANGLES):
        for file in sorted(folder.glob(f"*/{PICTURE}*/{name}.png")):
            sides_by_model["/".join(file.parts[-3:-1])].add(side)
    return sides_by_model


def stimuli_of(identities: Iterable[str], file: Path) -> Stimuli:
    """Return the stimuli `<category>/<model>` that a file or folder names. Raises SpecError."""
    with located(file=str(file)):
        return Stimuli({category: tuple(models) for category, models in _by_category(identities).items()})


def _by_category(identities: Iterable[str]) -> dict[str, list[str]]:
    models: dict[str, list[str]] = defaultdict(list)
    # By number, so that consecutive numbers stay what they are in exports.
    for identity in sorted(identities, key=lambda name: (len(name), name)):
        category, _, model = identity.rpartition("/")
        models[category].append(model)
    return models
