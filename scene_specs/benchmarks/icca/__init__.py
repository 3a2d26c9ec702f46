"""ICCA (Hua and Artzi, COLM 2024): repeated reference games, over contexts that are rendered. See docs/icca.md."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import model_validator

from diorama.scene_specs.tasks.benchmark import (
    Command,
    First,
    ModelCommand,
    Report,
    Seed,
    StoreCommand,
    argument,
    option,
)

_FORM = "Show four separate images, or one image with the four in a 2 x 2 grid."
LABELS = {"letters": ("A", "B", "C", "D"), "positions": ("top left", "top right", "bottom left", "bottom right")}


class Options(Command):
    """Generate ICCA contexts; play and score reference games.

    In a reference game, a speaker describes one of four images, the target, and a listener picks the described image. A
    context is the four similar images of a game. Without a subcommand, the command writes one context per line, as a
    spec.

    The levels of --difficulty count attribute values, such as red or large. easy: any two images differ in at least
    half of their values, and one value is enough to identify an image. medium: any two images differ in exactly two
    values. hard: any two images differ in exactly one value, such as the color of one object, but every value also
    occurs on objects of other images. A description then needs at least two values, such as "red cube". docs/icca.md
    has the levels for relations and parts.

    Examples:
      render-specs icca --contexts 30 --difficulty hard --out specs.jsonl
      render-specs icca games scenes.lance --out games
    """

    contexts: int = option(..., "Number of contexts; required without a subcommand.", ge=0, group="Sampling")
    first: First = 0
    seed: Seed = 0
    difficulty: Literal["easy", "medium", "hard"] = option(
        "hard", "How similar the images of a context are; see above.", group="Contents"
    )
    source: Literal["clevr", "shapenet", "flat", "tangram"] = option(
        "clevr", "Objects in the images: CLEVR's shapes, ShapeNet models, flat shapes, or parts of tangrams."
    )
    vary: Literal["attributes", "relations", "parts"] | None = option(
        None, "What the images differ in.  [default: parts for --source tangram, otherwise attributes]"
    )


class Similarity(Report, run="difficulty:summary", text="difficulty:summary_table"):
    """Report how similar the images of contexts are.

    FILES are specs of `render-specs icca`. The command counts the differences between the images of each context. It
    also counts how many attribute values, relations or parts a description needs to identify an image.

    Examples:
      render-specs icca similarity specs.jsonl
      render-specs icca similarity specs.jsonl --json --out similarity.json
    """


class Games(StoreCommand, run="make_games:make_games", writes=()):
    """Create games from the rendered contexts of STORE.

    Each game is a folder with the four images of a context, a table of trials, and the correct answers, in the format
    of the published ICCA data. In each trial, a speaker describes one of the images and a listener picks an image.
    Games use the contexts in turn; after the last context, the first context is used again. The correct answers come
    from the annotations of the rendered images, not from the spec.

    Examples:
      render-specs icca games scenes.lance --out games
      render-specs icca games scenes.lance --count 20 --seed 1 --out games
    """

    count: int | None = option(None, "Number of games.  [default: one per context]", ge=1, group="Sampling")
    seed: Seed = 0
    out: Path = option(..., "Folder for the games.", metavar="DIR", group="Output")


class Presented(Command):
    """What players see. seed: also of the listener's orders."""

    speaker_variant: Literal["S1", "S2", "S3", "S4"] = option(
        "S1", "Instructions for the speaker; `icca variants` lists the variants.", group="Prompts"
    )
    variant: Literal["L1", "L2", "L3", "L4", "L5", "L6", "L7"] = option(
        "L3", "What the listener sees; `icca variants` lists the variants."
    )
    variant_file: Path | None = option(
        None,
        "JSON file that defines a listener variant, instead of --variant: the published interaction_args_lsnr.json, "
        "or an object with the fields that `icca variants --json` shows for a variant, except name and images.  "
        "[default: none]",
        path="file",
    )
    labels: Literal["letters", "positions"] = option(
        "letters", "Names of the images: A to D, or top left to bottom right."
    )
    form: Literal["separate", "collage"] = option("separate", _FORM)
    max_images: int | None = option(
        None,
        "Maximum number of images that the listener accepts in a prompt. It is an error if --variant needs more "
        "images: in some variants, a prompt repeats the images of earlier trials.  [default: no limit]",
        ge=1,
    )
    seed: Seed = 0

    @model_validator(mode="after")
    def _check(self) -> Presented:
        if self.variant_file is not None and "variant" in self.model_fields_set:
            raise ValueError("give --variant or --variant-file, not both")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The four labels."""
        return LABELS[self.labels]


class Play(Presented, ModelCommand, run="play_files:play_games", writes=()):
    """Play games and write transcripts as JSON Lines.

    GAMES are folders of games, as `icca games` writes them, or folders that contain such folders. In each of 24 trials,
    the speaker describes one of the four images and the listener picks an image. Built-in players
    don't use the network; models and module:Class can. docs/models.md describes models.

    The command appends each finished game to the file of --out. After an error, Ctrl-C or a crash, the file has the
    finished games, and the same command with --resume plays the other games. Without --resume, an existing file is an
    error. Exit code 1: a player failed.

    Examples:
      render-specs icca play games --speaker steady --listener oracle --out o.jsonl
      render-specs icca play games --speaker scripted --listener openai:MODEL
    """

    games: tuple[Path, ...] = argument()
    speaker: str = option(
        ...,
        "Player that describes images: scripted (shorter each time), steady (always the same), restless (never the "
        "same), recorded (the messages of the games), replay:FILE (those of a transcript), a model (openai:MODEL, "
        "hf:MODEL_OR_FOLDER), module:Class, or the name of a plugin.",
        metavar="NAME",
        group="Players",
    )
    listener: str = option(
        ...,
        "Player that picks images: oracle (always right), random, literal (compares message and images), learner "
        "(also remembers messages), replay:FILE (choices of a transcript), a model (openai:MODEL, hf:MODEL_OR_FOLDER), "
        "module:Class, or the name of a plugin.",
        metavar="NAME",
    )
    prompts: bool = option(False, "Include both prompts of each trial in the transcript.", group="Output")
    folders: Path | None = option(
        None,
        "Also write each played game to its own folder in DIR, with records_*_output.csv for the published "
        "collect_metrics.ipynb.",
        metavar="DIR",
    )
    resume: bool = option(False, "Play only the games that are not yet in the file of --out.")
    out: Path | None = option(None, "Output file.  [default: stdout]", metavar="FILE")

    @model_validator(mode="after")
    def _check_resume(self) -> Self:
        if self.resume and self.out is None:
            raise ValueError("--resume is for --out FILE")
        return self


class Prompt(Presented, run="play_files:show_prompt", writes=("json",)):
    """Show the prompt of one trial of GAME.

    GAME is a folder that `icca games` wrote. The command prints what the listener receives in a trial:
    texts and references to images, in order. To get there, the command plays the earlier trials with --speaker and
    --listener.

    Examples:
      render-specs icca prompt games/game-0000
      render-specs icca prompt games/game-0000 --trial 5 --images prompt
    """

    game: Path = argument()
    trial: int = option(0, "Number of the trial; a game has trials 0 to 23.", ge=0, le=23, group="Players")
    role: Literal["speaker", "listener"] = option(
        "listener",
        "Show the prompt of the speaker, who describes images, or of the listener, who picks images.",
        leaves="0.3",
    )
    speaker: str | None = option(
        None,
        "Speaker in earlier trials: built-in, a plugin, or replay:FILE.  [default: recorded if GAME was played, "
        "otherwise scripted]",
        metavar="NAME",
    )
    listener: str = option("oracle", "Listener in earlier trials: built-in, a plugin, or replay:FILE.", metavar="NAME")
    images: Path | None = option(
        None, "Write the images of the prompt to numbered files in this folder.", metavar="DIR", group="Output"
    )


class Variants(Command, run="game:variants_command", writes=("json",)):
    """List speaker and listener variants.

    A speaker variant is a set of instructions for the player that describes images. A listener variant determines what
    the player that picks images sees. The command prints the settings of each variant, and how many images a listener's
    prompt has in each trial.

    Examples:
      render-specs icca variants
      render-specs icca variants --form collage --json
    """

    form: Literal["separate", "collage"] = option("separate", _FORM)


class Score(Command, run="play_files:score_played", writes=("json", "out")):
    """Score played games per repetition.

    PLAYED are transcripts of `icca play`, or folders of games that people or programs have played. In such a folder,
    the table of trials, trials_for_*.csv, must contain the messages. A message is a speaker's description of an image.
    In a game, each of the four images is described six times, once per repetition.

    The command reports accuracy, words per message, word novelty distance (WND) and word novelty rate (WNR), each with
    a 95% confidence interval from resampling the games. WND is the number of words that were added or replaced since
    the previous message about the same image. WNR is WND divided by the number of words in the previous message.

    Examples:
      render-specs icca score out.jsonl
      render-specs icca score out.jsonl --computation published --plot scores.svg
    """

    played: tuple[Path, ...] = argument(path="any")
    computation: Literal["definition", "published"] = option(
        "definition",
        "Compute WND and WNR as the paper defines them, or as the published code computes them.",
        group="Measures",
    )
    words: Literal["content", "all"] = option(
        "content", "For WND and WNR, count only content words (no function words such as `the`), or all words."
    )
    seed: Seed = 0
    tokenizer: Path | None = option(
        None,
        "Also report tokens per message, by this tokenizer.json of Hugging Face. The published code uses the tokenizer "
        "of HuggingFaceM4/idefics-80b-instruct.  [default: none]",
        path="file",
    )
    plot: Path | None = option(None, "Also draw the scores as SVG.", metavar="FILE", group="Output")


COMMANDS = (Similarity, Games, Play, Prompt, Variants, Score)
