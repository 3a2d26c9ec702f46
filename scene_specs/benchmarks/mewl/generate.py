"""MEWL episodes. Each depends only on (seed, split, task, number) and is verified before it is returned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from diorama.scene_specs.benchmarks.mewl import Options, tasks
from diorama.scene_specs.benchmarks.mewl.draft import spec_of
from diorama.scene_specs.benchmarks.mewl.lexicons import SPLITS, draw_words, lexicons
from diorama.scene_specs.benchmarks.mewl.truth import Truth
from diorama.scene_specs.benchmarks.mewl.verify import verify_view
from diorama.scene_specs.benchmarks.mewl.view import learner_view
from diorama.scene_specs.language.invented import Invented
from diorama.scene_specs.language.registry import plugin
from diorama.scene_specs.language.rng import generator, shuffled
from diorama.scene_specs.language.vocabulary import SHAPES
from diorama.scene_specs.model.spec import EpisodeData
from diorama.scene_specs.tasks.invented_draws import FAMILIES, drawn_shape

# Episodes per task in the published splits: 27,000 / 5,400 / 5,400 over nine tasks.
COUNTS: Mapping[str, int] = {"train": 3000, "val": 600, "test": 600}
ATTEMPTS = 200

TASKS: tuple[str, ...] = tuple(tasks.TASKS)


def generate(options: Options) -> Iterator[EpisodeData]:
    """Episodes by the options of `render-specs mewl`."""
    for split in SPLITS if options.split == "all" else (options.split,):
        count = COUNTS[split] if options.count is None else options.count
        for task in TASKS if options.task == "all" else (options.task,):
            for number in range(options.first, options.first + count):
                yield mewl_spec(
                    options.seed, split, task, number, options.balanced_options, options.objects == "invented"
                )


def mewl_spec(
    seed: int, split: str, task: str, number: int, balanced: bool = False, invented: bool = False
) -> EpisodeData:
    """Return episode `number` of a task in a split, as JSON data for EpisodeSpec, independently of other episodes.

    Args:
        balanced: leave out options that are wrong whatever the images show (unused words, pairs already shown). Id:
            `mewl/<split>/<task>/<6 digits>`.
        invented: replace CLEVR's shapes by three invented ones. Id: `mewl/invented/<split>/<task>/<6 digits>`.

    Raises:
        RuntimeError: if no attempt gives a valid episode (never observed).
    """
    episode = f"mewl/{'invented/' * invented}{split}/{task}/{number:06d}"
    recipe = tasks.TASKS[task]
    words = draw_words(generator(seed, episode, "words"), split, *recipe.words)
    for attempt in range(ATTEMPTS * (10 if invented else 1)):
        draft = recipe.build(generator(seed, episode, f"attempt-{attempt}"), words, balanced)
        if draft is None:
            continue
        spec = spec_of(draft, episode, seed, split, task, number)
        if invented:
            colors = [[item["color"] for item in frame["objects"]] for frame in spec["frames"]]
            if task == "relation" and any(len({*some}) < len(some) for some in colors):
                continue
            spec = _with_invented(spec, split)
        if _has_one_lexicon(spec):
            return spec
    raise RuntimeError(f"episode {episode}, seed {seed}: none of {ATTEMPTS} attempts could be verified")


def _enlarged_shape(shape: Invented) -> Invented:
    """Return a shape of the same seed that is nearly as large as its size allows: small objects need enough pixels."""
    largest = plugin("families", shape.family).load().LARGEST
    return shape._replace(axes={axis: round(0.2 * shape.axes[axis] + 0.8 * largest[axis], 4) for axis in largest})


def _with_invented(spec: EpisodeData, split: str) -> EpisodeData:
    """Return the spec with an invented shape, one of each family, for each of CLEVR's.

    Where sentences name objects by color and shape, "object" stands for the shape, which has no name.
    """
    rng = generator(spec["seed"], spec["id"], "shapes")
    shapes = [_enlarged_shape(drawn_shape(rng, split, family)).name for family in shuffled(rng, FAMILIES)]
    name_of = dict(zip(SHAPES, shapes, strict=True))

    def renamed(value: Any) -> Any:
        match value:
            case list():
                return [*map(renamed, value)]
            case str() if value not in name_of:
                return " ".join("object" if word in name_of else word for word in value.split(" "))
        return name_of.get(value, value)

    for frame in spec["frames"]:
        for item in frame["objects"]:
            item["shape"] = renamed(item["shape"])
        frame["truth"] = {"names": renamed(frame["truth"]["names"])}
        # Thin arms cover less than the 200 pixels that the stage asks for; the proof from images counts 100 as visible.
        frame["constraints"] = [*frame.get("constraints", ()), {"min_visible_pixels": 100}]
        if "utterance" in frame:
            frame["utterance"] = renamed(frame["utterance"])
    task = spec["task"]
    words = {word: renamed(meaning) for word, meaning in task["words"].items()}
    told = {"options": renamed(task["options"]), "answer": renamed(task["answer"])}
    return {**spec, "task": {**task, **told, "words": words, "shapes": shapes}}


def _has_one_lexicon(spec: EpisodeData) -> bool:
    """Return whether exactly one lexicon fits the contexts, and it gives the answer.

    Verification would accept several lexicons that agree on the answer. But rejecting an episode because of its
    *answer* would make some answers rarer than others, and a guesser could learn which.
    """
    truth = Truth.of_spec(spec)
    view = learner_view(spec, truth)
    if len(list(islice(lexicons(view), 2))) != 1:
        return False
    if reason := verify_view(view, truth.answer, truth.words):
        raise RuntimeError(f"episode {spec['id']}: {reason}")
    return True
