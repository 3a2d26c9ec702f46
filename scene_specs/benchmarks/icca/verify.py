"""Whether a context's descriptions are what they say: true of one picture, false of the others, no longer than said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scene_specs.benchmarks.icca.contexts import TANGRAM
from scene_specs.benchmarks.icca.describe import SameError, full_brevity, length, single_names
from scene_specs.benchmarks.icca.input_errors import refused
from scene_specs.benchmarks.icca.levels import LEVELS, SIZE, distances, figures
from scene_specs.benchmarks.icca.picture import Picture, holds, picture_from, picture_of
from scene_specs.benchmarks.icca.wording import text_of
from scene_specs.language.errors import Diagnostic, SpecError

DESCRIPTIONS: tuple[str, ...] = ("full_brevity", "incremental")


def is_icca(task: Mapping[str, Any] | None) -> bool:
    """Whether an episode's `task` says that it is a context."""
    return (task or {}).get("benchmark") == "icca"


def pictures_of(spec: Mapping[str, Any]) -> list[Picture]:
    """What the frames of a spec show: what stands in its objects must be what `truth` says. Raises SpecError."""
    from scene_specs.benchmarks.icca.sources import said_thing
    from scene_specs.benchmarks.icca.tangrams import picture_of_pieces

    source = (spec.get("task") or {}).get("source")
    found = []
    for index, frame in enumerate(spec["frames"]):
        try:
            picture = picture_from((frame.get("truth") or {}).get("picture") or {})
            objects = frame.get("objects") or ()
            if source == TANGRAM:
                shown = picture_of_pieces(frame["truth"], objects)
            else:
                shown = picture_of([said_thing(str(source), one) for one in objects], picture.relations)
            if shown != picture:
                raise ValueError("the objects are not those of truth.picture")
        except (ValueError, KeyError, TypeError) as error:
            raise refused(f"its truth can't be read: {error}", path=f"frames[{index}]") from None
        found.append(picture)
    return found


def find_contradiction(task: Mapping[str, Any], pictures: Sequence[Picture]) -> str:
    """What is wrong with the stored descriptions and figures, given what the pictures show; "" if nothing is."""
    stored = task.get("descriptions")
    if len(pictures) != SIZE or not isinstance(stored, list) or len(stored) != SIZE:
        return f"found {len(pictures)} pictures; expected {SIZE}, and as many descriptions"
    try:
        measured = distances(pictures)
        if [*task["similarity"]["differences"].values()] != [*measured]:
            return f"pictures differ in {[*measured]}; stored is {task['similarity']['differences']}"
        singles = []
        for k, picture in enumerate(pictures):
            others = [one for j, one in enumerate(pictures) if j != k]
            for name in DESCRIPTIONS:
                if reason := _wrong(stored[k][name], picture, others, name == "full_brevity"):
                    return f"picture {k}: {name} {stored[k][name]['text']!r} {reason}"
            if [*stored[k]["single"]] != (single := single_names(picture, others)):
                return f"picture {k}: single values {single} name it; stored is {stored[k]['single']}"
            singles.append(single)
        if task.get("source") != TANGRAM:
            found = figures(pictures)
            if found is None or not LEVELS[task["vary"]][task["name"]].fits(found):
                return f"it is not {task['name']}: pictures differ in {[*measured]}, single values: {singles}"
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return f"its truth can't be read: {error!r}"
    return ""


def _wrong(said: Mapping[str, Any], picture: Picture, others: Sequence[Picture], shortest: bool) -> str:
    description = picture_from(said["says"])
    if not holds(description, picture):
        return "is not true of it"
    for one in others:
        if holds(description, one):
            return "is true of another picture, too"
    if said["text"] != text_of(description):
        return f"is not what it stands for: {text_of(description)!r}"
    if said["length"] != length(description):
        return f"says {length(description)} values; stored is {said['length']}"
    try:
        if shortest and length(full_brevity(picture, others)) != length(description):
            return "is not the shortest"
    except SameError as error:
        return str(error)
    return ""


def summary(contexts: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Of each source and level: how many contexts, differences of pairs, lengths of descriptions, who is named by one
    value; as JSON data. Raises SpecError for a context without its figures.
    """
    groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for data in contexts:
        task = data["task"]
        try:
            _read_figures(task)
        except (KeyError, TypeError, AttributeError) as error:
            raise SpecError([Diagnostic("", 0, data["id"], "task", f"its truth can't be read: {error!r}")]) from None
        groups.setdefault((task["source"], task["vary"], task["name"]), []).append(task)
    rows = []
    for (source, vary, level), tasks in groups.items():
        said = [one for task in tasks for one in task["descriptions"]]
        pairs = [count for task in tasks for count in task["similarity"]["differences"].values()]
        row: dict[str, Any] = {"source": source, "vary": vary, "difficulty": level, "contexts": len(tasks)}
        row["values"] = _span([task["similarity"]["values"] for task in tasks])
        row["differences"] = _counts(pairs)
        for name in DESCRIPTIONS:
            row[name] = _counts([one[name]["length"] for one in said])
        shown = [[name for name in one["single"] if not name.startswith("no ")] for one in said]
        row["named_by_one_value"] = sum(map(bool, shown))
        row["named_by_one_absence"] = sum(any(name.startswith("no ") for name in one["single"]) for one in said)
        row["images"] = len(said)
        rows.append(row)
    return rows


def _read_figures(task: Mapping[str, Any]) -> None:
    """Reads what `summary` needs. Raises KeyError, TypeError or AttributeError for what is not there."""
    counts = [task["similarity"]["values"], *task["similarity"]["differences"].values()]
    counts += [one[name]["length"] for one in task["descriptions"] for name in DESCRIPTIONS]
    texts = [
        task["source"],
        task["vary"],
        task["name"],
        *(name for one in task["descriptions"] for name in one["single"]),
    ]
    if not all(type(count) is int for count in counts) or not all(isinstance(text, str) for text in texts):
        raise TypeError("expected numbers of values, and words")


def _span(values: Sequence[int]) -> list[int]:
    return [min(values), max(values)]


def _counts(values: Iterable[int]) -> dict[str, int]:
    return {str(value): count for value, count in sorted(Counter(values).items())}


def summary_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as a Markdown table."""

    def counts(value: Mapping[str, int]) -> str:
        return ", ".join(f"{key}: {count}" for key, count in value.items())

    lines = [
        "| source | differ in | level | contexts | values | pairs by differences | shortest description | incremental "
        "| named by one value | by one absence |",
        "|---" * 10 + "|",
    ]
    lines += [
        f"| {row['source']} | {row['vary']} | {row['difficulty']} | {row['contexts']} | "
        f"{'-'.join(map(str, dict.fromkeys(row['values'])))} | {counts(row['differences'])} | "
        f"{counts(row['full_brevity'])} | {counts(row['incremental'])} | "
        f"{row['named_by_one_value']} of {row['images']} | {row['named_by_one_absence']} |"
        for row in rows
    ]
    return "\n".join([*lines, ""])
