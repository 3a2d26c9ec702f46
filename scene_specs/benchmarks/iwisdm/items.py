"""Evaluation items of iWISDM: an instruction, the frames up to the one after which an answer is due, and the answer."""

from __future__ import annotations

from collections.abc import Iterator

from diorama.scene_specs.benchmarks.iwisdm.answer_balance import KINDS, OTHER, form_of
from diorama.scene_specs.benchmarks.iwisdm.stimuli import LOCATIONS, VIEW_ANGLES
from diorama.scene_specs.benchmarks.iwisdm.truth import CompleteTruth
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.model.spec import EpisodeData
from diorama.scene_specs.tasks.benchmark import Asked
from diorama.scene_specs.tasks.items import Item, Part, read_prompts

_TEXT = read_prompts(__name__)


def items(episode: EpisodeRecord) -> Iterator[Item]:
    """Yield an item per answer that is due; frames without one ("null") follow from the instruction alone.

    The options are the same for all questions of a trial; sides and models are among them if one is an answer. A
    guesser without images knows what `render-specs iwisdm balance` assumes: how the instruction joins its questions,
    and the kind of the answer.
    """
    truth = CompleteTruth.of_record(episode)
    options = ("true", "false", *LOCATIONS, *truth.categories)
    given = {answer for due in truth.answers for answer in due.split("; ")} - {*options}
    for more in (VIEW_ANGLES, truth.models):
        options += tuple(word for word in more if word not in options) if given & {*more} else ()
    shown = [Part(_TEXT["start"].format(instruction=truth.instruction))]
    form, number = form_of(truth.instruction), 0
    for frame, due in enumerate(truth.answers):
        shown += [Part(_TEXT["picture"].format(number=frame + 1)), Part(image=episode.images[frame].name)]
        answers = due.split("; ") if due != "null" else []
        for index, answer in enumerate(answers, 1):
            which = _TEXT["only"] if len(answers) == 1 else _TEXT["several"].format(count=len(answers), index=index)
            asked = _TEXT["question"].format(which=which, number=frame + 1, options=", ".join(options))
            kind = KINDS.get(answer, OTHER)
            groups = {"kind": kind, "frames": str(len(truth.answers))}
            parts, key = (*shown, Part(asked)), f"{kind}: {form}"
            yield Item(number, truth.name, parts, options, answer, int(_TEXT["version"]), groups=groups, key=key)
            number += 1


def asked(spec: EpisodeData) -> Asked:
    """Return the group of a spec, the key of its last question, and the answer to that."""
    truth = CompleteTruth.of_spec(spec)
    answer = next(due for due in reversed(truth.answers) if due != "null").split("; ")[-1]
    kind = KINDS.get(answer, OTHER)
    answers = [word for word, its in KINDS.items() if its == kind] or truth.categories
    if answer not in answers:
        answers = VIEW_ANGLES if answer in VIEW_ANGLES else truth.models
    return Asked(f"{truth.name}: {kind}: {form_of(truth.instruction)}", answer, tuple(answers))
