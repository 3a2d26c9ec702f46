"""Looks: the ground, patterns, light and camera finish of scenes whose content stays. A look is a JSON file.

A look changes no mesh, camera, lens or layout, so ids, depth, boxes and relations are those of `plain`. They are
plug-ins; see scene_specs/language/registry.py.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, ValidationError, model_validator

from diorama.scene_specs.errors import DioramaError, PluginError
from diorama.scene_specs.language.diagnostics import did_you_mean
from diorama.scene_specs.language.registry import plugin, plugins
from diorama.scene_specs.language.validation import option_problems
from diorama.scene_specs.model.materials import changed_parameters
from diorama.scene_specs.model.spec import LinearColor, NotNegative, Positive, SpecModel, Vector3

# The look of a spec that names none; it has no file.
PLAIN = "plain"
_Share = Annotated[float, Field(ge=0, le=1)]


class LookError(DioramaError):
    """A look that does not exist, or whose file is invalid."""

    exit_code = 2


class Recipe(SpecModel):
    """A ground or a pattern by name. All other keys are its parameters."""

    model_config = ConfigDict(extra="allow")

    name: str

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters as given."""
        return self.model_extra or {}


class LookLight(SpecModel):
    """Changes to a light of the stage, by its name; lights that a stage lacks are ignored.

    Attributes:
        energy: W; of a sun W/m2.
        color: linear RGB.
        size: edge of an area light, or angle of a sun; see StageLight.
        rotation_rad: rotation of a sun, Euler XYZ.
    """

    name: str
    energy: NotNegative | None = None
    color: LinearColor | None = None
    size: NotNegative | None = None
    rotation_rad: Vector3 | None = None


class Sky(SpecModel):
    """Light from all directions: linear RGB at the horizon and above, and a gradient between them."""

    horizon: LinearColor
    zenith: LinearColor


class Finish(SpecModel):
    """What a camera does to an image, after denoising.

    Attributes:
        blur: standard deviation, thousandths of the image's width.
        vignette: share of light that the corners lose.
        noise: standard deviation at mid-gray, levels of 255.
        compression: largest step of quantized 8 x 8 blocks, levels of 255; 0 for none.
    """

    blur: Annotated[float, Field(ge=0, le=10)] = 0.0
    vignette: _Share = 0.0
    noise: Annotated[float, Field(ge=0, le=32)] = 0.0
    compression: Annotated[float, Field(ge=0, le=64)] = 0.0


class SceneLook(SpecModel):
    """A look with every number filled in; lights and patterns are in the frames.

    Attributes:
        variant: its number, from 0.
        ground: replaces the stage's gray.
        offset: shift of the ground's texture, Blender units.
        gain: factor of linear RGB before display: exposure and white balance.
        finish: None for none.
    """

    name: str
    variant: Annotated[int, Field(ge=0)] = 0
    ground: Recipe | None = None
    offset: tuple[NotNegative, NotNegative] = (0.0, 0.0)
    sky: Sky | None = None
    gain: LinearColor = (1.0, 1.0, 1.0)
    finish: Finish | None = None


class Look(SpecModel):
    """The file of a look.

    Attributes:
        about: one sentence.
        patterns: each object gets one of them; materials that transmit or give light, and models, get none.
        lights: changes to lights of the stage.
        exposure: factor of linear light before display.
        white: factors of linear RGB before display, in addition.
        stages: name of a stage -> changes of the other fields on it, as in `variants`.
        without: materials whose color words don't hold, or [color, material] pairs.
        variants: changes of the other fields, as in JSON, of which an episode gets one; objects are merged.
    """

    about: str
    ground: Recipe | None = None
    patterns: tuple[Recipe, ...] = ()
    lights: tuple[LookLight, ...] = ()
    sky: Sky | None = None
    exposure: Positive = 1.0
    white: LinearColor = (1.0, 1.0, 1.0)
    finish: Finish | None = None
    stages: dict[str, dict[str, Any]] = Field(default_factory=dict)
    without: tuple[str | tuple[str, str], ...] = ()
    variants: Annotated[tuple[dict[str, Any], ...], Field(max_length=8)] = ()

    @model_validator(mode="after")
    def _check(self) -> Look:
        for noun, recipe in [("grounds", self.ground), *(("patterns", pattern) for pattern in self.patterns)]:
            if recipe is not None:
                plugin(noun, recipe.name)
                changed_parameters(recipe.name, recipe.parameters, noun)
        for number in range(len(self.variants)):
            for stage in ("", *self.variant(number).stages):
                self.variant(number, stage)
        return self

    def variant(self, number: int, stage: str = "") -> Look:
        """Return the look with the changes of a variant, and then with those for a stage."""
        changes = self.variants[number] if self.variants else {}
        merged = _merge_fields(self.model_dump(mode="json", exclude={"variants"}), changes)
        return Look.model_validate(_merge_fields(merged, merged["stages"].get(stage, {})))

    def keeps_word(self, color: str | None, material: str) -> bool:
        """Return whether color words of objects of a color and material hold."""
        return material not in self.without and (color or "", material) not in self.without


def _merge_fields(base: Any, changes: Any) -> Any:
    match base, changes:
        case dict(), dict():
            return base | {key: _merge_fields(base.get(key), value) for key, value in changes.items()}
    return changes


def look_names() -> list[str]:
    """Return the names of all looks, `plain` first."""
    return [PLAIN, *plugins("looks")]


@lru_cache(maxsize=64)
def load_look(name: str) -> Look:
    """Return the look with this name.

    Raises:
        LookError: it does not exist, or its file is invalid.
    """
    known = look_names()
    if name not in known:
        hint = did_you_mean(name, known)
        raise LookError(f"unknown look {name!r}; there are: {', '.join(known)}" + (f"; {hint}" if hint else ""))
    path: Path = plugin("looks", name).load()
    try:
        return Look.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise LookError(f"look {name!r}: {path}: {'; '.join(option_problems(error))}") from error
    except (OSError, PluginError) as error:
        raise LookError(f"look {name!r}: {path}: {error}") from error


@lru_cache(maxsize=64)
def look_digest(name: str) -> str:
    """Return the SHA-256 of the look's file, hexadecimal. Raises LookError."""
    load_look(name)
    return hashlib.sha256(plugin("looks", name).load().read_bytes()).hexdigest()
