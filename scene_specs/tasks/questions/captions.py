"""Captions and scene graphs of images."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import radians
from typing import Any

import inflect

from diorama.scene_specs.language.vocabulary import SUPPORTED
from diorama.scene_specs.tasks.questions.expressions import expressions
from diorama.scene_specs.tasks.questions.grammar import Grammar, filtered
from diorama.scene_specs.tasks.questions.lexicon import ADJECTIVES, SIDES, STACKS, plural
from diorama.scene_specs.tasks.questions.program import NOUNS, QUERIED, RELATED, SCENE
from diorama.scene_specs.tasks.questions.view import ImageView, bits_of, kind_values

_ENGLISH = inflect.engine()


def captions(view: ImageView, grammar: Grammar, min_pixels: int) -> dict[str, Any]:
    """Return a short caption, which counts objects by kind, and a dense one: each object, then how they are arranged.

    Objects seen by fewer than min_pixels are not mentioned. A kind whose words also mean something else, such as that
    of a model named "ball" or "red cube", is called a thing.
    """
    lexicon = grammar.lexicon_of(view.value_bits)

    def is_clear(kind: tuple[str, str]) -> bool:
        read = grammar.readings(" ".join(lexicon.words["one"][kind][0]), lexicon, "noun")
        return {meaning for _, meaning in read} == {filtered(SCENE, [kind])}

    seen = [item for item in view.objects if item.truth.visible_pixels >= min_pixels]
    known = [[(name, v) for name in NOUNS if (v := item.values[name]) is not None] for item in seen]
    kinds = [next(filter(is_clear, some), ("", "")) for some in known]
    nouns = [" ".join(lexicon.words["one"][kind][0]) for kind in kinds]
    short = _join_parts([_counted(number, noun) for noun, number in sorted(Counter(nouns).items())])
    phrases = []
    for item, noun in zip(seen, nouns, strict=True):
        words = [" ".join(lexicon.words[name][v][0]) for name in ADJECTIVES if (v := item.values[name]) is not None]
        phrases.append(str(_ENGLISH.a(" ".join([*words, noun]))))
    sentences = [f"{_capitalize(_join_parts(phrases))}.", *_arrangement_sentences(view, grammar, min_pixels)]
    head = {"episode": view.episode, "image": view.image}
    return {**head, "short": f"{_capitalize(short)}.", "dense": " ".join(sentences)}


def _arrangement_sentences(view: ImageView, grammar: Grammar, min_pixels: int) -> list[str]:
    """Return a sentence for each identifiable object: what it is on or in, or where it is from the one before.

    It begins with the words for the camera if a side in it could be an object's own.
    """
    named = {expression.target: expression.texts[0] for expression in expressions(view, grammar, 0, min_pixels)}
    words = grammar.lexicon_of({}).words
    sentences, order = [], sorted(named)
    supports = [(how, k) for how in SUPPORTED if how in view.relations for k in order]
    for before, index in zip([None, *order], order, strict=False):
        besides = () if before is None else [(name, before) for name in RELATED if name in view.relations]
        for relation, other in (*supports, *besides):
            if view.relations[relation][other] >> index & 1:
                side = " ".join(words["stack" if relation in STACKS else "relate"][relation][0])
                subject, of = (named[k].removesuffix(f", {grammar.camera}") for k in (index, other))
                owned = relation in SIDES and other in view.fronts
                framed = owned or (subject, of) != (named[index], named[other])
                sentences.append(_capitalize(f"{grammar.camera}, " * framed + f"{subject} is {side} {of}."))
                break
    return sentences


def _counted(number: int, noun: str) -> str:
    if number == 1:
        return str(_ENGLISH.a(noun))
    return f"{_ENGLISH.number_to_words(number)} {plural(noun)}"


def _join_parts(parts: Sequence[str]) -> str:
    return str(_ENGLISH.join(list(parts))) if parts else "nothing"


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


def scene_graph(view: ImageView, number: int | None) -> dict[str, Any]:
    """Return a scene as in CLEVR's files, with any words and further relationships: above, below, on, and contacts.

    Pointers are left out.

    Args:
        number: number of the image; see `clevr_numbers`.
    """
    split, names = view.split or "new", [name for name in (*RELATED, "touching") if name in view.relations]
    return {
        "image_index": number,
        "image_filename": None if number is None else f"CLEVR_{split}_{number:06d}.png",
        "split": split,
        "episode_id": view.episode,
        "image_name": view.image,
        "objects": [
            {
                **{name: item.values[name] for name in QUERIED},
                **kind_values(item.truth.shape),
                "3d_coords": item.truth.location,
                "rotation": radians(item.truth.rotation_deg[2]),
                "pixel_coords": [*map(round, item.truth.pixel_center[:2]), item.truth.pixel_center[2]],
                "bbox": item.truth.bbox,
                "mask": item.truth.rle.model_dump(mode="json"),
            }
            for item in view.objects
        ],
        "directions": dict(view.directions),
        "relationships": {name: [*map(list, map(bits_of, view.relations[name]))] for name in names},
    }
