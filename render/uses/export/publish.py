"""`render-export --about`: the files that describe an export to users, reviewers and programs."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from diorama.render import __version__
from diorama.render.store.episode_store import EpisodeReader
from diorama.render.store.selection import chosen_ids
from diorama.render.uses.draw.sheet import sheet
from diorama.render.uses.export import format_of
from diorama.render.uses.export.about import COMMON_LICENSES, About
from diorama.render.uses.export.croissant import croissant, license_url
from diorama.render.uses.export.dataset_facts import OWN, UNKNOWN, Facts, gather
from diorama.render.uses.export.hub import cell, head, size_category
from diorama.render.uses.export.protocol import ExportOptions
from diorama.render.uses.io.atomic_output import output_lock
from diorama.render.uses.io.written_files import WrittenFiles
from diorama.render.uses.items.scores import GUESSERS, LEAST, guessed
from diorama.render.uses.items.stress import table as learners_table
from diorama.scene_specs.errors import UsageError, counted
from diorama.scene_specs.files.foreign import read_foreign
from diorama.scene_specs.files.tables import markdown_table
from diorama.scene_specs.files.writing import indented_json

# The file that tells that a folder was exported with --about (`is_published`); written first.
PUBLISHED = "provenance.json"
# The first only with questions or options.
_CATEGORIES = ("visual-question-answering", "object-detection", "image-segmentation")
_MEASURED = (
    ("images", "rendered by the settings below"),
    ("boxes, masks, visible pixels", "counted in the id pass of the same render, at pixel centers; no annotators"),
    ("amodal boxes, visible fraction", "computed from the mesh of each object alone"),
    ("poses, camera", "as rendered; pixel coordinates by projection"),
    ("relations", "computed from the poses in the frame of the image's camera"),
    ("task, utterances, options, answer", "made by the generator of the benchmark; `render-specs check --prove "
     "--store` recomputes them from the rendered images"),
)  # fmt: skip


def is_published(out: Path) -> bool:
    """Whether a folder was exported with --about."""
    try:
        return {"diorama", "identities"} <= {*json.loads(read_foreign(out / PUBLISHED))}
    except (OSError, ValueError, TypeError):
        return False


def _readme_head(about: About, facts: Facts, more: Mapping[str, Any]) -> str:
    named = {"license": COMMON_LICENSES[about.license]} if about.license in COMMON_LICENSES else {
        "license": "other", "license_name": about.license.casefold(), "license_link": license_url(about.license)
    }  # fmt: skip
    values: dict[str, Any] = {
        "pretty_name": about.name, **named, "language": list(about.language),
        "size_categories": [size_category(facts.episodes)],
        "task_categories": [*_CATEGORIES[not facts.asks :]], "annotations_creators": ["machine-generated"],
        "source_datasets": ["extended" if facts.sources else "original"],
        "tags": ["synthetic", "croissant", *about.keywords],
    }  # fmt: skip
    return head({**values, **more})


def _readme_body(about: About, facts: Facts, licenses: Mapping[str, str], limits: Sequence[str], biases: Sequence[str],
          rerender: bool) -> Iterator[str]:  # fmt: skip
    yield f"# {about.name}\n\n{about.description}\n\nVersion {about.version}, {about.date_published}.\n"
    yield "![The images of an episode, with its objects](samples.png)\n"
    yield f"## Contents\n\n{counted(facts.episodes, 'episode')}, {counted(facts.images, 'image')}.\n"
    for name, counter in facts.counters.items():
        rows = [(cell(value), number) for value, number in sorted(counter.items())]
        yield markdown_table((name, "images" if name == "image size" else "episodes"), rows)
    yield "## How each field was measured\n\n" + markdown_table(("field", "source"), _MEASURED)
    if facts.guessers:
        yield "## Balance\n\nPercent of the evaluation items that can be answered without seeing an image, learned from"
        yield f"the other episodes, with 95 % intervals; not shown below {LEAST} items:\n"
        yield markdown_table(
            ("task", "items", "chance", "blind", "text only"),
            [(row["group"], row["items"], f"{100 * row['chance']:.1f}", *(guessed(row, key) for key in GUESSERS))
             for row in facts.guessers],
        )  # fmt: skip
    if facts.learners:
        yield "What learners reach that never see an image, as `render-eval stress` measures it:\n"
        yield learners_table(facts.learners)
    yield "\n".join(biases) + "\n"
    yield (
        "## Uses and limits\n\n"
        + "\n\n".join([f"Use cases: {about.use_cases}", *limits, f"Social impact: {about.social_impact}"])
        + "\n"
    )
    yield "## Datasheet\n\n" + markdown_table(
        ("question", "answer"), [(q, cell(a)) for q, a in _datasheet_answers(about, facts)]
    )
    yield f"## Provenance\n\nMade with Diorama {__version__}. `provenance.json` has versions,"
    yield "seeds, identities and assets, `croissant.json` a machine-readable description of everything on this page.\n"
    if rerender:
        yield "With Diorama, render an episode again and compare it:\n\n    render-episode --from-export . ID\n"
    yield f"## License\n\n{license_text(about, facts, licenses)}"
    yield f"## Citation\n\n```bibtex\n{about.bibtex}\n```\n"


def _datasheet_answers(about: About, facts: Facts) -> Iterator[tuple[str, str]]:
    """Questions of Datasheets for Datasets (Gebru et al., 2021) and their answers."""
    open_ = "not stated"
    yield "For what purpose was the dataset created?", about.use_cases
    yield "Who created it?", ", ".join(creator.full_name for creator in about.creators)
    yield "Who funded it?", about.funding or open_
    instances = f"{counted(facts.episodes, 'episode')} of rendered images with their measured truth"
    yield "What are the instances?", instances
    yield "Is it a sample of a larger set?", "yes, of the episodes that their generators can make; seeds below"
    yield "Are there errors or noise?", " ".join(["Annotations are measured, not made by people.", about.limitations])
    yield "Does it relate to people?", "no"
    yield "How were the data acquired?", f"rendered by Diorama {__version__}; see Provenance"
    yield "Is there a known social impact?", about.social_impact
    yield "Who can be asked?", about.contact or open_
    yield "Who hosts it?", about.hosting or open_
    yield "How is it maintained?", about.maintenance or open_


def license_text(about: About, facts: Facts, licenses: Mapping[str, str]) -> str:
    """Return the contents of LICENSE: the dataset's license, and the terms of what it contains."""
    names = ", ".join(creator.full_name for creator in about.creators)
    lines = [f"{about.name} {about.version}, copyright {about.date_published.year} {names}", ""]
    lines += [f"This dataset is licensed under {about.license}: {license_url(about.license)}", ""]
    foreign = {text: [name for name in licenses if licenses[name] == text] for text in sorted({*licenses.values()})}
    terms = [f"- {counted(len(names), 'asset')}: {text}" for text, names in foreign.items() if text != OWN]
    terms += [f"- {text}" for text in sorted(facts.sources)]
    if terms:
        lines += ["It contains or shows the following, under terms of their own:", "", *terms, ""]
    return "\n".join(lines) + "\n"


