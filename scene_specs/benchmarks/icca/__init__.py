"""ICCA (Hua and Artzi, COLM 2024): repeated reference games, over contexts that are rendered. See docs/icca.md."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import model_validator

from scene_specs.language.benchmark import Command, First, Report, Seed, StoreCommand, argument, option

_FORM = "Four separate images, or one image with two by two."
LABELS = {"letters": ("A", "B", "C", "D"), "positions": ("top left", "top right", "bottom left", "bottom right")}


class Options(Command):
    """Generate ICCA contexts, and play and score its games.

    Without a subcommand, it writes contexts of four images as specs, one per line. Hard: any two images differ in one
    value, and no single value identifies an image. Medium: they differ in two values. Easy: they differ in at least
    half of all values, and a single value identifies each. See docs/icca.md.

    Examples:
      render-specs icca --contexts 30 --difficulty hard --out specs.jsonl
      render-specs icca games scenes.lance --out games
    """

    contexts: int = option(..., "Number of contexts; required without a subcommand.", ge=0, group="Sampling")
    first: First = 0
    seed: Seed = 0
    difficulty: Literal["easy", "medium", "hard"] = option("hard", "How similar its images are.", group="Contents")
    source: Literal["clevr", "shapenet", "flat", "tangram"] = option("clevr", "Kind of objects.")
    vary: Literal["attributes", "relations", "parts"] | None = option(
        None, "What images differ in [default: parts for tangram, attributes otherwise]."
    )


class Similarity(Report, run="difficulty:summary", text="difficulty:summary_table"):
    """Report how similar the images of contexts are.

    Also reports how long a description has to be to identify an image.

    Examples:
      render-specs icca similarity specs.jsonl
      render-specs icca similarity specs.jsonl --json --out similarity.json
    """


class Games(StoreCommand, run="make_games:make_games", writes=()):
    """Create games from the rendered contexts of STORE.

    Each game is a folder in the published layout, with its truth. Contexts take turns. The truth comes from the
    annotations of the images, not from the spec.

    Examples:
      render-specs icca games scenes.lance --out games
      render-specs icca games scenes.lance --count 20 --seed 1 --out games
    """

    count: int | None = option(None, "Number of games [default: one per context].", ge=1, group="Sampling")
    seed: Seed = 0
    out: Path = option(..., "Folder for the games.", metavar="DIR", group="Output")


class Presented(Command):
    """What players see. seed: also of the listener's orders."""

    speaker_variant: str = option("S1", "Instructions of speakers.", metavar="S1-S4", group="Prompts")
    variant: str = option("L3", "What listeners see.", metavar="L1-L7")
    variant_file: Path | None = option(None, "Your own listener variant [default: --variant].", path="file")
    labels: Literal["letters", "positions"] = option("letters", "A to D, or top left, top right, ...")
    form: Literal["separate", "collage"] = option("separate", _FORM)
    max_images: int | None = option(None, "Maximum number of images in a prompt [default: no limit].", ge=1)
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


class Play(Presented, run="play_files:play_games", writes=()):
    """Play games and write transcripts as JSON Lines.

    GAMES are folders of games, or folders that contain such folders. Nothing here calls a network service. --out grows
    by one game at a time: after an error, Ctrl-C or a crash it has the finished games, and --resume plays the others.
    An existing file is never overwritten. Exit code 1: a player failed.

    Examples:
      render-specs icca play games --speaker steady --listener oracle --out o.jsonl
      render-specs icca play games --speaker scripted --listener random --prompts
    """

    games: tuple[Path, ...] = argument()
    speaker: str = option(..., "scripted, steady, restless, recorded, replay:FILE, or a plugin.", group="Players")
    listener: str = option(..., "oracle, random, literal, learner, replay:FILE, or a plugin.")
    prompts: bool = option(False, "Include both prompts of each trial in the transcript.", group="Output")
    folders: Path | None = option(None, "Also write each played game to a folder here.", metavar="DIR")
    resume: bool = option(False, "Play only the games that --out does not have yet.")
    out: Path | None = option(None, "Output file [default: stdout].", metavar="FILE")

    @model_validator(mode="after")
    def _check_resume(self) -> Play:
        if self.resume and self.out is None:
            raise ValueError("--resume is for --out FILE")
        return self


class Prompt(Presented, run="play_files:show_prompt", writes=("json",)):
    """Show the prompt of one trial of GAME.

    Prints what a player gets: texts and image references, in order.

    Examples:
      render-specs icca prompt games/game-0000
      render-specs icca prompt games/game-0000 --trial 5 --images prompt
    """

    game: Path = argument()
    trial: int = option(0, "Number of the trial, from 0 to 23.", ge=0, le=23, group="Players")
    role: Literal["speaker", "listener"] = option("listener", "Player to prompt.")
    speaker: str = option("scripted", "Speaker of the trials before.", metavar="NAME")
    listener: str = option("oracle", "Listener of the trials before.", metavar="NAME")
    images: Path | None = option(None, "Write the prompt's images here, numbered.", metavar="DIR", group="Output")


class Variants(Command, run="game:list_variants", writes=("json",)):
    """List speaker and listener variants.

    Prints their settings, and how many images a prompt has in each trial.

    Examples:
      render-specs icca variants
      render-specs icca variants --form collage --json
    """

    form: Literal["separate", "collage"] = option("separate", _FORM)


class Score(Command, run="play_files:score_played", writes=("json", "out")):
    """Score played games per repetition.

    PLAYED are transcripts, or folders of games with recorded messages. Reports accuracy, words per message, WND and
    WNR, each with its 95 % bootstrap interval over games.

    Examples:
      render-specs icca score out.jsonl
      render-specs icca score out.jsonl --computation published --plot scores.svg
    """

    played: tuple[Path, ...] = argument(path="any")
    computation: Literal["definition", "published"] = option(
        "definition", "WND and WNR as defined, or as the published code does.", group="Measures"
    )
    words: Literal["content", "all"] = option("content", "Words that WND and WNR count.")
    seed: Seed = 0
    plot: Path | None = option(None, "Also draw the scores as SVG.", metavar="FILE", group="Output")


COMMANDS = (Similarity, Games, Play, Prompt, Variants, Score)
