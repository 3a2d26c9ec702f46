"""What the trials of one run share."""

from __future__ import annotations

from dataclasses import dataclass

from scene_specs.benchmarks.iwisdm.backwards import Options
from scene_specs.benchmarks.iwisdm.input_errors import refused
from scene_specs.benchmarks.iwisdm.stimuli import DEFAULT, Stimuli

SPLITS: tuple[str, ...] = ("train", "val", "test")
FIXATION: tuple[str, ...] = ("hold", "action", "none")
# Trials are numbered below this: what depends on all before it is planned in a time that has an end.
MOST_TRIALS = 10_000_000
# As in the published code: branches of a Switch may agree, and objects that must differ are any two.
PUBLISHED = Options()


@dataclass(frozen=True)
class Setup:
    """What trials of any task share.

    trials_per_task: trial i is of task i // trials_per_task. balanced: answers exactly balanced over all trials from
    number 0 on. fillers, described: most objects to be ignored, in empty frames and beside others. fixation: the cross
    is shown until the answer is due ("hold"), only then ("action"), or never. background: 8-bit sRGB, None for black.
    """

    seed: int = 0
    split: str = "train"
    stimuli: Stimuli = DEFAULT
    trials_per_task: int = 1
    balanced: bool = False
    options: Options = PUBLISHED
    fillers: int = 0
    described: int = 0
    fixation: str = "hold"
    background: tuple[int, int, int] | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.seed < 2**63 or self.trials_per_task < 1 or min(self.fillers, self.described) < 0:
            raise refused("found a seed, a number of trials a task or of distractors out of range")
        if self.split not in SPLITS or self.fixation not in FIXATION:
            raise refused(f"found {self.split!r}, {self.fixation!r}; allowed: {', '.join((*SPLITS, *FIXATION))}")
