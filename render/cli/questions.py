"""`render-specs questions`: questions, referring expressions, captions and scene graphs about images."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice, starmap
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diorama.render.cli import options as opt
from diorama.render.cli.command import DioramaCommand, log
from diorama.render.cli.output import progress
from diorama.scene_specs.errors import UsageError, counted
from diorama.scene_specs.files.writing import atomic_writer, is_stream
from diorama.scene_specs.tasks.questions.view import MIN_PIXELS

if TYPE_CHECKING:
    from diorama.render.store.episode_store import EpisodeReader
    from diorama.scene_specs.model.record import EpisodeRecord
    from diorama.scene_specs.tasks.questions.generate import Questioner
    from diorama.scene_specs.tasks.questions.grammar import Grammar
    from diorama.scene_specs.tasks.questions.view import ImageView


# Option -> kinds that it has no effect on.
_USELESS = {
    **dict.fromkeys(("families", "per_image", "nested"), ("expressions", "captions", "scenes")),
    "seed": ("captions", "scenes"), "min_pixels": ("scenes",), "grammar": ("scenes",),
}  # fmt: skip


@click.command(cls=DioramaCommand, epilog="SOURCES are a store, or specs (.json and .jsonl files, folders, globs, -).")
@click.argument("sources", nargs=-1, required=True)
@opt.choice(
    "--kind",
    ("questions", "expressions", "captions", "scenes"),
    "What to write. expressions: descriptions that identify an object. scenes: scene graphs.",
)
@opt.choice(
    "--format",
    ("jsonl", "clevr"),
    "jsonl: one line per question, expression, caption or scene graph. clevr: CLEVR's question file.",
)
@opt.group("Sampling", opt.number("--seed", "Random seed.", 0, 2**63 - 1, default=0))
@opt.repeated(
    "--family",
    "families",
    "NAME",
    "Family of questions; repeatable. clevr: CLEVR's 13 families. forms: negations, exceptions, quantifiers and "
    "numbers.  [default: all but the forms]",
)
@opt.number("--per-image", "Maximum number of questions per image.", 1, 1000, default=10)
@opt.flag(
    "--nested",
    "Also ask long sentences, sentences with several relative clauses, and those that name an object twice. --format "
    "clevr does.",
)
@opt.number(
    "--min-pixels",
    "Ignore objects with fewer visible pixels: no answer depends on them, and they get no expression.",
    0,
    default=MIN_PIXELS,
)
@click.option("--grammar", type=opt.FILE, help="File with further families and words.  [default: none]")
@opt.limit("episodes")
@opt.splits
@opt.where
@opt.at
@opt.group("Images of specs", opt.size("that of the spec's stage"))
@opt.asset_root
@opt.shapenet
@opt.out
def questions(
    sources: tuple[str, ...], kind: str, format: str, grammar: Path | None, out: Path | None, **given: Any
) -> None:
    """Ask questions about images, or describe them.

    For a store, answers are computed from the annotations that were measured in its images. Specs are compiled and
    drawn with the fake renderer. Answers are balanced within each family and each form of question. The scenes of
    a pair (see `render-specs contrast`) get the same questions, half of them with answers that flip. At the end, the
    command prints the answers of each family.

    Exit codes: 0: done; 1: no layout was found for a spec; 2: invalid specs or options; 4: a store can't be read.

    Examples:
      render-specs questions scenes.lance --family forms --out questions.jsonl
      render-specs questions specs.jsonl --kind expressions --out expressions.jsonl
    """
    from diorama.scene_specs.asset_roots import searching
    from diorama.scene_specs.tasks.questions.balance import answer_table
    from diorama.scene_specs.tasks.questions.captions import scene_graph
    from diorama.scene_specs.tasks.questions.generate import Questioner
    from diorama.scene_specs.tasks.questions.grammar import default_grammar, read_grammar

    if format == "clevr" and kind != "questions":
        raise click.UsageError(f"--format clevr is for questions; found --kind {kind}")
    ctx = click.get_current_context()
    for param in ctx.command.params:
        if kind in _USELESS.get(param.name or "", ()) and opt.is_given(ctx, param.name):
            raise click.UsageError(f"{param.opts[0]} has no effect on --kind {kind}; leave it out")
    words = default_grammar() if grammar is None else read_grammar(grammar)
    seed, min_pixels, per_image, nested = map(given.pop, ("seed", "min_pixels", "per_image", "nested"))
    asked = given.pop("families") or (("clevr",) if format == "clevr" else ())
    seen, store = _views(sources, **given)
    views = progress(_counting_unknown(seen), "images")
    asker = Questioner(words, seed, asked, per_image, min_pixels, nested or format == "clevr")
    with searching(given["asset_roots"]), atomic_writer(out) as stream:
        if format == "clevr":
            stream.writelines(_clevr_file(_numbered(views, store), asker))
        else:
            items = _asked(views, asker) if kind == "questions" else _described(kind, views, words, seed, min_pixels)
            if kind == "scenes":
                items = starmap(scene_graph, _numbered(views, store))
            stream.writelines(json.dumps(item, separators=(",", ":")) + "\n" for item in items)
    if kind == "questions":
        report = answer_table(asker.balance.counts) + asker.tally.text()
        if is_stream(out):
            log.info("%s", report)
        else:
            click.echo(report)


def _views(
    sources: tuple[str, ...],
    splits: tuple[str, ...],
    size: tuple[int, int] | None,
    asset_roots: tuple[Path, ...],
    limit: int | None,
    where: str | None,
    at: str | None,
) -> tuple[Iterator[ImageView], EpisodeReader | None]:
    """Return the images, and the store that they are of."""
    from diorama.render.uses.items.image_views import store_views

    store = None
    is_store = [("://" in source) or (Path(source) / "_versions").is_dir() for source in sources]
    records: Iterator[EpisodeRecord]
    if not any(is_store):
        if where is not None or at is not None:
            raise UsageError("--where and --at are for stores; found specs")
        drawn = _drawn(sources, size, asset_roots)
        records = islice((record for record in drawn if not splits or record.scene.split in splits), limit)
    elif len(sources) > 1:
        raise UsageError(f"found {len(sources)} SOURCES with a store among them; expected one store, or specs")
    elif size:
        raise UsageError("--size is for specs; the images of a store have their sizes")
    else:
        from diorama.render.store.selection import Selection, StoreEpisodes, chosen_ids, condition

        store = opt.open_reader(sources[0], at, splits)
        selection = Selection(limit=limit, where=condition(where, splits=splits))
        records = StoreEpisodes(store).read(chosen_ids(store, selection))
    return store_views(records), store


def _numbered(views: Iterable[ImageView], store: EpisodeReader | None) -> Iterator[tuple[ImageView, int | None]]:
    """Images with their numbers in an export, whatever part of the store is selected."""
    from diorama.scene_specs.benchmarks.clevr.export import first_numbers
    from diorama.scene_specs.tasks.questions.clevr_questions import clevr_numbers

    return clevr_numbers(views, None if store is None else first_numbers(store))


def _counting_unknown(views: Iterable[ImageView]) -> Iterator[ImageView]:
    """Yield all views; at the end, warn of those in which nobody knows what is above what."""
    unknown = 0
    for view in views:
        unknown += "above" not in view.relations
        yield view
    if unknown:
        problem = f"{counted(unknown, 'image')} of older records: what is above or below what is left out, as meshes"
        log.warning("%s of theirs are not on this machine; name their folder with --asset-root or --shapenet", problem)


def _drawn(files: tuple[str, ...], size: tuple[int, int] | None, roots: tuple[Path, ...]) -> Iterator[EpisodeRecord]:
    from diorama.render.compiler.render_key import render_key_of
    from diorama.render.episode.make_record import make_record
    from diorama.render.renderers.fake import FakeRenderer
    from diorama.scene_specs.model.profiles import episode_settings
    from diorama.scene_specs.reading.source import read_checked

    renderer = FakeRenderer()
    for item in read_checked(files):
        settings = episode_settings(item.episode, None, size)
        yield make_record(renderer, item.episode, render_key_of(item.episode, settings, "fake", roots), settings, roots)


def _asked(views: Iterable[ImageView], asker: Questioner) -> Iterator[dict[str, Any]]:
    for members in _together(views):
        yield from (question.data() for question in asker.ask(*members))


def _together(views: Iterable[ImageView]) -> Iterator[list[ImageView]]:
    """Each image alone, or with the same image in the other Scenes of its contrast, wherever they are in the input."""
    waiting: defaultdict[tuple[str, str], list[tuple[int, ImageView]]] = defaultdict(list)
    for view in views:
        if (part := view.contrast) is None:
            yield [view]
            continue
        key = (part.pair, view.image)
        waiting[key].append((part.member, view))
        if len(waiting[key]) == part.members:
            yield [view for _, view in sorted(waiting.pop(key), key=itemgetter(0))]
    # Contrasts of which only some members were selected.
    for some in waiting.values():
        yield [view for _, view in sorted(some, key=itemgetter(0))]


def _described(
    kind: str, views: Iterable[ImageView], words: Grammar, seed: int, min_pixels: int
) -> Iterator[dict[str, Any]]:
    from diorama.scene_specs.tasks.questions.captions import captions
    from diorama.scene_specs.tasks.questions.expressions import expressions

    for view in views:
        if kind == "expressions":
            yield from (expression.data() for expression in expressions(view, words, seed, min_pixels))
        else:
            yield captions(view, words, min_pixels)


def _clevr_file(numbered: Iterable[tuple[ImageView, int | None]], asker: Questioner) -> Iterator[str]:
    """Yield the parts of CLEVR's question file. Raises UsageError for images of several splits, or none."""
    from diorama.scene_specs.tasks.questions.clevr_questions import clevr_question

    split: str | None = None
    written = 0
    for view, number in numbered:
        name = view.split or "new"
        if split is None:
            split, info = name, {"split": name, "version": "1.0", "license": "", "date": ""}
            yield f'{{"info": {json.dumps(info)}, "questions": ['
        elif split != name:
            raise UsageError(f"found images of the splits {split} and {name}; name one with --split")
        for question in asker.ask(view) if number is not None else ():
            if number is not None and question.program.is_clevr():
                yield f"{', ' if written else ''}{json.dumps(clevr_question(question, number, written))}"
                written += 1
    if split is None:
        raise UsageError("found no images")
    yield "]}\n"
