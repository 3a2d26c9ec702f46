"""`EpisodeRecord`, the unit of the store; the annotations in it are in `diorama.scene_specs.language.rendered`."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pydantic import Field

from diorama.scene_specs.language.notebook import html_of
from diorama.scene_specs.language.rendered import ImageRecord, RecordModel
from diorama.scene_specs.language.scene import Scene


class Provenance(RecordModel):
    """Where a record comes from; not compared when an episode is rendered again.

    Attributes:
        versions: of diorama, bpy, numpy, ...
        device: that rendered, as Cycles names it.
        cpu: instruction set, which changes pixels.
        attempt: 1 for the first.
        seconds: step -> seconds of this episode.
        models: model name -> what was repaired or replaced in it, a sentence each, such as a missing texture or
            inverted faces; only models that the episode shows.
    """

    versions: dict[str, str]
    device: str
    cpu: str
    created: str
    attempt: int
    seconds: dict[str, float]
    models: dict[str, tuple[str, ...]] = Field(default_factory=dict)


class RenderKey(RecordModel):
    """The identity of an episode: a stored episode is up to date if its key has the same hash."""

    spec: dict[str, Any]
    settings: dict[str, Any]
    assets: dict[str, str]
    version: str
    renderer: str

    def hash(self) -> str:
        """Return the SHA-256 over the canonical JSON, hexadecimal."""
        text = json.dumps(self.model_dump(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()


class EpisodeRecord(RecordModel):
    """One complete episode.

    Attributes:
        job: its identity.
        scene: its compiled Scene.
        images: in the order of frames and views.
    """

    episode_id: str
    job: RenderKey
    scene: Scene
    images: list[ImageRecord]
    provenance: Provenance

    def digest(self) -> str:
        """Return the SHA-256 over the images and optional passes, in order, hexadecimal."""
        digest = hashlib.sha256()
        for image in self.images:
            for part in (image.name.encode(), image.png, image.extra or b""):
                digest.update(len(part).to_bytes(8, "little"))
                digest.update(part)
        return digest.hexdigest()

    def utterances(self) -> list[str | None]:
        """Return the utterance of each image, None if its frame has none."""
        by_frame = {frame.name: frame.utterance for frame in self.scene.frames}
        return [by_frame.get(image.frame) for image in self.images]

    @property
    def truth(self) -> dict[str, Any]:
        """Everything that must be identical when rendered again, as plain JSON data without the images."""
        return {
            "episode_id": self.episode_id,
            "scene": self.scene.model_dump(mode="json"),
            "images": [
                {
                    "name": image.name,
                    "sha256": hashlib.sha256(image.png).hexdigest(),
                    **image.annotation.model_dump(mode="json"),
                }
                for image in self.images
            ],
        }

    def _repr_html_(self) -> str | None:
        """Show the images with boxes and a table of the objects in a notebook."""
        return html_of(self)
