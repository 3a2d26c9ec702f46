"""Episodes broken on purpose: each with what was done to it and what the refusal must say."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from diorama.scene_specs.benchmarks.mewl.draft import OBJECTS, TYPES, VALUES
from diorama.scene_specs.benchmarks.mewl.generate import TASKS, mewl_spec
from diorama.scene_specs.language.vocabulary import OPPOSITE, RELATIONS

Spec = Any
NO_LEXICON = "no lexicon fits the contexts: context"
DISAGREE = "two lexicons fit the contexts and disagree: if .* is true; if .* is true"


def episode(task: str, number: int) -> Spec:
    """A good one, to be broken."""
    return mewl_spec(5, "val", task, number)


def words_said(text: str) -> list[str]:
    """The pseudo-words among the words of an utterance or option."""
    familiar = {*VALUES["shape"], *VALUES["color"], *RELATIONS, "and"}
    return [word for word in text.split(" ") if word not in familiar]


def swapped_answers() -> Iterator[tuple[str, Spec, str]]:
    for task in TASKS:
        for number in range(3):
            spec = episode(task, number)
            wrong = [option for option in spec["task"]["options"] if option != spec["task"]["answer"]]
            spec["task"]["answer"] = wrong[number]
            yield f"swapped answer, {task} {number}", spec, "the stored answer is '.*', but '.*' is true, if "


def answers_missing() -> Iterator[tuple[str, Spec, str]]:
    for task in TASKS:
        spec = episode(task, 3)
        spec["task"]["options"].remove(spec["task"]["answer"])
        yield f"answer missing, {task}", spec, "is not among the options: "


def repeated_options() -> Iterator[tuple[str, Spec, str]]:
    for task in TASKS:
        spec = episode(task, 4)
        spec["task"]["options"][1] = spec["task"]["options"][3]
        yield f"repeated option, {task}", spec, "is offered twice"


def repeated_words() -> Iterator[tuple[str, Spec, str]]:
    """A context says a word that means something else, which it does not show."""
    for task in TASKS:
        for number in range(5, 8):
            spec = episode(task, number)
            contexts = spec["frames"][:6]
            if task == "relation":
                words = spec["task"]["words"]
                parts = contexts[0]["utterance"].split(" ")
                parts[2] = next(w for w, r in words.items() if r == OPPOSITE[words[parts[2]]] or _far(spec, r))
                contexts[0]["utterance"] = " ".join(parts)
            elif task == "bootstrap":
                first, relation, second = contexts[0]["utterance"].split(" ")
                contexts[0]["utterance"] = (
                    f"{first} {relation} {first}" if number % 2 else f"{second} {relation} {second}"
                )
            else:
                said = contexts[0]["utterance"]
                contexts[0]["utterance"] = next(f["utterance"] for f in contexts if _differs(f["utterance"], said))
            yield f"repeated word, {task} {number}", spec, NO_LEXICON


def _differs(one: str, two: str) -> bool:
    return {*one.split(" ")} != {*two.split(" ")}


def _far(spec: Spec, relation: str) -> bool:
    """Whether the relation is false in the first context."""
    from diorama.scene_specs.benchmarks.mewl.lexicons import possible, relation_claim
    from diorama.scene_specs.benchmarks.mewl.view import learner_view

    image = learner_view(spec).images[0]
    claim = relation_claim(image, image.utterance)
    assert claim is not None
    return not possible(image, relation, claim[0], claim[2])


def contradictions() -> Iterator[tuple[str, Spec, str]]:
    """A context shows what its words don't mean elsewhere."""
    for task in TASKS:
        for number in range(8, 10):
            spec = episode(task, number)
            said = [word for frame in spec["frames"][:6] for word in words_said(frame["utterance"])]
            frame = next(f for f in spec["frames"][:6] if said.count(words_said(f["utterance"])[0]) > 1 or task in ONCE)
            _SPOIL[task](spec, frame)
            yield f"contradiction, {task} {number}", spec, NO_LEXICON


ONCE = ("number", "pragmatic")


def _other_value(spec: Spec, frame: Spec) -> None:
    kind = spec["task"]["types"][0]
    item = frame["objects"][0]
    item[kind] = next(v for w, v in spec["task"]["words"].items() if v in VALUES[kind] and v != item[kind])


def _stranger(spec: Spec, frame: Spec) -> None:
    word = words_said(frame["utterance"])[0]
    known = {tuple(item[kind] for kind in TYPES) for f in spec["frames"] for item in f["objects"]}
    fresh = next(thing for thing in OBJECTS if thing not in known)
    item = next(o for o in frame["objects"] if [o[kind] for kind in TYPES] == spec["task"]["words"][word])
    item.update(zip(TYPES, fresh, strict=True))


def _one_more(spec: Spec, frame: Spec) -> None:
    """The count of another context."""
    other = next(f for f in spec["frames"][:6] if f is not frame)
    frame["objects"] = copy.deepcopy(other["objects"])


def _nothing_special(_spec: Spec, frame: Spec) -> None:
    pointed = next(o for o in frame["objects"] if o["name"] == frame["pointer"]["target"])
    other = next(o for o in frame["objects"] if o is not pointed)
    other.update({kind: pointed[kind] for kind in TYPES})


def _mirrored(spec: Spec, frame: Spec) -> None:
    """Only along the axis that the word speaks of: mirrored on both, the other relation of the pair would fit."""
    relation = spec["task"]["words"][frame["utterance"].split(" ")[2]]
    for constraint in frame["constraints"]:
        if constraint["relation"] in (relation, OPPOSITE[relation]):
            constraint["subject"], constraint["of"] = constraint["of"], constraint["subject"]


