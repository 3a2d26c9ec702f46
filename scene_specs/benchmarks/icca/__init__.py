"""ICCA (Hua and Artzi, COLM 2024): repeated reference games, over contexts that are rendered. See docs/icca.md."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from scene_specs.language.benchmark import Command, First, Report, Seed, StoreCommand

_Form = Annotated[
    Literal["separate", "collage"], Field(description="Four separate images, or one image with two by two.")
]


class Options(Command):
    """Generate ICCA contexts, and play and score its games.

    Without a subcommand, it writes contexts of four images as specs, one per line. Hard: any two images differ in one
    value, and no single value identifies an image. Medium: they differ in two values. Easy: they differ in at least
    half of all values, and a single value identifies each. See docs/icca.md.
    """

    contexts: int = Field(ge=0, description="Number of contexts; required without a subcommand.")
    first: First = 0
    difficulty: Literal["easy", "medium", "hard"] = Field(
        "hard", description="How similar the images of a context are."
    )
    source: Literal["clevr", "shapenet", "flat", "tangram"] = Field("clevr", description="Kind of objects.")
    vary: Literal["attributes", "relations", "parts"] | None = Field(
        None, description="What images differ in [default: parts for tangram, attributes otherwise]."
    )
    seed: Seed = 0


class Similarity(Report):
    """Report how similar the images of contexts are.

    Also reports how long a description has to be to identify an image.
    """

    run: ClassVar[str] = "difficulty:report"


class Games(StoreCommand):
    """Create games from the rendered contexts of STORE.

    Each game is a folder in the published layout, with its truth. Contexts take turns. The truth comes from the
    annotations of the images, not from the spec.
    """

    run: ClassVar[str] = "make_games:make_games"
    writes: ClassVar[tuple[str, ...]] = ()

    count: int | None = Field(None, ge=1, description="Number of games [default: one per context].")
    out: Path = Field(description="Folder for the games.", json_schema_extra={"metavar": "DIR"})
    seed: Seed = 0


class Presented(Command):
    """What players see."""

    speaker_variant: str = Field("S1", description="Instructions of speakers.", json_schema_extra={"metavar": "S1-S4"})
    variant: str = Field("L3", description="What listeners see.", json_schema_extra={"metavar": "L1-L7"})
    variant_file: Path | None = Field(
        None,
        description="Your own listener variant [default: --variant].",
        json_schema_extra={"path": "file", "metavar": "FILE"},
    )
    labels: Literal["letters", "positions"] = Field("letters", description="A to D, or top left, top right, ...")
    form: _Form = "separate"
    max_images: int | None = Field(None, ge=1, description="Maximum number of images in a prompt [default: no limit].")
    seed: Seed = 0

    @model_validator(mode="after")
    def _check(self) -> Presented:
        if self.variant_file is not None and "variant" in self.model_fields_set:
            raise ValueError("give --variant or --variant-file, not both")
        return self


class Play(Presented):
    """Play games and write transcripts as JSON Lines.

    GAMES are folders of games, or folders that contain such folders. Nothing here calls a network service. --out grows
    by one game at a time: after an error, Ctrl-C or a crash it has the finished games, and --resume plays the others.
    An existing file is never overwritten. Exit code 1: a player failed.
    """

    run: ClassVar[str] = "play_files:play_games"
    writes: ClassVar[tuple[str, ...]] = ()

    games: tuple[Path, ...] = Field(json_schema_extra={"argument": True})
    speaker: str = Field(description="scripted, steady, restless, recorded, replay:FILE, or a plugin.")
    listener: str = Field(description="oracle, random, literal, learner, replay:FILE, or a plugin.")
    prompts: bool = Field(False, description="Include both prompts of each trial in the transcript.")
    folders: Path | None = Field(
        None, description="Also write each played game to a folder here.", json_schema_extra={"metavar": "DIR"}
    )
    resume: bool = Field(False, description="Play only the games that --out does not have yet.")
    out: Path | None = Field(None, description="Output file [default: stdout].", json_schema_extra={"metavar": "FILE"})

    @model_validator(mode="after")
    def _check_resume(self) -> Play:
        if self.resume and self.out is None:
            raise ValueError("--resume is for --out FILE")
        return self


class Prompt(Presented):
    """Show the prompt of one trial of GAME.

    Prints what a player gets: texts and image references, in order.
    """

    run: ClassVar[str] = "play_files:show_prompt"
    writes: ClassVar[tuple[str, ...]] = ("json",)

    game: Path = Field(json_schema_extra={"argument": True})
    trial: int = Field(0, ge=0, le=23, description="Number of the trial, from 0 to 23.")
    role: Literal["speaker", "listener"] = Field("listener", description="Player to prompt.")
    speaker: str = Field("scripted", description="Speaker of the trials before.", json_schema_extra={"metavar": "NAME"})
    listener: str = Field("oracle", description="Listener of the trials before.", json_schema_extra={"metavar": "NAME"})
    images: Path | None = Field(
        None, description="Write the prompt's images here, numbered.", json_schema_extra={"metavar": "DIR"}
    )


class Variants(Command):
    """List speaker and listener variants.

    Prints their settings, and how many images a prompt has in each trial.
    """

    run: ClassVar[str] = "game:list_variants"
    writes: ClassVar[tuple[str, ...]] = ("json",)

    form: _Form = "separate"


class Score(Command):
    """Score played games per repetition.

    PLAYED are transcripts, or folders of games with recorded messages. Reports accuracy, words per message, WND and
    WNR, each with its 95 % bootstrap interval over games.
    """

    run: ClassVar[str] = "play_files:score_played"
    writes: ClassVar[tuple[str, ...]] = ("json", "out")

    played: tuple[Path, ...] = Field(json_schema_extra={"argument": True, "path": "any"})
    computation: Literal["definition", "published"] = Field(
        "definition", description="WND and WNR as defined, or as the published code does."
    )
    words: Literal["content", "all"] = Field("content", description="Words that WND and WNR count.")
    plot: Path | None = Field(None, description="Also draw the scores as SVG.", json_schema_extra={"metavar": "FILE"})
    seed: Seed = 0


COMMANDS = (Similarity, Games, Play, Prompt, Variants, Score)
