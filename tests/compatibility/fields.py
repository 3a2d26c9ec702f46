"""Field names of all models that go into hashes, and the rule for fields that are added later.

A field that is added must be left out of a dump while it has its default. Otherwise every stored job hash changes, and
every stored episode counts as another one. pydantic's `Field(exclude_if=...)` leaves it out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args

from pydantic import BaseModel

from diorama.scene_specs.model.record import FrameAnnotation, RenderKey
from diorama.scene_specs.model.scene import Scene, Settings
from diorama.scene_specs.model.spec import EpisodeSpec

# FrameAnnotation is in EpisodeRecord.truth, whose hash is stored as well.
ROOTS: tuple[type[BaseModel], ...] = (EpisodeSpec, Settings, Scene, RenderKey, FrameAnnotation)


def reachable(roots: Iterable[type[BaseModel]]) -> dict[str, type[BaseModel]]:
    """Name -> model, of these models and of all models that their fields may hold, sorted by name."""
    found: dict[str, type[BaseModel]] = {}
    waiting = list(roots)
    while waiting:
        model = waiting.pop()
        if found.get(model.__name__) is model:
            continue
        assert model.__name__ not in found, f"two models are called {model.__name__}"
        found[model.__name__] = model
        for field in model.model_fields.values():
            waiting += models_in(field.annotation)
    return dict(sorted(found.items()))


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that an annotation names, at any depth."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from models_in(part)


def field_names(roots: Iterable[type[BaseModel]]) -> dict[str, list[str]]:
    """Model -> its field names, in the order of the model."""
    return {name: list(model.model_fields) for name, model in reachable(roots).items()}


def removed(golden: Mapping[str, Sequence[str]], models: Mapping[str, type[BaseModel]]) -> list[str]:
    """Golden models and fields that are not there any more."""
    gone = [name for name in golden if name not in models]
    kept = [name for name in golden if name in models]
    return gone + [
        f"{name}.{field}" for name in kept for field in golden[name] if field not in models[name].model_fields
    ]


def always_dumped(golden: Mapping[str, Sequence[str]], models: Mapping[str, type[BaseModel]]) -> list[str]:
    """Added fields that a dump holds although they have their defaults, or that have none.

    A model that is not in the golden list can only be reached through an added field, which is checked itself.
    """
    wrong = []
    for name in golden:
        fields = models[name].model_fields if name in models else {}
        added = {field for field in fields if field not in golden[name]}
        required = {field for field in added if fields[field].is_required()}
        # model_construct needs no data: it sets the defaults and checks nothing.
        dumped = models[name].model_construct().model_dump(mode="json", include=added) if added else {}
        wrong += [f"{name}.{field}" for field in fields if field in required or field in dumped]
    return wrong