_SPOIL: dict[str, Callable[[Spec, Spec], None]] = {
    **dict.fromkeys(("shape", "color", "material", "composite"), _other_value),
    **dict.fromkeys(("object", "bootstrap"), _stranger),
    "number": _one_more,
    "pragmatic": _nothing_special,
    "relation": _mirrored,
}


def ambiguities() -> Iterator[tuple[str, Spec, str]]:
    """Contexts that leave two lexicons, which disagree about the query."""
    for task in ("shape", "color", "material"):
        for number in range(10, 13):
            yield f"second attribute bound, {task} {number}", _second_attribute(episode(task, number)), DISAGREE
    for number in range(10, 13):
        yield f"second attribute bound, composite {number}", _second_attribute(episode("composite", number)), DISAGREE
        yield f"two words always together, object {number}", _together(episode("object", number)), DISAGREE
        yield f"pairs that never part, bootstrap {number}", _couples(episode("bootstrap", number)), DISAGREE
    for task, spoil in (("relation", _same_confound), ("pragmatic", _two_things)):
        spoiled = [(number, spoil(episode(task, number))) for number in range(10, 50)]
        for number, spec in [(number, spec) for number, spec in spoiled if spec is not None][:6]:
            yield f"two readings of the answer's word, {task} {number}", spec, DISAGREE


def _second_attribute(spec: Spec) -> Spec:
    """Another attribute goes with the first word, except in the query."""
    named = spec["task"]["types"]
    other = next(k for k in ("shape", "material", "color") if k not in named)
    values = [value for value in spec["task"]["words"].values() if value in VALUES[named[0]]]
    for number, frame in enumerate(spec["frames"]):
        item = frame["objects"][0]
        item[other] = VALUES[other][(values.index(item[named[0]]) + (number == 6)) % 3]
    return spec


def _together(spec: Spec) -> Spec:
    words = [*words_said(spec["task"]["answer"])]
    rest = [word for word in spec["task"]["words"] if word not in words]
    # Of the answer's words one always comes with one that is not in the answer.
    a, b, free = words[0], rest[0], [*words[1:], *rest[1:]]
    triples = [(a, b, word) for word in free] + [tuple(free[:3]), (free[0], free[1], free[3])]
    for frame, triple in zip(spec["frames"], triples, strict=False):
        frame["utterance"] = " and ".join(triple)
        frame["objects"] = [dict(zip(TYPES, spec["task"]["words"][word], strict=True)) for word in triple]
    tempting = " and ".join([b, *words[1:]])
    if tempting not in spec["task"]["options"]:
        wrong = next(k for k, option in enumerate(spec["task"]["options"]) if option != spec["task"]["answer"])
        spec["task"]["options"][wrong] = tempting
    return spec


def _two_things(spec: Spec) -> Spec | None:
    """In the context of the answer's word the pointed object has also a color for itself that no word is for."""
    if spec["task"]["words"][spec["task"]["answer"]] in VALUES["color"]:
        return None
    frame = next(f for f in spec["frames"] if f.get("utterance") == spec["task"]["answer"])
    taken = {*spec["task"]["words"].values(), *(o["color"] for o in frame["objects"])}
    pointed = next(o for o in frame["objects"] if o["name"] == frame["pointer"]["target"])
    pointed["color"] = next(color for color in VALUES["color"] if color not in taken)
    return spec


def _couples(spec: Spec) -> Spec:
    """Three pairs of words, each heard twice with the same three objects, and no demands."""
    words = spec["task"]["words"]
    first, _, second = spec["task"]["answer"].split(" ")
    order = [first, *(word for word in words if word not in (first, second)), second]
    for number, frame in enumerate(spec["frames"][:6]):
        pair = order[2 * (number % 3) : 2 * (number % 3) + 2]
        frame["utterance"] = f"{pair[0]} left {pair[1]}"
        del frame["constraints"]
        stranger = next(t for t in OBJECTS if list(t) not in words.values())
        things = [*(words[word] for word in pair), stranger]
        frame["objects"] = [dict(zip(TYPES, thing, strict=True)) for thing in things]
    return spec


def _same_confound(spec: Spec) -> Spec | None:
    """Both contexts of the answer's word show the relation that no word is for; None where the query shows it too."""
    words, answer = spec["task"]["words"], spec["task"]["answer"].split(" ")
    untaught = next(r for r in RELATIONS if r not in words.values())
    if words[answer[2]] in (untaught, OPPOSITE[untaught]):
        return None
    frame = next(
        f
        for f in spec["frames"][:6]
        if f["utterance"].split(" ")[2] == answer[2] and not _said_of(f, f["utterance"], untaught)
    )
    for constraint in frame["constraints"]:
        if constraint["relation"] in (untaught, OPPOSITE[untaught]):
            constraint["subject"], constraint["of"] = constraint["of"], constraint["subject"]
    return None if _said_of(spec["frames"][6], spec["task"]["answer"], untaught) else spec


def _said_of(frame: Spec, text: str, relation: str) -> bool:
    """Whether the relation holds of the two objects that a text speaks of."""
    parts = text.split(" ")
    first, second = (
        next(o["name"] for o in frame["objects"] if [o["color"], o["shape"]] == look) for look in (parts[:2], parts[3:])
    )
    before = {(c["subject"], c["of"]) for c in frame["constraints"] if c["relation"] == relation}
    before |= {(c["of"], c["subject"]) for c in frame["constraints"] if c["relation"] == OPPOSITE[relation]}
    names = [o["name"] for o in frame["objects"]]
    return (first, second) in before or any((first, n) in before and (n, second) in before for n in names)


def all_broken() -> list[tuple[str, Spec, str]]:
    """Every broken episode: (what was done, spec, pattern of the reason)."""
    makers = (swapped_answers, answers_missing, repeated_options, repeated_words, contradictions, ambiguities)
    return [case for maker in makers for case in maker()]
