"""Verification of contexts: each stored description is true of its image only, and as short as stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from diorama.scene_specs.benchmarks.icca.difficulty import DESCRIPTIONS, LEVELS, SIZE, similarity_of
from diorama.scene_specs.benchmarks.icca.generate import SHARED, TANGRAM, graph_of_shown_parts
from diorama.scene_specs.benchmarks.icca.image_sources import attributes_of, graph_of_annotations
from diorama.scene_specs.benchmarks.icca.layout import SceneGraph, graph_of, is_true_of, others_of, telling_layouts
from diorama.scene_specs.benchmarks.icca.referring_expressions import text_of
from diorama.scene_specs.benchmarks.icca.truth import Expression, Shown, Truth
from diorama.scene_specs.benchmarks.kilogram.dataset import own_annotations
from diorama.scene_specs.errors import spec_error
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.model.spec import EpisodeData, ObjectData
from diorama.scene_specs.tasks.copies import Copy, lines_of

# Images made here have at most 28 values and relations, those of version 0.1.0 up to 41. With 55, the search for the
# shortest description takes a minute.
_MAX_ATOMS = 41


def verify_spec(data: EpisodeData) -> str:
    """Why a context's stored descriptions are wrong; "" if they are right. Raises SpecError for unreadable truth."""
    places = [[_coordinates(item) for item in frame.get("objects") or ()] for frame in data["frames"]]
    truth, names = Truth.of_spec(data), tuple(frame.get("name") for frame in data["frames"])
    reason = find_contradiction(truth, pictures_of_spec(data, truth), places)
    return reason or next(lines_of([Copy(("options",), truth.options or names, names), *_of_tangrams(data)]), "")


def _of_tangrams(data: EpisodeData) -> Iterator[Copy]:
    """Yield what the frames of tangrams say of their descriptions."""
    for index, told in enumerate(Shown.of_frames(frame.get("truth") for frame in data["frames"])):
        for item in own_annotations().get(told.tangram or "", ()):
            if item.number == told.annotation:
                where, parts = ("frames", index, "truth"), [[part.name, [*part.pieces]] for part in told.parts]
                yield Copy((*where, "whole"), told.whole, item.whole)
                yield Copy((*where, "parts"), parts, [[name, [*pieces]] for name, pieces in item.groups().items()])


def verify_record(episode: EpisodeRecord) -> str:
    """Return the same as `verify_spec`, from the rendered images. Raises SpecError."""
    truth = Truth.of_record(episode)
    # Of solids, where they stand: their heights differ.
    key = "location" if truth.source == "clevr" else "pixel_center"
    places = [[getattr(item, key) for item in image.annotation.objects] for image in episode.images]
    return find_contradiction(truth, pictures_of_record(episode, truth), places)


def _coordinates(item: ObjectData) -> Any:
    """Return the coordinates of an object of a spec; None if it has none."""
    name = str(item.get("place"))
    return ("right" in name, "top" in name) if "place" in item else item.get("location")


def pictures_of_spec(spec: EpisodeData, truth: Truth) -> list[SceneGraph]:
    """Return the scene graphs of a spec's frames.

    Raises SpecError where the objects of a frame are not those of its `truth`.
    """
    told = Shown.of_frames((frame.get("truth") for frame in spec["frames"]), str(spec.get("id", "")))
    graphs = [frame_truth.picture.graph() for frame_truth in told]
    for index, (frame, graph) in enumerate(zip(spec["frames"], graphs, strict=True)):
        objects: Any = frame.get("objects") or ()
        try:
            if truth.source == TANGRAM:
                shown = graph_of_shown_parts(told[index].parts, {item["name"]: item["color"] for item in objects})
            else:
                shown = graph_of([attributes_of(truth.source, item) for item in objects], graph.relations)
            if shown != graph:
                raise ValueError("the objects are not those of truth.picture")
        except (ValueError, KeyError, TypeError) as error:
            raise spec_error(f"its truth can't be read: {error}", path=f"frames[{index}]") from None
    return graphs


