"""CLEVR (facebookresearch/clevr-dataset-gen): its questions for our executors, ours for its executor."""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import diorama
from diorama.render.uses.items.image_views import store_views
from diorama.scene_specs.tasks.questions.clevr_questions import clevr_numbers, clevr_question
from diorama.scene_specs.tasks.questions.generate import Questioner
from diorama.scene_specs.tasks.questions.grammar import default_grammar
from diorama.scene_specs.tasks.questions.positions_executor import PositionsExecutor
from diorama.scene_specs.tasks.questions.program import CLEVR_FAMILIES, parse_clevr, spoken
from diorama.scene_specs.tasks.questions.relations_executor import RelationsExecutor, attempt
from diorama.scene_specs.tasks.questions.view import ImageView
from tools.claims.crosschecks import Row, read_json

MARK = "question_generation/question_engine.py"
# The published script makes ten questions per image, of ten templates.
PER_IMAGE, LONGEST_S = 10, 3600
PARTS: Mapping[str, Mapping[str, Any]] = {
    "whole": {}, "--where": {"where": "episode_id LIKE '%3'"}, "--split": {"splits": "val"}, "after deletion": {},
}  # fmt: skip
Images = Mapping[int, ImageView]


def check(checkout: Path, options: Namespace) -> Iterator[Row]:
    """Yield both directions for each part of a store, over at most `--items` questions each (default 1000)."""
    count = options.items or 1000
    with TemporaryDirectory() as work:
        for part, folder, images in exported_parts(Path(work), count // PER_IMAGE + 20):
            yield _theirs(checkout, part, folder, images, count)
            yield _ours(checkout, part, folder, images, count)


def exported_parts(work: Path, count: int) -> Iterator[tuple[str, Path, Images]]:
    """Name and folder of each export, and the images of its split `val` in the whole store by number."""
    url = str(work / "store.lance")
    specs = [
        spec for split in ("train", "val") for spec in diorama.generate("clevr", count=count, seed=2017, split=split)
    ]
    diorama.render_to_store(specs, url, renderer="fake", size=(160, 120), workers=1)
    for part, options in PARTS.items():
        store = diorama.open_store(url)
        if part == "after deletion":
            store.delete([f"clevr/val/{number:06d}" for number in range(0, count, 7)])
        diorama.export(url, "clevr", work / part, **options)
        views = store_views(store.get(key) for key in sorted(key for key, _ in store.ids()))
        images = {number: view for view, number in clevr_numbers(views) if number is not None and view.split == "val"}
        yield part, work / part, images


def scenes_of(folder: Path) -> list[dict[str, Any]]:
    """The list of an export's scenes. Scenes of images that are left out have no objects."""
    scenes: list[dict[str, Any]] = read_json(folder / "scenes/CLEVR_val_scenes.json")["scenes"]
    return scenes


def asked_of(images: Images, folder: Path, count: int) -> list[tuple[dict[str, Any], bool]]:
    """Questions over the whole split, as in CLEVR's file, and whether the export has the image."""
    asker = Questioner(default_grammar(), 1, CLEVR_FAMILIES, len(CLEVR_FAMILIES))
    made = [(one, number) for number, view in sorted(images.items()) for one in asker.ask(view)][:count]
    lines = [json.loads(json.dumps(clevr_question(*pair, index))) for index, pair in enumerate(made)]
    return [(line, (folder / "images/val" / line["image_filename"]).exists()) for line in lines]


def _theirs(checkout: Path, part: str, folder: Path, images: Images, count: int) -> Row:
    """The published generator, run as it is, with its templates."""
    made = folder / "questions.json"
    files = ["--input_scene_file", folder / "scenes/CLEVR_val_scenes.json", "--output_questions_file", made]
    command = [sys.executable, "generate_questions.py", *map(str, files)]
    home = checkout / "question_generation"
    subprocess.run(command, cwd=home, stdout=subprocess.DEVNULL, check=True, timeout=LONGEST_S)
    questions = read_json(made)["questions"][:count]
    wrong = []
    for one in questions:
        view, program = images[one["image_index"]], parse_clevr(one["program"])
        found = [attempt(kind(view).run, program) for kind in (RelationsExecutor, PositionsExecutor)]
        if found != [one["answer"]] * 2 or not (folder / "images/val" / one["image_filename"]).exists():
            wrong.append(f"{one['question']} {one['answer']}, ours {found}")
    note = "; ".join(wrong[:3])
    return Row(f"{part}: published questions, answered by both executors", len(questions), len(wrong), note=note)


def _ours(checkout: Path, part: str, folder: Path, images: Images, count: int) -> Row:
    sys.path.insert(0, str((checkout / MARK).parent))
    engine = import_module("question_engine")
    scenes = {scene["image_index"]: scene for scene in scenes_of(folder)}
    compared, wrong = 0, []
    for line, is_exported in asked_of(images, folder, count):
        if not is_exported:
            continue
        compared += 1
        # The keys that the published script renames when it writes its file.
        steps = [
            {"type": step["function"], "inputs": step["inputs"], "side_inputs": step["value_inputs"]}
            for step in line["program"]
        ]
        found = engine.answer_question({"nodes": steps}, {}, scenes[line["image_index"]], cache_outputs=False)
        if spoken(found) != line["answer"]:
            wrong.append(f"{line['question']} {line['answer']}, published {found}")
    note = "; ".join(wrong[:3])
    return Row(f"{part}: our questions, answered by the published executor", compared, len(wrong), note=note)
