"""Contexts: four pictures as alike, and as hard to name, as was asked for; any one alone from seed and number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from scene_specs.benchmarks.icca.describe import full_brevity, incremental, length
from scene_specs.benchmarks.icca.input_errors import refused
from scene_specs.benchmarks.icca.levels import (
    DIFFICULTIES,
    LEVELS,
    SIZE,
    Figures,
    builds_for,
    distances,
    distinct_things,
    figures,
)
from scene_specs.benchmarks.icca.picture import Picture
from scene_specs.benchmarks.icca.sources import SOURCES, frame_of
from scene_specs.benchmarks.icca.wording import text_of
from scene_specs.language.rng import generator, pick

IMAGES: tuple[str, ...] = tuple(f"image-{k}" for k in range(SIZE))
MOST_CONTEXTS = 10**6
TANGRAM = "tangram"
_ATTEMPTS = 5000


def context_specs(
    count: int, difficulty: str, source: str, vary: str = "", seed: int = 0, first: int = 0
) -> Iterator[dict[str, Any]]:
    """Contexts first ... first + count - 1 as JSON data that EpisodeSpec takes; see `context_spec`."""
    if first < 0 or count < 0 or first + count > MOST_CONTEXTS:
        raise refused(f"found contexts {first} to {first + count - 1}; they are numbered from 0 to {MOST_CONTEXTS - 1}")
    for number in range(first, first + count):
        yield context_spec(number, difficulty, source, vary, seed)


def context_spec(number: int, difficulty: str, source: str, vary: str = "", seed: int = 0) -> dict[str, Any]:
    """Context `number` of a source and level as JSON data of a spec: four frames, their truth, what names each.

    vary: what pictures differ in, `attributes`, `relations` or `parts` [default: the source's first]. Id:
    `icca/<source>/<difficulty>/<6 digits>`; of relations `icca/<source>-relations/...`. Raises SpecError for arguments
    out of range.
    """
    _check(number, difficulty, source, vary, seed)
    if source == TANGRAM:
        from scene_specs.benchmarks.icca.tangrams import tangram_context

        identity = f"icca/{source}/{difficulty}/{number:06d}"
        pictures, stage, frames = tangram_context(difficulty, identity, seed)
        return spec_of(identity, seed, stage, frames, pictures, [source, difficulty, "parts", number])
    own = SOURCES[source]
    vary = vary or own.vary[0]
    name = source if vary == own.vary[0] else f"{source}-{vary}"
    identity = f"icca/{name}/{difficulty}/{number:06d}"
    pictures = draw_pictures(source, difficulty, vary, identity, seed)
    frames = [frame_of(source, picture, identity, seed, image) for picture, image in zip(pictures, IMAGES, strict=True)]
    return spec_of(identity, seed, {"stage": own.stage}, frames, pictures, [source, difficulty, vary, number])


def _check(number: int, difficulty: str, source: str, vary: str, seed: int) -> None:
    known = (*SOURCES, TANGRAM)
    problem = ""
    if source not in known:
        problem = f"found source {source!r}; allowed: {', '.join(known)}"
    elif difficulty not in DIFFICULTIES:
        problem = f"found difficulty {difficulty!r}; allowed: {', '.join(DIFFICULTIES)}"
    elif not (0 <= number < MOST_CONTEXTS and 0 <= seed < 2**63):
        problem = f"found number {number} and seed {seed}; allowed: from 0, below {MOST_CONTEXTS} and 2^63"
    else:
        allowed = ("parts",) if source == TANGRAM else SOURCES[source].vary
        if vary and vary not in allowed:
            problem = f"contexts of {source} can't differ in {vary!r}; allowed: {', '.join(allowed)}"
    if problem:
        raise refused(problem)


def draw_pictures(source: str, difficulty: str, vary: str, identity: str, seed: int) -> list[Picture]:
    """Four pictures of a level, in a drawn order."""
    own, level = SOURCES[source], LEVELS[vary][difficulty]
    build = pick(generator(seed, identity, "structure"), builds_for(own, level))
    for attempt in range(_ATTEMPTS):
        rng = generator(seed, identity, f"attempt-{attempt}")
        pictures = build(own, rng)
        # The cheap questions first.
        if not distinct_things(pictures) or not all(map(own.plain, pictures)):
            continue
        if not level.near(distances(pictures)):
            continue
        found = figures(pictures)
        if found is not None and level.fits(found):
            return [pictures[int(k)] for k in rng.permutation(SIZE)]
    raise RuntimeError(f"context {identity}, seed {seed}: none of {_ATTEMPTS} tries was {difficulty}")


def spec_of(
    identity: str, seed: int, stage: Mapping[str, Any], frames: Sequence[dict[str, Any]],
    pictures: Sequence[Picture], facts: Sequence[Any],
) -> dict[str, Any]:  # fmt: skip
    """The whole spec. `task` has, beside what it is, `similarity` and `descriptions` (see `truth_of`)."""
    source, difficulty, vary, number = facts
    for frame, picture in zip(frames, pictures, strict=True):
        frame["truth"] = {**frame.get("truth", {}), "picture": picture.data()}
    return {
        "version": 1,
        "id": identity,
        "seed": seed,
        **stage,
        "frames": list(frames),
        "task": {
            "benchmark": "icca",
            "name": difficulty,
            "source": source,
            "vary": vary,
            "number": number,
            "options": [frame["name"] for frame in frames],
            **truth_of(pictures),
        },
    }


def truth_of(pictures: Sequence[Picture]) -> dict[str, Any]:
    """What is measured of four pictures.

    `similarity`: `values` that a picture has, `differences` of each pair ("0-1", ...). `descriptions`, in the order of
    the pictures: `full_brevity` and `incremental`, each with `text`, `length` and `says` (a picture's form), and
    `single`: values that name it alone.
    """
    found = figures(pictures)
    if found is None:
        raise refused("two of the four pictures show the same: nothing can name one of them")
    named = []
    for k, picture in enumerate(pictures):
        others = [one for j, one in enumerate(pictures) if j != k]
        said = {"full_brevity": full_brevity(picture, others), "incremental": incremental(picture, others)}
        described: dict[str, Any] = {
            name: {"text": text_of(one), "length": length(one), "says": one.data()} for name, one in said.items()
        }
        named.append({**described, "single": list(found.single[k])})
    return {"similarity": _similarity(found), "descriptions": named}


def _similarity(found: Figures) -> dict[str, Any]:
    pairs = [f"{a}-{b}" for a, b in combinations(range(SIZE), 2)]
    return {"values": found.values, "differences": dict(zip(pairs, found.differences, strict=True))}
