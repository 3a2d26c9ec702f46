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
from tools.claims.crosschecks import Row

MARK = "question_generation/question_engine.py"
# The published script makes ten questions per image, of ten templates.
PER_IMAGE, LONGEST_S = 10, 3600
Scenes = dict[int, dict[str, Any]]


def check(checkout: Path, options: Namespace) -> Iterator[Row]:
    """Yield both directions, over `--items` questions each (default 1000)."""
    count = options.items or 1000
    with TemporaryDirectory() as work:
        scenes, images = _exported(Path(work), count // PER_IMAGE + 20)
        yield _theirs(checkout, Path(work), images, count)
        yield _ours(checkout, scenes, images, count)


def _exported(work: Path, count: int) -> tuple[Scenes, Mapping[int, ImageView]]:
    """Scenes by number, from a file in CLEVR's form that the export writes, and what our executors see of them."""
    specs = diorama.generate("clevr", count=count, seed=2017, split="val")
    diorama.render_to_store(specs, str(work / "store.lance"), renderer="fake", size=(160, 120), workers=1)
    diorama.export(str(work / "store.lance"), "clevr", str(work / "export"))
    scenes = json.loads((work / "export/scenes/CLEVR_val_scenes.json").read_text("utf-8"))["scenes"]
    store = diorama.open_store(str(work / "store.lance"))
    views = store_views(store.get(key) for key in sorted(key for key, _ in store.ids()))
    images = {number: view for view, number in clevr_numbers(views) if number is not None}
    return {scene["image_index"]: scene for scene in scenes}, images


def _theirs(checkout: Path, work: Path, images: Mapping[int, ImageView], count: int) -> Row:
    """The published generator, run as it is, with its templates."""
    made = work / "questions.json"
    files = ["--input_scene_file", work / "export/scenes/CLEVR_val_scenes.json", "--output_questions_file", made]
    command = [sys.executable, "generate_questions.py", *map(str, files)]
    home = checkout / "question_generation"
    subprocess.run(command, cwd=home, stdout=subprocess.DEVNULL, check=True, timeout=LONGEST_S)
    questions = json.loads(made.read_text("utf-8"))["questions"][:count]
    wrong = []
    for one in questions:
        view, program = images[one["image_index"]], parse_clevr(one["program"])
        found = [attempt(kind(view).run, program) for kind in (RelationsExecutor, PositionsExecutor)]
        if found != [one["answer"]] * 2:
            wrong.append(f"{one['question']} {one['answer']}, ours {found}")
    return Row("published questions, answered by both executors", len(questions), len(wrong), note="; ".join(wrong[:3]))


def _ours(checkout: Path, scenes: Scenes, images: Mapping[int, ImageView], count: int) -> Row:
    sys.path.insert(0, str((checkout / MARK).parent))
    engine = import_module("question_engine")
    asker = Questioner(default_grammar(), 1, CLEVR_FAMILIES, len(CLEVR_FAMILIES))
    made = [(one, number) for number, view in sorted(images.items()) for one in asker.ask(view)][:count]
    wrong = []
    for index, (one, number) in enumerate(made):
        line = json.loads(json.dumps(clevr_question(one, number, index)))
        # The keys that the published script renames when it writes its file.
        steps = [
            {"type": step["function"], "inputs": step["inputs"], "side_inputs": step["value_inputs"]}
            for step in line["program"]
        ]
        found = engine.answer_question({"nodes": steps}, {}, scenes[number], cache_outputs=False)
        if spoken(found) != line["answer"]:
            wrong.append(f"{one.text} {line['answer']}, published {found}")
    return Row("our questions, answered by the published executor", len(made), len(wrong), note="; ".join(wrong[:3]))
