"""CLEVR's generator and ns-vqa's executor on exports of a whole store and of three parts of it.

    python -m tests.harness.clevr_programs CLEVR NS_VQA [QUESTIONS]

CLEVR and NS_VQA are clones of facebookresearch/clevr-dataset-gen and kexinyi/ns-vqa. Prints a row per part and program.
Our questions are about the whole split; those whose image a part has are compared. Exit code 1: some answers differ.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import h5py

import diorama
from diorama.render.uses.items.image_views import store_views
from diorama.scene_specs.tasks.questions.clevr_questions import clevr_numbers, clevr_question
from diorama.scene_specs.tasks.questions.generate import Questioner
from diorama.scene_specs.tasks.questions.grammar import default_grammar
from diorama.scene_specs.tasks.questions.positions_executor import PositionsExecutor
from diorama.scene_specs.tasks.questions.program import CLEVR_FAMILIES, parse_clevr, spoken
from diorama.scene_specs.tasks.questions.relations_executor import RelationsExecutor, attempt
from diorama.scene_specs.tasks.questions.view import ImageView

PARTS: Mapping[str, Mapping[str, Any]] = {
    "whole": {},
    "--where": {"where": "episode_id LIKE '%3'"},
    "--split": {"splits": "val"},
    "after render-store delete": {},
}
PER_IMAGE = 10
Images = Mapping[int, ImageView]
# Answer of the program, and the expected one.
Answers = list[tuple[Any, Any]]


def parts_of(work: Path, count: int) -> Iterator[tuple[str, Path, Images]]:
    """Name and folder of each export, and all images of the split `val` in the store, by number."""
    url = str(work / "store.lance")
    for split in ("train", "val"):
        specs = diorama.generate("clevr", count=count, seed=2017, split=split)
        diorama.render_to_store(specs, url, renderer="fake", size=(160, 120), workers=1)
    for part, options in PARTS.items():
        store = diorama.open_store(url)
        if "delete" in part:
            store.delete([f"clevr/val/{number:06d}" for number in range(0, count, 7)])
        diorama.export(url, "clevr", work / part, **options)
        views = store_views(store.get(key) for key in sorted(key for key, _ in store.ids()))
        images = {number: view for view, number in clevr_numbers(views) if number is not None and view.split == "val"}
        yield part, work / part, images


def scene_file(folder: Path) -> Path:
    return folder / "scenes/CLEVR_val_scenes.json"


def has_image(folder: Path, line: Mapping[str, Any]) -> bool:
    return Path(folder, "images/val", line["image_filename"]).exists()


def asked_of(images: Images, count: int) -> list[dict[str, Any]]:
    """Questions over the whole split, as in CLEVR's file."""
    asker = Questioner(default_grammar(), 1, CLEVR_FAMILIES, len(CLEVR_FAMILIES))
    made = [(one, number) for number, view in sorted(images.items()) for one in asker.ask(view)][:count]
    return [json.loads(json.dumps(clevr_question(*pair, index))) for index, pair in enumerate(made)]


def generated(checkout: Path, folder: Path, images: Images, count: int) -> Answers:
    """The questions of CLEVR's generator, with our answers. An image that is left out is a wrong answer."""
    out = folder / "generated.json"
    files = ["--input_scene_file", str(scene_file(folder)), "--output_questions_file", str(out)]
    command = [sys.executable, "generate_questions.py", *files]
    subprocess.run(command, cwd=checkout / "question_generation", stdout=subprocess.DEVNULL, check=True)
    answers: Answers = []
    for line in json.loads(out.read_text())["questions"][:count]:
        view, program = images[line["image_index"]], parse_clevr(line["program"])
        ours = {attempt(kind(view).run, program) for kind in (RelationsExecutor, PositionsExecutor)}
        answers.append((ours if has_image(folder, line) else None, {line["answer"]}))
    return answers


def engine_answers(checkout: Path, folder: Path, asked: list[dict[str, Any]]) -> Answers:
    """Our questions, answered by the engine of CLEVR's generator, which takes a scene."""
    sys.path.insert(0, str(checkout / "question_generation"))
    engine = import_module("question_engine")
    scenes = {scene["image_index"]: scene for scene in json.loads(scene_file(folder).read_text())["scenes"]}
    answers: Answers = []
    for line in asked:
        if has_image(folder, line):
            # The keys that the published script renames when it writes its file.
            steps = [
                {"type": step["function"], "inputs": step["inputs"], "side_inputs": step["value_inputs"]}
                for step in line["program"]
            ]
            answer = engine.answer_question({"nodes": steps}, {}, scenes[line["image_index"]], cache_outputs=False)
            answers.append((spoken(answer), line["answer"]))
    return answers


def executor_answers(checkout: Path, folder: Path, asked: list[dict[str, Any]]) -> Answers:
    """Our questions, encoded by the scripts of ns-vqa and answered by its executor, which takes scenes by position."""
    # Its scripts import PyTorch, and these don't use it.
    stub = folder / "stub"
    stub.mkdir()
    (stub / "torch.py").touch()
    sys.path[:0] = [str(checkout / "reason"), str(stub)]
    questions, encoded, vocabulary = (folder / name for name in ("q.json", "q.h5", "vocab.json"))
    questions.write_text(json.dumps({"questions": asked}))
    files = {"input_questions_json": questions, "output_h5_file": encoded, "output_vocab_json": vocabulary}
    words = [word for name, path in files.items() for word in (f"--{name}", str(path))]
    paths = {"PYTHONPATH": f"{checkout / 'reason'}:{stub}"}
    command = [sys.executable, "tools/preprocess_questions.py", *words]
    subprocess.run(command, cwd=checkout / "reason", env=paths, stdout=subprocess.DEVNULL, check=True)
    scenes = str(scene_file(folder))
    executor = import_module("executors.clevr_executor").ClevrExecutor(scenes, scenes, str(vocabulary))
    with h5py.File(encoded) as file:
        # Without the start token, as its parser's programs.
        rows = zip(file["programs"][:, 1:], file["image_idxs"][()], asked, strict=True)
        return [
            (executor.run(program, image, "val"), line["answer"])
            for program, image, line in rows
            if has_image(folder, line)
        ]


def main(clevr: Path, ns_vqa: Path, count: int) -> int:
    differ = 0
    sys.stdout.write("| part | program | answers | differ |\n|---|---|---|---|\n")
    with TemporaryDirectory() as work:
        for part, folder, images in parts_of(Path(work), count // PER_IMAGE + 20):
            asked = asked_of(images, count)
            for program, answers in {
                "CLEVR's generator": generated(clevr, folder, images, count),
                "CLEVR's engine": engine_answers(clevr, folder, asked),
                "ns-vqa's executor": executor_answers(ns_vqa, folder, asked),
            }.items():
                wrong = sum(answer != expected for answer, expected in answers)
                differ += wrong
                sys.stdout.write(f"| {part} | {program} | {len(answers)} | {wrong} |\n")
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), int([*sys.argv, "1000"][3])))
