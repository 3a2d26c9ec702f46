"""Stimuli: a model of a category, seen from one of four sides, in one of four locations.

Views depend on (split, model, side, variant) only, not on the seed of the trials. Frames that show the same stimulus
have the same spec, so a caching renderer renders them once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from diorama.scene_specs.benchmarks.iwisdm.keyed_rng import KeyedRng
from diorama.scene_specs.errors import located, spec_error
from diorama.scene_specs.files.foreign import parse_json
from diorama.scene_specs.language.model_names import PREFIX, SYNSETS, UNLIT, parse_model
from diorama.scene_specs.language.validation import of_form
from diorama.scene_specs.model.spec import ObjectData

LOCATIONS: tuple[str, ...] = ("top left", "top right", "bottom left", "bottom right")
# The visible side, by quarter turns of the yaw: the published angle classes 0 to 3.
VIEW_ANGLES: tuple[str, ...] = ("front", "left", "back", "right")
PROPERTIES: tuple[str, ...] = ("location", "category", "identity", "view_angle")

# The published set: eight categories of eight models, photographed from above.
CATEGORIES: tuple[str, ...] = ("benches", "boats", "cars", "chairs", "couches", "lighting", "planes", "tables")
MODELS = 8
ELEVATIONS = (20.0, 38.0)
# Half of the published 45 degrees, which keeps the sides distinguishable.
YAW_SPREAD = 22.5
VARIANTS = 3
# How the id of a model begins that is made of pictures, one per side (see pictures.py).
PICTURE = "picture-"
# Half a quadrant of the stage `pictures`.
_PICTURE_SIZE = 56.0

_CATEGORY = re.compile(r"[a-z0-9_][a-z0-9_-]{0,39}")
# Words of the instructions, which no category can have as its name.
_RESERVED = frozenset(
    {
        "and", "or", "not", "equals", "if", "then", "else", "exists", "object", "observe", "delay", "of", "with", "at",
        "true", "false", "null",
    }
)  # fmt: skip


def is_picture(identity: str) -> bool:
    """Whether a stimulus is a model made of pictures, which is seen straight from one of its sides."""
    return re.fullmatch(rf"[^/]+/{PICTURE}[0-9]+", identity) is not None


@dataclass(frozen=True)
class Item:
    """A visible object.

    Attributes:
        identity: `<category>/<model>`.
        variant: number of the view of that side.
    """

    location: str
    category: str
    identity: str
    view_angle: str
    variant: int = 0

    def value(self, name: str) -> str:
        """Return the value of a property, one of PROPERTIES."""
        return str(getattr(self, name))


@dataclass(frozen=True)
class Stimuli:
    """The available models: category -> models, as in `shapenet:<category>/<model>`.

    Raises SpecError for names that are not allowed in a spec or an instruction, fewer than two categories, or a
    category without models.
    """

    models: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        for category, models in self.models.items():
            if not _CATEGORY.fullmatch(category) or category in _RESERVED:
                allowed = "a-z, 0-9, _, -, not first, except words of the instructions"
                raise spec_error(f"found category {category!r}; allowed: {allowed}")
            named = [parse_model(f"{PREFIX}{category}/{model}") for model in models]
            if not models or len({*models}) < len(models) or None in named:
                raise spec_error(f"category {category}: expected one or more different model ids, or #1, #2, ...")
        if len({SYNSETS.get(category, category) for category in self.models}) < len(self.models):
            raise spec_error("found two names for one category", "models of one folder must be one category")
        if len(self.models) < 2:
            raise spec_error(f"expected two or more categories; found {len(self.models)}")
        if len({is_picture(identity) for _, identity in self.identities}) > 1:
            raise spec_error(f"found {PICTURE}... and other models", "pictures have a stage of their own")

    @cached_property
    def stage(self) -> str:
        """The stage that shows them."""
        return "pictures" if is_picture(self.identities[0][1]) else "quadrants"

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """Sorted; the index of a category is its number in exports."""
        return tuple(sorted(self.models))

    @cached_property
    def identities(self) -> tuple[tuple[str, str], ...]:
        """All (category, `<category>/<model>`), sorted by category; the index is the identity's number in exports."""
        return tuple(
            (category, f"{category}/{model}") for category in self.categories for model in self.models[category]
        )

    def values(self, name: str) -> tuple[str, ...]:
        """All values of a property."""
        if name == "identity":
            return tuple(identity for _, identity in self.identities)
        return {"location": LOCATIONS, "view_angle": VIEW_ANGLES, "category": self.categories}[name]


DEFAULT = Stimuli({name: tuple(f"#{k + 1}" for k in range(MODELS)) for name in CATEGORIES})


def read_stimuli(text: str, file: str = "") -> Stimuli:
    """Stimuli from JSON, `{"category": ["#1", "<model id>", ...], ...}`. Raises SpecError."""
    expected = 'expected {"category": ["#1", "<model id>", ...], ...}'
    data = of_form(dict[str, list[str]], parse_json(text, file), expected, file)
    with located(file=file):
        return Stimuli({category: tuple(models) for category, models in data.items()})


@lru_cache(maxsize=50_000)
def view_of(split: str, identity: str, view_angle: str, variant: int) -> tuple[float, float]:
    """Yaw and elevation in degrees; each split has its own views. A picture has one view per side."""
    if is_picture(identity):
        return (90.0 * VIEW_ANGLES.index(view_angle), 0.0)
    rng = KeyedRng(0, identity, f"view {split} {view_angle} {variant}")
    yaw = 90 * VIEW_ANGLES.index(view_angle) + YAW_SPREAD * (2 * rng.unit() - 1)
    elevation = ELEVATIONS[0] + (ELEVATIONS[1] - ELEVATIONS[0]) * rng.unit()
    return (round(yaw % 360, 1), round(elevation, 1))


def object_spec(item: Item, split: str) -> ObjectData:
    """Return the object as JSON data of a spec; equal for equal stimuli in all trials."""
    yaw, elevation = view_of(split, item.identity, item.view_angle, item.variant)
    place = item.location.replace(" ", "_")
    return {
        "name": place,
        "shape": f"shapenet:{item.identity}",
        "place": place,
        "view": {"yaw_deg": yaw, "elevation_deg": elevation},
        **({"size": _PICTURE_SIZE, "material": UNLIT} if is_picture(item.identity) else {}),
    }