def citation_cff(about: About) -> str:
    """Return the contents of CITATION.cff. JSON is YAML."""
    authors = []
    for creator in about.creators:
        named = (
            {"name": creator.name}
            if creator.name
            else {"family-names": creator.family_names, "given-names": creator.given_names}
        )
        more = {"orcid": creator.orcid, "affiliation": "" if creator.name else creator.affiliation}
        authors.append({key: value for key, value in {**named, **more}.items() if value})
    values = {
        "cff-version": "1.2.0", "message": "If you use this dataset, please cite it.", "type": "dataset",
        "title": about.name, "version": about.version, "date-released": about.date_published.isoformat(),
        "url": about.url, "license-url" if "://" in about.license else "license": about.license,
        "abstract": about.description, "authors": authors,
    }  # fmt: skip
    return "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items())


DESCRIPTION = (PUBLISHED, "README.md", "croissant.json", "CITATION.cff", "LICENSE", "samples.png")


def check_folder(store: EpisodeReader, name: str, out: Path, options: ExportOptions) -> None:
    """Raise UsageError or ConflictError, before the export, if `publish` could not describe the folder or write to it.

    Args:
        name: name of the format.
    """
    tables = (path.name for path in out.glob("metadata-*.parquet"))
    WrittenFiles(out, store, options.overwrite).check(*DESCRIPTION, *tables)
    if name == "folder":
        there = {path.parent.relative_to(out).as_posix() for path in out.rglob("episode.json")}
        if others := sorted(there - {*chosen_ids(store, options)}):
            raise UsageError(
                f"--about: {out} also has {counted(len(others), 'episode')} that this export has not, such as "
                f"{others[0]}; export them, too, or pass another --out folder"
            )


