"""`--format eval`: tasks that Inspect AI and lmms-eval run: questions, images and scoring.

    <out>/<benchmark>/items.jsonl           one item per line: id, episode, task, groups ([name, value]), parts (texts
                                            and images in order), options, lettered, answer, label, prompts (version)
                      images/<episode id>/<image name>.png
          diorama_tasks.py                  for Inspect AI: inspect eval <out>/diorama_tasks.py@<benchmark>
          diorama_<benchmark>.yaml          for lmms-eval: --include_path <out> --tasks diorama_<benchmark>
          diorama_lmms.py                   the functions that the YAML files name
          diorama_answers.py                the rule that finds the answer in a reply

The number of episodes without items is reported. Every export without conflicts rewrites all files except images and
the items of other benchmarks, which keep their tasks.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import cached_property
from importlib import resources
from typing import IO, Any

from diorama.render.uses.export._layouts import ImageExport
from diorama.render.uses.items.scores import items_maker, no_items
from diorama.scene_specs.errors import counted
from diorama.scene_specs.files.writing import compact_json
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.tasks.exporting.layouts import ImageLists, Images, StreamedJson, Written, image_path
from diorama.scene_specs.tasks.items import Item, item_id

QUESTIONS = True
_log = logging.getLogger(__name__)
_FILES = {
    "diorama_answers.py": ("diorama.scene_specs.tasks", "answer_rule.py"),
    "diorama_lmms.py": ("diorama.render.uses.export.harness", "diorama_lmms.py"),
}
_TASK = '''

@task
def {function}() -> Task:
    """Items of the benchmark {name}."""
    return benchmark("{name}")
'''


class _Lines(StreamedJson):
    """JSON Lines."""

    def parts(self) -> Iterator[bytes | IO[bytes]]:
        """Yield the content of the file."""
        yield from self._lists.values()

    def add(self, name: str, item: Any, key: str | None = None) -> None:
        """Append a line."""
        self._lists[name].write((compact_json(item) + "\n").encode())


class Lists(ImageLists):
    _without = 0
    export: ImageExport

    @cached_property
    def _make(self) -> Callable[[EpisodeRecord], Iterator[Item]]:
        return items_maker(self.export.options)

    def write(self, record: EpisodeRecord) -> Images:
        items = list(self._make(record))
        if not items:
            self._without += 1
            return []
        benchmark = items[0].benchmark
        paths = {
            shown.name: f"{benchmark}/images/{image_path(record.episode_id, shown.name)}" for shown in record.images
        }
        lines = self.stream(f"{benchmark}/items.jsonl", ["items"], _Lines)
        for item in items:
            parts = [{"text": part.text, "image": paths.get(part.image, "")} for part in item.parts]
            lines.add("items", {
                "id": item_id(record.episode_id, item), "episode": record.episode_id, "task": item.task,
                "groups": [[name, str(value)] for name, value in item.groups.items() if value is not None],
                "parts": parts, "options": item.options, "lettered": item.lettered, "answer": item.answer,
                "label": item.label, "prompts": item.prompts, **({"pair": item.pair} if item.pair else {}),
            })  # fmt: skip
        return [(paths[image.name], image.png) for image in record.images]

    def finish(self, written: Written) -> None:
        """Write the tasks.

        Raises:
            UsageError: if no episode has items.
            OSError: a file can't be read or written.
        """
        export, out = self.export, self.export.out
        export.report.skipped -= self._without
        if self._without and not self.streams:
            if export.is_new and not any(out.iterdir()):
                out.rmdir()
            raise export.report.error() or no_items(export.options)
        if self._without:
            _log.warning("%s without evaluation items skipped", counted(self._without, "episode"))
        files = {name: _read_packaged(*place) for name, place in _FILES.items()}
        # With those of earlier exports into this folder.
        earlier = {path.parent.name for path in out.glob("*/items.jsonl")}
        benchmarks = sorted(earlier | {name.partition("/")[0] for name in self.streams})
        tasks = "".join(_TASK.format(function=name.replace("-", "_"), name=name) for name in benchmarks)
        files["diorama_tasks.py"] = _read_packaged("diorama.render.uses.export.harness", "diorama_tasks.py") + tasks
        yaml = _read_packaged("diorama.render.uses.export.harness", "lmms_task.yaml")
        files |= {f"diorama_{name}.yaml": yaml.replace("NAME", name) for name in benchmarks}
        written.put(files, shared=True)


def _read_packaged(package: str, name: str) -> str:
    return (resources.files(package) / name).read_text("utf-8")
