"""`render-export --about`: the files that describe an export to users, reviewers and programs."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diorama.render import __version__
from diorama.render.draw.sheet import sheet
from diorama.render.export import described_by
from diorama.render.export.about import About
from diorama.render.export.croissant import croissant
from diorama.render.export.dataset_card import PUBLISHED, card, check_replaceable, citation_cff, license_text
from diorama.render.export.dataset_facts import UNKNOWN, Facts, gather
from diorama.render.export.protocol import ExportOptions
from diorama.render.io.atomic_output import indented_json, output_lock, put_file
from diorama.render.model.errors import UsageError
from diorama.render.store.episode_store import EpisodeReader
from diorama.render.store.selection import chosen_ids
from diorama.scene_specs.language.tables import counted

_FILES = (PUBLISHED, "README.md", "croissant.json", "CITATION.cff", "LICENSE", "samples.png")


def check_folder(store: EpisodeReader, name: str, out: Path, options: ExportOptions) -> None:
    """Raise UsageError or ConflictError, before the export, if `publish` could not describe the folder or write to it.

    name: of the format.
    """
    check_replaceable(out, _FILES, options.overwrite)
    if name == "folder":
        there = {path.parent.relative_to(out).as_posix() for path in out.rglob("episode.json")}
        if others := sorted(there - {*chosen_ids(store, options)}):
            raise UsageError(
                f"--about: {out} also has {counted(len(others), 'episode')} that this export has not, such as "
                f"{others[0]}; export them, too, or pass another --out folder"
            )


def publish(store: EpisodeReader, name: str, out: Path, options: ExportOptions, about: About) -> list[str]:
    """Write README.md, croissant.json, CITATION.cff, LICENSE, provenance.json and samples.png into an export.

    name: of its format. Returns what about.toml should still say, a line each. Raises UsageError without episodes.
    """
    facts = gather(store, options)
    if not facts.episodes:
        raise UsageError("--about: no episode is exported; there is nothing to describe")
    licenses = facts.licenses(about)
    limits, biases = _limits(about, facts), _biases(facts)
    with output_lock(out):
        distribution, record_sets, data_files = described_by(name)(out)
        image = io.BytesIO()
        sheet(store.get(chosen_ids(store, options)[0])).save(image, "PNG")
        described = croissant(about, facts, licenses, limits, biases, distribution, record_sets)
        files = {
            PUBLISHED: indented_json(_provenance(store, facts, licenses)),
            "README.md": card(about, facts, licenses, limits, biases, data_files, name == "huggingface").encode(),
            "croissant.json": indented_json(described),
            "CITATION.cff": citation_cff(about).encode(),
            "LICENSE": license_text(about, facts, licenses).encode(),
            "samples.png": image.getvalue(),
        }
        for file, content in files.items():
            put_file(out, file, content, overwrite=True)
    return [f"license of {asset}: {text}" for asset, text in licenses.items() if text == UNKNOWN]


def _limits(about: About, facts: Facts) -> list[str]:
    """What the facts say about the limits of the data, then what the author says."""
    stages = ", ".join(sorted(facts.counters.get("stage", ()))) or "none"
    lines = [f"All images are synthetic. Stages: {stages}. Texts come from templates or are pseudo-words."]
    if (fake := sum(n for text, n in facts.counters["rendering"].items() if text.startswith("fake,"))) > 0:
        lines.append(
            f"{fake} of {facts.episodes} episodes are rendered by `fake`, which draws silhouettes without light: they "
            "are for tests of programs, not of models."
        )
    return [*lines, *([about.limitations] if about.limitations else [])]


def _biases(facts: Facts) -> list[str]:
    """The figures of the guessers in words."""
    if not facts.guessers:
        return ["Not measured: some episodes have no evaluation items."]
    worst = max(facts.guessers, key=lambda row: row["text"] - row["chance"])
    shares = {key: f"{100 * worst[key]:.1f} %" for key in ("text", "blind", "chance")}
    return [
        "The guessers learn from the items that they are scored on: with few items, they exceed chance by luck alone. "
        f"Furthest above chance: {worst['group']} ({counted(worst['items'], 'item')}), where a guesser that reads the "
        f"text but sees no image gets {shares['text']}, one that sees neither {shares['blind']}, chance "
        f"{shares['chance']}."
    ]


def _provenance(store: EpisodeReader, facts: Facts, licenses: Mapping[str, str]) -> dict[str, Any]:
    counters: dict[str, Any] = {name: dict(sorted(counter.items())) for name, counter in facts.counters.items()}
    return {
        "diorama": __version__, "store_version": store.version, "episodes": facts.episodes, "images": facts.images,
        "versions": {name: dict(sorted(found.items())) for name, found in sorted(facts.versions.items())},
        "seeds": sorted(facts.seeds), "identities": {"sha256": facts.digest, "of": "id, job_hash and sha256, by id"},
        "counts": counters,
        "assets": {name: {"sha256": facts.assets[name], "license": text} for name, text in licenses.items()},
        "derived_from": sorted(facts.sources),
    }  # fmt: skip
