"""Verification of MEWL episodes: every lexicon that fits the contexts selects one option, the stored answer.

Of published episodes, which promise a true option, lexicons that make none true do not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from diorama.scene_specs.benchmarks.mewl import lexicons
from diorama.scene_specs.benchmarks.mewl.copies import contradictions, in_spec
from diorama.scene_specs.benchmarks.mewl.draft import CONTEXTS, TYPES, Object
from diorama.scene_specs.benchmarks.mewl.truth import Meaning, Truth
from diorama.scene_specs.benchmarks.mewl.view import View, learner_view, view_of_record
from diorama.scene_specs.language.diagnostics import path_text
from diorama.scene_specs.language.vocabulary import OPPOSITE, RELATIONS
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.model.spec import EpisodeData

# Episodes with more lexicons are not learnable, and enumeration would take hours.
MOST_LEXICONS = 20_000
# Most options times objects to compare, over all lexicons. Generated episodes are far below it.
MOST_COMPARISONS = 10_000_000
# Most words that only options use; there are at most 144 objects.
MOST_FRESH = 144
Means = Mapping[str, Meaning]
# True options, and what the words mean.
_Reading = tuple[list[str], Means]


def verify_spec(data: EpisodeData) -> str:
    """Return why the stored answer or words of a spec, as JSON data, are wrong; "" if they are right.

    Raises SpecError if the spec is not a MEWL episode.
    """
    truth = Truth.of_spec(data)
    # An imported episode holds what the published `info.json` says of its scenes.
    for path, problem in contradictions(truth.info, data) if truth.info else ():
        return f"info: {path_text(path)}: {problem}"
    reason = _find_contradiction(learner_view(data, truth), truth)
    named = in_spec(truth, data) if truth.info is None and not reason else ()
    return reason or next((f"{path_text(path)}: {problem}" for path, problem in named), "")


def verify_record(episode: EpisodeRecord) -> str:
    """Return why the stored answer or words contradict the measured truth of the images; "" if they do not.

    Raises SpecError if the record is not a MEWL episode.
    """
    truth = Truth.of_record(episode)
    return _find_contradiction(view_of_record(episode, truth), truth)


def _find_contradiction(view: View, truth: Truth) -> str:
    return verify_view(view, truth.answer, truth.meanings or None, truth.info is not None)


def verify_view(view: View, answer: str, words: Means | None = None, promised: bool = False) -> str:
    """Return why the stored answer contradicts what a learner sees, "" if it does not.

    Args:
        words: the stored map from words to meanings; if given, it must be one of the lexicons that fit.
        promised: one of the options is true, as in published episodes; lexicons that make none true are left out.
    """
    try:
        return _answer_problem(view, answer, words, promised)
    except lexicons.TooManyLexicons:
        return "the contexts and options leave room for more lexicons than can be tried"


def _answer_problem(view: View, answer: str, words: Means | None, promised: bool) -> str:
    options = view.options
    if (twice := next((option for option in options if options.count(option) > 1), None)) is not None:
        return f"option {twice!r} is offered twice"
    if answer not in options:
        return f"the stored answer {answer!r} is not among the options: {_options_text(options)}"
    stored = words is None
    first: _Reading | None = None
    size = len(options) * sum(len(image.objects) for image in view.images)
    most = min(MOST_LEXICONS, MOST_COMPARISONS // max(size, 1))
    for number, (lexicon, means) in enumerate(_readings(view)):
        if number == most:
            return f"more than {most} lexicons fit the contexts"
        stored = stored or lexicon.means.items() <= (words or {}).items()
        picks, unsure = _true_options(view, lexicon, means)
        if unsure:
            reason = f"the spec leaves open whether these options are true of the query: {_options_text(unsure)}"
            return f"{reason}; require the relations as constraints, or verify the rendered episode"
        if first is None or (promised and not first[0]):
            first = (picks, means)
        elif picks != first[0] and (picks or not promised):
            return _disagreement_text(first, (picks, means))
    return _agreement_problem(view, answer, first, stored)


def _agreement_problem(view: View, answer: str, first: _Reading | None, stored: bool) -> str:
    if first is None:
        return _contradiction_text(view)
    picks, means = first
    if len(picks) > 1:
        return f"{len(picks)} options are true of the query: {_options_text(picks)}"
    if not picks:
        return f"no option is true of the query, if {_in_words(means)}"
    if picks != [answer]:
        return f"the stored answer is {answer!r}, but {picks[0]!r} is true, if {_in_words(means)}"
    if not stored:
        return f"the stored words do not fit the contexts, which say that {_in_words(means)}"
    return ""


def _readings(view: View) -> Iterator[tuple[lexicons.Lexicon, Means]]:
    """Yield each lexicon with each choice of meanings for the words that only options use."""
    spoken = _option_words(view)
    for lexicon in lexicons.lexicons(view):
        fresh = [word for word in spoken if word not in lexicon.means]
        if len(fresh) > MOST_FRESH:
            raise lexicons.TooManyLexicons
        for chosen in lexicons.distinct({word: _fresh_meanings(view, lexicon, word) for word in fresh}):
            yield lexicon, {**lexicon.means, **chosen}


def _option_words(view: View) -> list[str]:
    words: dict[str, None] = {}
    for option in view.options:
        parts = option.split(" ")
        if view.task == "object":
            parts = option.split(" and ")
        elif view.task == "relation":
            parts = parts[2:3]
        elif view.task == "bootstrap":
            parts = parts[::2]
        words.update(dict.fromkeys(parts))
    return list(words)


def _fresh_meanings(view: View, lexicon: lexicons.Lexicon, word: str) -> list[Meaning]:
    """Return possible meanings of a word that no context uses: concepts of the query without a word, or `ELSE`."""
    task, query = view.task, view.query
    taken = list(lexicon.means.values())
    if task == "relation":
        return [relation for relation in RELATIONS if relation not in taken]
    candidates: list[Meaning] = []
    if task in ("object", "bootstrap"):
        shown = {item for image in view.images[:CONTEXTS] for item in image.objects}
        candidates = [item for item in dict.fromkeys(query.objects) if item not in shown]
    elif task == "number":
        candidates = [len(query.objects)]
    elif task == "pragmatic":
        candidates = [*lexicons.own_attributes(query)]
    elif len(query.objects) == 1:
        at = 0 if task != "composite" or any(o.split(" ")[0] == word for o in view.options) else 1
        candidates = [query.objects[0][TYPES.index(lexicon.types[at])]]
    return [*(meaning for meaning in candidates if meaning not in taken), lexicons.ELSE]


def _true_options(view: View, lexicon: lexicons.Lexicon, means: Means) -> tuple[list[str], list[str]]:
    """Return the options that are true of the query, and those that the view leaves open."""
    verdicts = [(option, _is_true(view, lexicon, means, option)) for option in view.options]
    return [o for o, verdict in verdicts if verdict], [o for o, verdict in verdicts if verdict is None]


def _is_true(view: View, lexicon: lexicons.Lexicon, means: Means, option: str) -> bool | None:
    task, query = view.task, view.query
    if task == "relation":
        claim = lexicons.relation_claim(query, option)
        return claim is not None and lexicons.possible(query, str(means[claim[1]]), claim[0], claim[2])
    objects: list[Meaning] = [*query.objects]
    if task == "object":
        meant = [means[word] for word in option.split(" and ")]
        return len(meant) == len(objects) and all(meant.count(item) == 1 for item in objects)
    parts = option.split(" ")
    if task == "bootstrap":
        if len(parts) != 3 or parts[1] not in OPPOSITE or not all(means[word] in objects for word in parts[::2]):
            return False
        a, b = objects.index(means[parts[0]]), objects.index(means[parts[2]])
        return a != b and lexicons.possible(query, parts[1], a, b)
    if task == "number":
        return means[option] == len(objects) if len(parts) == 1 else False
    if task == "pragmatic":
        return len(parts) == 1 and means[option] in lexicons.own_attributes(query)
    if len(parts) != len(lexicon.types) or len(objects) != 1:
        return False
    look = dict(zip(TYPES, query.objects[0], strict=True))
    return all(look[kind] == means[word] for word, kind in zip(parts, lexicon.types, strict=True))


def _contradiction_text(view: View) -> str:
    """Return a message about the first context that no lexicon fits."""
    for count in range(1, CONTEXTS + 1):
        if next(lexicons.lexicons(view, count), None) is None:
            break
    else:
        return "no lexicon is left: the options have more words that no context used than there are meanings for them"
    image = view.images[count - 1]
    shows = "; ".join(map(_look_text, image.objects))
    before = f"contexts 0-{count - 2} leave room for it" if count > 1 else "not even alone"
    return f"no lexicon fits the contexts: context {count - 1} says {image.utterance!r} and shows {shows} ({before})"


def _disagreement_text(first: _Reading, second: _Reading) -> str:
    differs = [word for word in first[1] if first[1][word] != second[1].get(word)]
    parts = []
    for picks, means in (first, second):
        case = _in_words({word: means[word] for word in differs if word in means})
        parts.append(f"if {case}, {'no option' if not picks else _options_text(picks)} is true")
    return f"two lexicons fit the contexts and disagree: {'; '.join(parts)}"


def _in_words(means: Means) -> str:
    return ", ".join(f"{word} is {_meaning_text(meaning)}" for word, meaning in means.items())


def _meaning_text(meaning: Meaning) -> str:
    if meaning is lexicons.ELSE:
        return "something else"
    return _look_text(meaning) if isinstance(meaning, tuple) else str(meaning)


def _look_text(item: Object) -> str:
    """Return an object in words; rendered objects have no name for a color or size that a spec gives as numbers."""
    shape, color, material, size = item
    return " ".join(filter(None, (size, color, material, shape)))


def _options_text(options: Sequence[str]) -> str:
    return ", ".join(repr(option) for option in options)