def pictures_of_record(episode: EpisodeRecord, truth: Truth) -> list[SceneGraph]:
    """Return the scene graphs of a rendered context's images, from their annotations.

    Attributes are those of the rendered objects. Relations are measured, and left out unless the context varies
    relations. Raises SpecError for other episodes, and where an object is not visible.
    """
    if len(episode.images) != SIZE:
        raise spec_error(f"found {len(episode.images)} images; expected {SIZE}", episode=episode.episode_id)
    graphs = []
    told = Shown.of_frames((frame.truth for frame in episode.scene.frames), episode.episode_id)
    for image, frame in zip(episode.images, told, strict=False):
        items = image.annotation.objects
        try:
            if hidden := [item.name for item in items if not item.visible_pixels]:
                raise ValueError(f"nothing is visible of {hidden}")
            if truth.source == TANGRAM:
                graphs.append(graph_of_shown_parts(frame.parts, {item.name: item.color for item in items}))
            else:
                relations = image.annotation.relations if truth.vary == "relations" else None
                objects = [item.model_dump(mode="json") for item in items]
                graphs.append(graph_of_annotations(truth.source, objects, relations))
        except ValueError as error:
            raise spec_error(str(error), path=f"image {image.name}", episode=episode.episode_id) from None
    return graphs


def find_contradiction(truth: Truth, graphs: Sequence[SceneGraph], places: Sequence[Sequence[Any]] = ()) -> str:
    """Why the stored descriptions and similarity contradict the images; "" if they agree.

    Args:
        places: coordinates of the objects of each image, for contexts that promise the same layout in all images.
    """
    if len(graphs) != SIZE:
        return f"found {len(graphs)} images; expected {SIZE}"
    if (most := max(len(graph.atoms()) for graph in graphs)) > _MAX_ATOMS:
        return f"an image has {most} values and relations; expected at most {_MAX_ATOMS}"
    try:
        similarity = similarity_of(graphs)
        if similarity is None:
            return "one of its images shows everything that another one shows"
        stored = truth.similarity.differences
        if truth.similarity.values != similarity.values:
            return f"images have {similarity.values} values; stored is {truth.similarity.values}"
        if (*stored.values(),) != similarity.differences:
            return f"images differ in {[*similarity.differences]} values; stored is {stored}"
        for k, (graph, said) in enumerate(zip(graphs, truth.descriptions, strict=True)):
            for name in DESCRIPTIONS:
                shortest, expression = similarity.shortest[k] if name == "full_brevity" else None, getattr(said, name)
                if reason := _wrong_description(expression, graph, others_of(graphs, k), shortest):
                    return f"image {k}: {name} {expression.text!r} {reason}"
            if said.single != similarity.single[k]:
                return f"image {k}: single values {[*similarity.single[k]]} identify it; stored is {[*said.single]}"
        telling = telling_layouts(places) if places and truth.layout == SHARED else ()
        if named := [f"image {k} ({name})" for k, name in enumerate(telling) if name]:
            return f"the layout alone identifies {', '.join(named)}"
        if truth.source != TANGRAM and not LEVELS[truth.vary][truth.name].accepts(similarity):
            measured = f"images differ in {[*similarity.differences]} values, single values: {[*similarity.single]}"
            return f"it is not {truth.name}: {measured}"
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return f"its truth can't be read: {error!r}"
    return ""


def _wrong_description(
    stored: Expression, graph: SceneGraph, others: Sequence[SceneGraph], shortest: int | None
) -> str:
    description = stored.says.graph()
    if not is_true_of(description, graph):
        return "is not true of it"
    if any(is_true_of(description, other) for other in others):
        return "is true of another image, too"
    if stored.text != text_of(description):
        return f"is not what it stands for: {text_of(description)!r}"
    count = len(description.atoms())
    if stored.length != count:
        return f"mentions {count} values; stored is {stored.length}"
    return "is not the shortest" if shortest not in (None, count) else ""
