"""ns-vqa (kexinyi/ns-vqa): its executor on exports in CLEVR's layout, for our questions."""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import h5py

from tools.claims.crosschecks import Row
from tools.claims.crosschecks.clevr import PER_IMAGE, asked_of, exported_parts

MARK = "reason/executors/clevr_executor.py"


def check(checkout: Path, options: Namespace) -> Iterator[Row]:
    """Yield a row for each part of a store: a question file over the whole split, read by the published scripts."""
    count = options.items or 1000
    with TemporaryDirectory() as work:
        # The scripts import PyTorch and don't use it.
        stub = Path(work, "stub")
        stub.mkdir()
        (stub / "torch.py").touch()
        sys.path[:0] = [str(checkout / "reason"), str(stub)]
        for part, folder, images in exported_parts(Path(work), count // PER_IMAGE + 20):
            asked = asked_of(images, folder, count)
            questions, encoded, vocabulary = (folder / name for name in ("q.json", "q.h5", "vocab.json"))
            questions.write_text(json.dumps({"questions": [line for line, _ in asked]}))
            files = {"input_questions_json": questions, "output_h5_file": encoded, "output_vocab_json": vocabulary}
            words = [word for name, path in files.items() for word in (f"--{name}", str(path))]
            command = [sys.executable, "tools/preprocess_questions.py", *words]
            paths = {"PYTHONPATH": f"{checkout.absolute() / 'reason'}:{stub}"}
            subprocess.run(command, cwd=checkout / "reason", env=paths, stdout=subprocess.DEVNULL, check=True)
            scenes = str(folder / "scenes/CLEVR_val_scenes.json")
            executor = import_module("executors.clevr_executor").ClevrExecutor(scenes, scenes, str(vocabulary))
            with h5py.File(encoded) as file:
                rows = zip(file["programs"][()], file["image_idxs"][()], asked, strict=True)
                # Without the start token, as its parser's.
                found = [
                    (executor.run(program[1:], image, "val"), line["answer"])
                    for program, image, (line, is_exported) in rows
                    if is_exported
                ]
            yield Row(f"{part}: our questions over the whole", len(found), sum(one != other for one, other in found))