def publish(store: EpisodeReader, name: str, out: Path, options: ExportOptions, about: About) -> list[str]:
    """Write README.md, croissant.json, CITATION.cff, LICENSE, provenance.json and samples.png into an export.

    Returns what about.toml should still say, a line each.

    Args:
        name: name of its format.

    Raises:
        UsageError: without episodes.
    """
    facts = gather(store, options)
    if not facts.episodes:
        raise UsageError("--about: no episode is exported; there is nothing to describe")
    licenses = facts.licenses(about)
    limits, biases = _limit_sentences(about, facts), _bias_sentences(facts)
    with output_lock(out):
        written = WrittenFiles(out, store, options.overwrite)
        form = format_of(name)
        form.write_tables(out, written)
        # `run_export` refuses formats without.
        assert form.croissant_parts is not None
        distribution, record_sets, values = form.croissant_parts(out)
        image = io.BytesIO()
        sheet(store.get(chosen_ids(store, options)[0])).save(image, "PNG")
        described = croissant(about, facts, licenses, limits, biases, distribution, record_sets)
        body = _readme_body(about, facts, licenses, limits, biases, rerender=name == "huggingface")
        files: dict[str, str | bytes] = {
            PUBLISHED: indented_json(_provenance_data(store, facts, licenses)),
            "README.md": "\n".join([_readme_head(about, facts, values), *body]),
            "croissant.json": indented_json(described),
            "CITATION.cff": citation_cff(about),
            "LICENSE": license_text(about, facts, licenses),
            "samples.png": image.getvalue(),
        }
        written.put(files)
    return [f"license of {asset}: {text}" for asset, text in licenses.items() if text == UNKNOWN]


def _limit_sentences(about: About, facts: Facts) -> list[str]:
    """Return what the facts say about the limits of the data, then what the author says."""
    stages = ", ".join(sorted(facts.counters.get("stage", ()))) or "none"
    lines = [f"All images are synthetic. Stages: {stages}. Texts come from templates or are pseudo-words."]
    if (fake := sum(n for text, n in facts.counters["rendering"].items() if text.startswith("fake,"))) > 0:
        lines.append(
            f"{fake} of {facts.episodes} episodes are rendered by `fake`, which draws silhouettes without light: they "
            "are for tests of programs, not of models."
        )
    return [*lines, *([about.limitations] if about.limitations else [])]


def _bias_sentences(facts: Facts) -> list[str]:
    """Return the figures of the guessers in words, and what was counted about the objects."""
    lines = [*facts.objects.lines()]
    if tasks := [f"{finding.task}, by {finding.learner}" for finding in facts.learners if finding.shortcut]:
        lines.insert(0, f"Learners that never see an image are right more often than chance in: {'; '.join(tasks)}.")
    measured = [row for row in facts.guessers if row["text"] is not None]
    if not measured:
        why = "tasks have too few items" if facts.guessers else "some episodes have no evaluation items"
        return [f"Guessers without images were not measured: {why}.", *lines]
    worst = max(measured, key=lambda row: row["text"] - row["chance"])
    shares = {key: f"{guessed(worst, key)} %" for key in GUESSERS}
    return [
        f"Guessers without images, in percent with 95 % intervals. Furthest above chance ({100 * worst['chance']:.1f} "
        f"%): {worst['group']} ({counted(worst['items'], 'item')}), where a guesser that reads the text gets "
        f"{shares['text']}, one that sees neither text nor image {shares['blind']}.",
        *lines,
    ]


def _provenance_data(store: EpisodeReader, facts: Facts, licenses: Mapping[str, str]) -> dict[str, Any]:
    return {
        "diorama": __version__, "store_version": store.version, "episodes": facts.episodes, "images": facts.images,
        "versions": {name: dict(sorted(counts.items())) for name, counts in sorted(facts.versions.items())},
        "seeds": sorted(facts.seeds), "identities": {"sha256": facts.digest, "of": "id, job_hash and sha256, by id"},
        "counts": {name: dict(sorted(counter.items())) for name, counter in facts.counters.items()},
        "assets": {name: {"sha256": facts.assets[name], "license": text} for name, text in licenses.items()},
        "derived_from": sorted(facts.sources),
    }  # fmt: skip
