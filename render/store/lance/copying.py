"""Episodes from one store into another, and what a store holds in figures."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

from render.model.errors import ConflictError
from render.model.record import EpisodeRecord
from render.store.episode_store import DamagedError
from render.store.lance.columns import KEY
from render.store.lance.lance_store import LanceStore
from render.store.lance.reader import ID_BATCH_ROWS, LanceReader, ids_filter
from render.store.lance.verify import Damage

Differing = Literal["error", "newest", "keep", "replace"]
_CHUNK = 32
_SHOWN = 5
_MARKS = ("job_hash", "attempt", "sha256", "text_sha256")


@dataclass
class Copied:
    """copied: new there. same: there already, alike. replaced, kept: differed. damaged: left out, a line each."""

    copied: int = 0
    same: int = 0
    replaced: int = 0
    kept: int = 0
    damaged: list[str] = field(default_factory=list)


def condition(
    where: str | None = None, ids: Sequence[str] = (), benchmark: str | None = None, splits: Sequence[str] = ()
) -> str | None:
    """One SQL-like condition of several filters, all of which must hold; None if there are none."""
    parts = [f"({where})"] if where else []
    if ids:
        parts.append(ids_filter(ids))
    if benchmark is not None:
        parts.append(f"benchmark = {_quoted(benchmark)}")
    if splits:
        parts.append(f"split IN ({', '.join(_quoted(split) for split in splits)})")
    return " AND ".join(parts) or None


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def copy(
    source: LanceReader,
    target: LanceStore,
    where: str | None = None,
    differing: Differing = "error",
    progress: Callable[[int], None] = lambda done: None,
) -> Copied:
    """Copy the episodes that `where` holds for; what is there already and alike is skipped, so it can be run again.

    differing, for an id that is there with other contents: "error" copies nothing and names them, "newest" takes the
    later attempt, "keep" leaves the target's, "replace" takes the source's. Raises StoreError, ConflictError.
    """
    result = Copied()
    there = _marks(target, None)
    todo: dict[str, bool] = {}
    for key, marks in sorted(_marks(source, where).items()):
        if there.get(key) == marks:
            result.same += 1
            progress(1)
        else:
            todo[key] = key in there
    differ = [key for key, is_there in todo.items() if is_there]
    if differ and differing == "error":
        shown = "\n".join(f"  {key}" for key in differ[:_SHOWN])
        more = f"\n  and {len(differ) - _SHOWN} more" if len(differ) > _SHOWN else ""
        raise ConflictError(
            f"{len(differ)} episodes are in {target.url} with other contents; nothing was copied:\n{shown}{more}\n"
            "give --differing newest, keep or replace"
        )
    wanted = [key for key, is_there in todo.items() if not (is_there and differing == "keep")]
    result.kept += len(todo) - len(wanted)
    progress(len(todo) - len(wanted))
    for start in range(0, len(wanted), _CHUNK):
        chunk = wanted[start : start + _CHUNK]
        _put(source, target, chunk, differing, result)
        progress(len(chunk))
    return result


def _put(source: LanceReader, target: LanceStore, chunk: list[str], differing: Differing, result: Copied) -> None:
    records: list[EpisodeRecord] = []
    try:
        records = source.get_many(chunk)
    except DamagedError:
        for key in chunk:
            try:
                records.append(source.get(key))
            except DamagedError as error:
                result.damaged.append(str(error))
    done = target.replace(records) if differing == "replace" else target.put(records)
    result.copied += done.inserted
    result.replaced += done.updated
    result.kept += done.unchanged


def _marks(store: LanceReader, where: str | None) -> dict[str, tuple[Any, ...]]:
    rows = store.scan([KEY, *_MARKS], where, ID_BATCH_ROWS)
    return {row[KEY]: tuple(row[name] for name in _MARKS) for row in rows}


def tally(store: LanceReader, where: str | None = None) -> dict[str, Any]:
    """Figures of a store: episodes, images, and episodes by benchmark, task, split, profile and size."""
    columns = ["benchmark", "task", "split", "profile", "width", "height", "image_names"]
    counts: dict[str, Counter[str]] = {name: Counter() for name in ("benchmark", "task", "split", "profile", "size")}
    episodes = images = 0
    for row in store.scan(columns, where, ID_BATCH_ROWS):
        episodes += 1
        images += len(row["image_names"] or ())
        row["size"] = f"{row['width']}x{row['height']}"
        for name, counter in counts.items():
            counter[str(row[name] if row[name] is not None else "-")] += 1
    return {
        "episodes": episodes,
        "images": images,
        **{name: dict(sorted(counter.items())) for name, counter in counts.items()},
    }


def write_specs(
    damaged: Sequence[Damage], out: Path, opened: Callable[[Path], AbstractContextManager[IO[str]]]
) -> dict[Path, str]:
    """The specs of damaged episodes as .jsonl files; returns file -> options of render-batch that make them again.

    One file for each profile and size; the first has the name asked for. What has no readable spec is left out. opened:
    gives a file to write, whole or not at all.
    """
    groups: dict[str, dict[str, str]] = {}
    for damage in damaged:
        if damage.spec is None or damage.twice:
            continue
        options = f"--profile {damage.profile}" if damage.profile else ""
        if damage.size:
            options += f" --size {damage.size[0]}x{damage.size[1]}"
        text = json.dumps(damage.spec, ensure_ascii=False)
        groups.setdefault(options.strip(), {})[str(damage.episode_id)] = text
    written: dict[Path, str] = {}
    for number, (options, lines) in enumerate(sorted(groups.items())):
        file = out if number == 0 else out.with_name(f"{out.stem}-{number + 1}{out.suffix}")
        with opened(file) as stream:
            stream.writelines(f"{lines[key]}\n" for key in sorted(lines))
        written[file] = options
    return written
