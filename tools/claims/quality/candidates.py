"""Candidates for measuring: a profile by name, the published renderer, or a try from a JSON file.

`published-512` is the published renderer (tools/claims/quality/published.py) with 512 samples per pixel.

A try's file holds one object or a list of them:

    {"name": "standard-32", "base": "standard", "prediction": "0.8 dB better, a third slower",
     "settings": {"samples": 32}, "cycles": {"use_light_tree": true}, "render": {"use_persistent_data": true},
     "view_layer": {}, "view_layer_cycles": {}, "image_settings": {}}

base: the profile that it changes. settings: fields of a profile. cycles, render, view_layer: Blender's properties of
`scene.cycles`, `scene.render` and `scene.view_layers[0]`, for what profiles don't cover; view_layer_cycles: those of
its `cycles`; image_settings: those of the file of passes, `scene.render.image_settings`. Every property is restored
after each render, so that candidates can alternate in one process.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Settings
from diorama.scene_specs.model.spec import SpecModel

Values = dict[str, bool | int | float | str]


class Candidate(SpecModel):
    """A profile or a try; for the fields see the docstring of the module."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.+_-]{0,80}$")]
    base: str = "standard"
    prediction: str = ""
    settings: dict[str, Any] = Field(default_factory=dict)
    cycles: Values = Field(default_factory=dict)
    render: Values = Field(default_factory=dict)
    view_layer: Values = Field(default_factory=dict)
    view_layer_cycles: Values = Field(default_factory=dict)
    image_settings: Values = Field(default_factory=dict)

    @property
    def published(self) -> int:
        """Samples of the published renderer; 0 for a profile or a try."""
        return int(found[1]) if (found := re.fullmatch(r"published-([1-9]\d{0,5})", self.name)) else 0

    def at(self, width: int, height: int) -> Settings:
        """Return the settings at a size in pixels. Raises UsageError for an unknown profile or an invalid field."""
        base = settings_for(self.base, width, height)
        try:
            found = Settings.model_validate({**base.model_dump(), "profile": self.name, **self.settings})
        except ValidationError as error:
            raise UsageError(f"candidate {self.name!r}: settings: {_first_problem(error)}") from error
        ignored = [name for name in self.cycles if name in ("samples", "seed") or "denois" in name]
        if found.object_samples and (ignored or found.prefilter != "NONE"):
            named = ", ".join(ignored or ["prefilter"])
            raise UsageError(f"candidate {self.name!r}: {named} has no effect with object_samples; set that to 0, too")
        return found

    @property
    def change(self) -> str:
        """A description of the changes to the base."""
        changed = (self.settings, *self.properties().values())
        changes = ", ".join(f"{key} {value}" for values in changed for key, value in values.items())
        return f"{self.base}: {changes}" if changes else self.base

    def key(self) -> dict[str, Any]:
        """Return everything that decides images and times."""
        if self.published:
            return {"published": self.published}
        return {"settings": self.at(320, 240).model_dump(exclude={"profile"}), **self.properties()}

    def properties(self) -> dict[str, Values]:
        """Return Blender's properties by owner."""
        return self.model_dump(include={"cycles", "render", "view_layer", "view_layer_cycles", "image_settings"})


def candidates(names: Sequence[str]) -> list[Candidate]:
    """Return the candidates of a command line: names of profiles, `published-<samples>`, `.json` files of tries.

    Raises UsageError for anything else, and for two candidates of one name.
    """
    found: list[Candidate] = []
    for name in names:
        if name.endswith(".json"):
            found += _load_tries(Path(name))
        elif samples := Candidate(name=name).published:
            found.append(Candidate(name=name, base="clevr-512", settings={"samples": samples}))
        else:
            found.append(Candidate(name=name, base=name))
    for candidate in found:
        candidate.at(320, 240)
    twice = sorted(name for name, count in Counter(each.name for each in found).items() if count > 1)
    if twice:
        raise UsageError(f"two candidates have the name {', '.join(twice)}; their results would overwrite each other")
    return found


def _load_tries(path: Path) -> list[Candidate]:
    try:
        data = json.loads(path.read_text("utf-8"))
        tries = TypeAdapter(list[Candidate]).validate_python(data if isinstance(data, list) else [data])
    except ValidationError as error:
        raise UsageError(f"{path}: candidate {_first_problem(error)}") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: unreadable JSON: {error}") from error
    if taken := [one.name for one in tries if one.published]:
        raise UsageError(f"{path}: {taken[0]!r} is the name of the published renderer's results; use another name")
    return tries


def _first_problem(error: ValidationError) -> str:
    """Return the first diagnostic on one line: location and message."""
    diagnostic = error.errors()[0]
    return f"{'.'.join(map(str, diagnostic['loc']))}: {diagnostic['msg']}, found {diagnostic['input']!r}"
