"""Asks a chat model the items of a store, and appends each reply to a file that a later run continues."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from diorama.render.store.episode_store import EpisodeReader
from diorama.render.store.selection import Selection
from diorama.render.uses.chat import Message, Models, Picture
from diorama.render.uses.items.scores import iter_items, no_items
from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.files.writing import GrowingFile, open_growing
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.tasks.chat import in_parallel
from diorama.scene_specs.tasks.items import Item

# Items in memory at once, with their images; more if more are asked at a time.
_CHUNK = 64
_Asked = tuple[str, Item, EpisodeRecord]


def message_of(item: Item, episode: EpisodeRecord) -> Message:
    """Return an item as a message: its texts and images in order."""
    images = {image.name: image.png for image in episode.images}
    parts = tuple(Picture(part.image, images[part.image]) if part.image else part.text for part in item.parts)
    return Message("user", parts)


def ask(
    store: EpisodeReader, options: Selection, models: Models, name: str, out: Path, *,
    parallel: int, reply_tokens: int, progress: Callable[[int], None],
) -> int:  # fmt: skip
    """Append a line {"id", "reply", "model", "prompts", ...} to `out` for each item that has none; return how many.

    The replies that came before an error stay in the file.

    Raises:
        UsageError: there are no items, or the file has replies by another model, or with other prompts or settings.
        ChatError: the model gave no usable reply.
        BudgetError: a limit is reached.
        SpecError: an item's spec is wrong.
        StoreError: the store can't be read.
    """
    items = iter_items(store, options, progress)
    if (first := next(items, None)) is None:
        raise no_items(options)
    with open_growing(out) as file:
        known = _read_reply_headers(file)
        model = models.open(name)
        settings = {**model.settings, "reply_tokens": reply_tokens}

        def about(item: Item) -> dict[str, Any]:
            # Which questions an image has depends on their number.
            number = f" of {options.questions} per image" if options.questions else ""
            return {"model": name, "prompts": f"{item.benchmark} {item.prompts}{number}", "settings": settings}

        def reply(asked: _Asked) -> dict[str, Any]:
            identity, item, episode = asked
            answer = model.reply([message_of(item, episode)], max_tokens=reply_tokens, key=identity)
            tokens = {"input_tokens": answer.input_tokens, "output_tokens": answer.output_tokens, "cost": answer.cost}
            return {"id": identity, "reply": answer.text, **about(item), **tokens}

        def missing() -> Iterator[_Asked]:
            for asked in chain([first], items):
                if asked[0] not in known:
                    yield asked
                elif {**(expected := about(asked[1])), **(written := known[asked[0]])} != expected:
                    problem = f"the reply to {asked[0]} is of {written}; expected {expected}"
                    raise UsageError(f"--out {out}: {problem}; name another file")

        count, waiting = 0, missing()
        while chunk := list(islice(waiting, max(_CHUNK, parallel))):
            for line in in_parallel(reply, chunk, parallel, models.stop):
                file.append(json.dumps(line) + "\n")
                count += 1
    return count


def _read_reply_headers(file: GrowingFile) -> dict[str, dict[str, Any]]:
    """Id -> model, prompts and settings of the replies in a file; a last line that a crash cut short is removed.

    Earlier versions wrote no settings.
    """
    known = {}
    for number, line in file.read_and_repair(b'{"id": "'):
        try:
            row = json.loads(line)
            about = {"model": row["model"], "prompts": row["prompts"]}
            if "settings" in row:
                about["settings"] = row["settings"]
            known[str(row["id"])] = about
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            problem = f"line {number} is no reply of `render-eval ask`"
            raise UsageError(f"--out {file.path}: {problem}; name another file") from error
    return known
