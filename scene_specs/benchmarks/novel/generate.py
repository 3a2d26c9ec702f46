"""Episodes of the benchmark. Each depends only on (seed, split, task, number) and is verified before it is returned."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from diorama.scene_specs.benchmarks.mewl.lexicons import draw_words
from diorama.scene_specs.benchmarks.novel import Options
from diorama.scene_specs.benchmarks.novel.concepts import Choice, Exemplar, Role, Truth
from diorama.scene_specs.benchmarks.novel.verify import nearest_exemplar, verify_spec
from diorama.scene_specs.language.invented import Invented
from diorama.scene_specs.language.rng import generator, pick, sample, shuffled
from diorama.scene_specs.language.vocabulary import COLORS, MEWL_MATERIALS, SIZES
from diorama.scene_specs.model.spec import EpisodeData, FrameData, ObjectData
from diorama.scene_specs.tasks.invented_draws import FAMILIES, drawn_shape

ATTEMPTS = 100
_CAMERA = {"look_at": [0, 0, 0.5], "yaw_deg": 0, "elevation_deg": 25, "distance": 6}
# Half the width of a concept on each axis, and the steps of near misses and of generalization.
WIDTH = 0.06
NEAR = (0.3, 0.4, 0.5)
STEPS = (0.05, 0.15, 0.25, 0.35, 0.45)
Look = tuple[str, str, str]


class _Draft(NamedTuple):
    """What a task draws: images with words or roles, and the rest of the truth."""

    exemplars: Sequence[tuple[Invented, Look, str]]
    choices: Sequence[tuple[Invented, Look, Role]]
    words: Mapping[str, str]
    truth: Mapping[str, Any]


class _Sampler:
    """Draws the concepts of one attempt."""

    def __init__(self, rng: np.random.Generator, split: str) -> None:
        self.rng, self.split = rng, split

    def concept(self, family: str = "") -> Invented:
        """Draw a shape of the split with a position on each axis."""
        return drawn_shape(self.rng, self.split, family or pick(self.rng, FAMILIES))

    def member(self, shape: Invented) -> Invented:
        """Draw a shape of the concept around `shape`."""
        axes = {axis: value + WIDTH * (2 * float(self.rng.random()) - 1) for axis, value in shape.axes.items()}
        return shape._replace(axes={axis: min(max(round(value, 4), 0.0), 1.0) for axis, value in axes.items()})

    def look(self) -> Look:
        """Draw color, material and size."""
        return pick(self.rng, tuple(COLORS)), pick(self.rng, MEWL_MATERIALS[:2]), "large"

    def word(self, shape: Invented) -> str:
        """Return the pseudo-word of a concept, which depends on the shape at its center alone."""
        return draw_words(generator(shape.seed, shape.name, "novel word"), self.split, 1, 0, 3)[0]


def _draft_generalization(draw: _Sampler) -> _Draft:
    base, look = draw.concept(), draw.look()
    axis = pick(draw.rng, tuple(base.axes))

    def at(position: float) -> Invented:
        return base._replace(axes={**base.axes, axis: round(position, 4)})

    words = [draw.word(at(0.05)), draw.word(at(0.95))]
    step, side = pick(draw.rng, STEPS), int(draw.rng.integers(2))
    shown = [(at(position), look, words[position > 0.5]) for position in (0.0, 0.1, 0.9, 1.0)]
    truth = {"axis": axis, "step": step, "options": shuffled(draw.rng, words), "answer": words[side]}
    names = {words[0]: at(0.05).name, words[1]: at(0.95).name}
    return _Draft(shuffled(draw.rng, shown), [(at(0.5 + (step if side else -step)), look, "member")], names, truth)


def _shape_bias(draw: _Sampler) -> _Draft:
    base = draw.concept()
    others = [draw.concept(base.family) for _ in range(3)]
    colors, materials = sample(draw.rng, tuple(COLORS), 6), shuffled(draw.rng, MEWL_MATERIALS)
    sizes = shuffled(draw.rng, tuple(SIZES))
    # Two exemplars of one material and size, in which they do not agree with the third.
    looks = [
        (colors[0], materials[0], sizes[0]),
        (colors[1], materials[0], sizes[1]),
        (colors[2], materials[1], sizes[0]),
    ]
    word = draw.word(base)
    choices: list[tuple[Invented, Look, Role]] = [
        (base, (colors[3], materials[2], sizes[1]), "member"),
        (others[0], (colors[0], materials[2], sizes[1]), "color"),
        (others[1], (colors[4], materials[0], sizes[1]), "texture"),
        (others[2], (colors[5], materials[2], sizes[0]), "size"),
    ]
    return _Draft([(base, look, word) for look in looks], choices, {word: base.name}, {"asked": word})


def _mutual_exclusivity(draw: _Sampler) -> _Draft:
    known, new, look = draw.concept(), draw.concept(), draw.look()
    words = [draw.word(known), draw.word(new)]
    asked = pick(draw.rng, words)
    shown = [(draw.member(known), look, words[0]) for _ in range(2)]
    names = {words[0]: known.name, words[1]: new.name}
    return _Draft(shown, [(draw.member(known), look, "known"), (new, look, "new")], names, {"asked": asked})


def _few_exemplars(draw: _Sampler) -> _Draft:
    base, look = draw.concept(), draw.look()
    step, word = pick(draw.rng, NEAR), draw.word(base)
    near = []
    for axis in sample(draw.rng, tuple(base.axes), 2):
        moved = base.axes[axis] + (step if base.axes[axis] < 0.5 else -step)
        near.append(base._replace(axes={**base.axes, axis: round(moved, 4)}))
    shown = [(draw.member(base), look, word) for _ in range(pick(draw.rng, (1, 2, 4)))]
    choices: list[tuple[Invented, Look, Role]] = [
        (draw.member(base), look, "member"),
        *((draw.member(concept), look, "near") for concept in near),
        (draw.concept(base.family), look, "far"),
    ]
    return _Draft(shown, choices, {word: base.name}, {"asked": word, "step": step})


TASKS: Mapping[str, Callable[[_Sampler], _Draft]] = {
    "generalization": _draft_generalization,
    "shape-bias": _shape_bias,
    "mutual-exclusivity": _mutual_exclusivity,
    "few-exemplars": _few_exemplars,
}


def generate(options: Options) -> Iterator[EpisodeData]:
    """Episodes by the options of `render-specs novel`."""
    for task in TASKS if options.task == "all" else (options.task,):
        for number in range(options.first, options.first + options.count):
            yield novel_spec(options.seed, options.split, task, number)


def novel_spec(seed: int, split: str, task: str, number: int) -> EpisodeData:
    """Return episode `number` of a task in a split, as JSON data for EpisodeSpec, independently of other episodes.

    Id: `novel/<split>/<task>/<6 digits>`.

    Raises:
        RuntimeError: no attempt gives a valid episode.
    """
    episode = f"novel/{split}/{task}/{number:06d}"
    for attempt in range(ATTEMPTS):
        rng = generator(seed, episode, f"attempt-{attempt}")
        spec = _episode_data(TASKS[task](_Sampler(rng, split)), rng, task, number)
        if len(spec["task"]["words"]) == (2 if task in ("generalization", "mutual-exclusivity") else 1):
            spec |= {"id": episode, "seed": seed, "split": split}
            if not verify_spec(spec):
                return spec
    raise RuntimeError(f"episode {episode}, seed {seed}: none of {ATTEMPTS} attempts could be verified")


def _episode_data(draft: _Draft, rng: np.random.Generator, task: str, number: int) -> EpisodeData:
    exemplars = [Exemplar(frame=f"exemplar-{k}", word=word) for k, (_, _, word) in enumerate(draft.exemplars)]
    letters = "abcd"[: len(draft.choices)]
    frames = [_frame(f"exemplar-{k}", shape, look, rng) for k, (shape, look, _) in enumerate(draft.exemplars)]
    shapes = [shape.name for shape, _, _ in draft.exemplars]
    choices = []
    for letter, (shape, look, role) in zip(letters, shuffled(rng, draft.choices), strict=True):
        frames.append(_frame(f"choice-{letter}", shape, look, rng))
        choices.append(Choice(frame=f"choice-{letter}", role=role, distance=nearest_exemplar(shape.name, shapes)))
    truth = dict(draft.truth)
    if "answer" not in truth:
        wanted = {"member"} if len(draft.words) == 1 else {"known" if truth["asked"] == exemplars[0].word else "new"}
        right = next(letter for letter, choice in zip(letters, choices, strict=True) if choice.role in wanted)
        truth |= {"options": list(letters.upper()), "answer": right.upper()}
    listed = {"exemplars": exemplars, "choices": choices, "words": dict(draft.words)}
    task_truth = Truth.model_validate({"name": task, "number": number, **listed, **truth})
    truth = task_truth.model_dump(mode="json", exclude_none=True)
    return {"version": 1, "stage": "mewl", "frames": frames, "task": truth}


def _frame(name: str, shape: Invented, look: Look, rng: np.random.Generator) -> FrameData:
    turn = round(30 * float(rng.random()) - 15, 1)
    color, material, size = look
    item: ObjectData = {"shape": shape.name, "color": color, "material": material, "size": size}
    return {"name": name, "objects": [{**item, "location": [0, 0], "rotation_deg": turn}], "camera": _CAMERA}
