"""Answer questions about what people see by a geometry of its own.

    python -m tools perspective [--task shelf] [--count 250] [--first 0] [--seed 1] [--split test] [--render 0]

Compares the answers of `render-specs perspective` with those of this judge, which has geometry of its own: it reads the
words of each question, computes the eye and the gaze from the exported pose of the person and from the points `neck`
and `eye` of the asset, compares them with the exported ones, and casts rays from its eye to points on the mesh of an
object, against the triangles of all others; left and right follow from the exported camera matrices, also of a
photograph, whose camera it compares with its eye and gaze, and from a matrix of its own for the eye. It trusts the
exported poses. Then it tampers with every episode: two objects change places, or the person turns around. With
--render, Cycles renders what N people see, and the visible pixels are compared with the stored shares; how many pixels
an object has alone is computed by the rasterizer that computed the shares. Exit code 1: an answer, eye or gaze differs,
tampering is not noticed, an image contradicts a share, or more than a tenth of the free places that were drawn for what
a question is about are near-ties.
"""

from __future__ import annotations

import random
import re
from argparse import ArgumentParser, Namespace
from collections import Counter
from contextlib import closing
from copy import deepcopy
from functools import lru_cache
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

import diorama.assets
from diorama.render.annotations import annotate
from diorama.render.api import compile_spec
from diorama.render.renderers import make_renderer
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs.benchmarks.perspective.generate import TASKS, perspective_spec
from diorama.scene_specs.benchmarks.perspective.items import items
from diorama.scene_specs.model.passes import Renderer
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.model.scene import Scene, SceneCamera, SceneView
from tools.programs import positive

Floats = NDArray[np.float64]
FORMS = {
    "level-1": r"can \w+ see the (?P<a>\w+ \w+)\?",
    "second-view": r"'s photograph, is the (?P<a>\w+ \w+) to the left or to the right of the (?P<b>\w+ \w+)\?",
    "level-2": r"point of view, is the (?P<a>\w+ \w+) to the left or to the right of the (?P<b>\w+ \w+)\?",
    "director": r"I like that (?P<kind>\w+)\..*one of: (?P<a>\w+ \w+), (?P<b>\w+ \w+)\.",
    "shelf": r"I like the (?P<most>smallest|largest) (?P<kind>\w+)\.",
    "facing": r"Which object is \w+ looking at\?",
}
# Tasks whose answers are sides, in the image, too.
SIDES = ("level-2", "second-view")
# Largest share of what is drawn for a question that may be near a tie, and is not asked about.
MOST_TIES = 0.1
# How far the camera of a photograph is ahead of the eyes.
PHOTO_AHEAD = 0.3
WRONG = (
    "different answers",
    "different eyes or gazes",
    "tampered, not noticed",
    "shares that images contradict",
    "tasks with too many near-ties",
)
# Points of a mesh to which rays are cast.
POINTS = 100
# Lens of a square view of 120 degrees for a sensor of 36 mm.
LENS = 10.392305


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the tool."""
    parser.add_argument("--task", choices=TASKS, help="default all")
    parser.add_argument("--count", type=positive, default=250, help="episodes per task")
    parser.add_argument("--first", type=int, default=0, help="number of the first episode")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--split", default="test")
    parser.add_argument("--render", type=positive, default=0, help="views to render with Cycles, default none")


def main(options: Namespace) -> int:
    """Print what was found; return the exit code."""
    found, images, numbers = Counter[str](), [], range(options.first, options.first + options.count)
    tasks = [options.task] if options.task else TASKS
    episodes = list(product(tasks, numbers))
    rendered = {*random.Random(options.seed).sample(episodes, min(options.render, len(episodes)))}
    for task in tasks:
        drawn = Counter[str]()
        for number in tqdm(numbers, desc=task):
            scene = compile_spec(perspective_spec(options.seed, options.split, task, number, drawn), "draft", (64, 48))
            facts = exported(scene)
            found += checked(scene, facts)
            images += [(scene, facts)] if (task, number) in rendered else []
        found += Counter({f"{task}: {name}": count for name, count in drawn.items()})
        found["tasks with too many near-ties"] += drawn["near-ties"] > MOST_TIES * drawn["drawn"]
    if options.render:
        with closing(make_renderer("cycles", "cpu", 2)) as renderer:
            for scene, facts in tqdm(images, desc="views"):
                found += seen_differently(renderer, scene, facts)
    for name in sorted({*found, *WRONG}):
        print(f"{name:34} {found[name]:8,}")
    return int(any(found[name] for name in WRONG))


def checked(scene: Scene, facts: dict[str, Any]) -> Counter[str]:
    """Judge an episode, and the same after tampering; return counts."""
    truth = cast(dict[str, Any], scene.task)
    sides = truth["name"] in SIDES
    stored = truth["answer"], truth["egocentric"][0] if sides else ""
    if (answers := (judged(facts), pictured(facts) if sides else "")) != stored:
        tqdm.write(f"{scene.id}: stored {stored}, judged {answers}")
    return Counter(
        {
            f"{truth['name']}: episodes": 1,
            f"{truth['name']}: right from the camera": truth["egocentric"] == [truth["answer"]],
            "different answers": answers != stored,
            "different eyes or gazes": facts["differs"],
            "tampered": 1,
            "tampered, not noticed": judged(tampered(facts, truth)) == truth["answer"],
        }
    )


def exported(scene: Scene) -> dict[str, Any]:
    """Return what an export has of an episode: the words, the annotation, and the outlines of the Scene.

    The eye and gaze of the person are replaced by the judge's own; `differs` says whether that changes them.
    """
    frame = scene.frames[0]
    renderer = FakeRenderer()
    annotation, *photos = (annotate(scene, frame, view, renderer.render(scene, frame, view)) for view in frame.views)
    image = SimpleNamespace(name=frame.name, frame=frame.name, annotation=annotation)
    (item,) = items(cast(EpisodeRecord, SimpleNamespace(scene=scene, images=[image], episode_id=scene.id)))
    outlines = {one.name: one.outline.model_dump() for one in frame.objects if one.outline is not None}
    facts = {"text": item.parts[-1].text, "outlines": outlines, **annotation.model_dump(mode="json")}
    (person,) = facts["observers"]
    eye, gaze = own_eye(next(one for one in facts["objects"] if one["name"] == person["name"]))
    differs = not np.allclose([eye, gaze], [person["eye"], person["gaze"]], atol=1e-3)
    person |= {"eye": eye.tolist(), "gaze": gaze.tolist()}
    for photo in photos:
        facts["photo"] = photo.camera.model_dump(mode="json")
        differs |= not np.allclose(photo.camera.location, eye + PHOTO_AHEAD * gaze, atol=0.02)
        differs |= not np.allclose(photo.camera.extrinsics[2][:3], gaze, atol=0.02)
    return {**facts, "differs": differs}


def own_eye(person: dict[str, Any]) -> tuple[Floats, Floats]:
    """Return the point between the eyes of a person, and the unit vector of the gaze, both in the world, (3,)."""
    turn, nod = (float(angle) for angle in person["shape"].removeprefix("person:").split("/"))
    with np.load(Path(diorama.assets.__path__[0]) / "meshes" / "person.npz") as mesh:
        neck, eyes = mesh["anchor_neck"], (mesh["anchor_eye_left"] + mesh["anchor_eye_right"]) / 2
    # See docs/shapes.md: the head turns and nods by at most this; without a pose, the face is towards -Y.
    _, y, z = eyes - neck
    around, up = np.clip(turn, -65, 65), np.clip(nod, -45, 45)
    eye = neck - y * headed(around, up) + z * headed(around, up + 90)
    here, ahead = world(np.array([eye, eye + headed(turn, nod)]), person)
    return here, (ahead - here) / person["scale"]


def headed(turn: float, nod: float) -> Floats:
    """Return the unit vector of a direction, of angles in degrees: to the left of -Y, and up."""
    around, up = np.radians([turn, nod])
    return np.array([np.sin(around) * np.cos(up), -np.cos(around) * np.cos(up), np.sin(up)])


def world(points: Floats, item: dict[str, Any]) -> Floats:
    """Return points of a mesh, (N, 3), in the world, by the exported pose of an object."""
    w, *axis = item["rotation"]
    turned = points + 2 * np.cross(axis, np.cross(axis, points) + w * points)
    return cast(Floats, turned * item["scale"] + item["location"])


def judged(facts: dict[str, Any]) -> str:
    """Return the answer to a question, from its words; "" if none or several are right."""
    task, words = next((name, found) for name, form in FORMS.items() if (found := re.search(form, facts["text"])))
    (person,) = facts["observers"]
    objects = {one["name"]: one for one in facts["objects"]}
    eye, target = np.array(person["eye"]), np.array(objects[person["looks_at"]]["location"])
    if task == "second-view":
        return pictured(facts, "photo")
    if task == "level-1":
        return "yes" if share_seen(facts, words["a"]) > 0.5 else "no"
    if task == "level-2":
        if words["b"] != person["looks_at"]:
            return ""
        return "left" if (matrix(eye, target) @ (np.array(objects[words["a"]]["location"]) - eye))[0] < 0 else "right"
    if task == "director":
        fits = [words[k] for k in "ab" if words[k].endswith(words["kind"]) and share_seen(facts, words[k]) > 0.5]
        return fits[0] if len(fits) == 1 else ""
    if task == "shelf":
        sizes = {one["name"]: float(one["scale"]) for one in objects.values() if one["shape"] == words["kind"]}
        seen = sorted((name for name in sizes if share_seen(facts, name) > 0.5), key=lambda name: sizes[name])
        return "" if not seen else seen[0] if words["most"] == "smallest" else seen[-1]
    names = [str(name) for name in objects if len(name.split()) == 2]
    away = {name: np.array(objects[name]["location"]) - eye for name in names}
    return max(names, key=lambda name: float(away[name] @ person["gaze"] / np.linalg.norm(away[name])))


def pictured(facts: dict[str, Any], by: str = "camera") -> str:
    """Return on which side of the other object the first one is in an image; "" if it does not show both."""
    words = next(found for form in FORMS.values() if (found := re.search(form, facts["text"])))
    camera, objects = facts[by], {one["name"]: one["location"] for one in facts["objects"]}
    inside, outside = np.array(camera["intrinsics"]), np.array(camera["extrinsics"])
    x, y, z = inside @ (outside @ np.array([[*objects[words[k]], 1.0] for k in "ab"]).T)[:3]
    # The middle of the image is at half its size.
    across, down = x / z / inside[0, 2] / 2, y / z / inside[1, 2] / 2
    if not np.all((across > 0) & (across < 1) & (down > 0) & (down < 1) & (z > 0)):
        return ""
    return "left" if across[0] < across[1] else "right"


def matrix(eye: Floats, target: Floats) -> Floats:
    """Return the rows right, up and forward of a view from an eye to a point, (3, 3)."""
    forward = (target - eye) / np.linalg.norm(target - eye)
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    return np.array([right, np.cross(right, forward), forward])


def triangles(item: dict[str, Any], outlines: dict[str, Any]) -> Floats:
    """Return the corners of the triangles of an object in the world, (T, 3, 3), from a file of assets or an outline."""
    if item["name"] in outlines:
        corners, half = np.array(outlines[item["name"]]["polygon"]), outlines[item["name"]]["height"] / 2
        count = len(corners)
        points = np.concatenate([np.c_[corners, np.full(count, z)] for z in (-half, half)])
        around = [(k, (k + 1) % count) for k in range(count)]
        # What comes in at the top goes out at a side.
        faces = np.array([face for a, b in around for face in ((a, b, count + b), (a, count + b, count + a))])
    else:
        points, faces = mesh_of(item["shape"])
    return cast(Floats, world(points, item)[faces])


@lru_cache
def mesh_of(shape: str) -> tuple[Floats, NDArray[np.int32]]:
    """Return the points, (N, 3), and triangles, (T, 3), of a shape of Diorama."""
    with np.load(Path(diorama.assets.__path__[0]) / "shapes" / f"{shape}.npz") as mesh:
        return mesh["vertices"].astype(float), mesh["triangles"]


def facing(eye: Floats, corners: Floats) -> Floats:
    """Return those of some triangles (T, 3, 3) whose outside is towards an eye."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return np.asarray(corners[((corners[:, 0] - eye) * normals).sum(axis=1) < 0])


def share_seen(facts: dict[str, Any], name: str) -> float:
    """Return the share of the points on the side of an object towards an eye that the eye sees; 0 behind the person."""
    (person,) = facts["observers"]
    eye, gaze = np.array(person["eye"]), np.array(person["gaze"])
    others = [one for one in facts["objects"] if one["name"] != person["name"]]
    # Solids hide by the sides that are towards the eye.
    solids = {one["name"]: facing(eye, triangles(one, facts["outlines"])) for one in others}
    middles = solids.pop(name).mean(axis=1)
    away = middles[:: max(len(middles) // POINTS, 1)] - eye
    ahead = away @ gaze / np.linalg.norm(away, axis=1) > -0.17
    return float(np.mean(ahead & ~meet(eye, away, np.concatenate([*solids.values()]))))


def meet(eye: Floats, rays: Floats, others: Floats) -> NDArray[np.bool_]:
    """Return which rays (R, 3) meet one of the triangles (T, 3, 3) before their ends, by signed volumes."""
    a, b, c = (others[:, k] - eye for k in range(3))
    volumes = [np.cross(one, two) @ rays.T for one, two in ((a, b), (b, c), (c, a))]
    inside = np.all([one > 0 for one in volumes], axis=0) | np.all([one < 0 for one in volumes], axis=0)
    normal = np.cross(b - a, c - a)
    with np.errstate(divide="ignore", invalid="ignore"):
        part = (normal * a).sum(axis=1)[:, None] / (normal @ rays.T)
    return np.asarray((inside & (part > 1e-6) & (part < 1)).any(axis=0))


def tampered(facts: dict[str, Any], truth: dict[str, Any]) -> dict[str, Any]:
    """Return facts for which the stored answer is wrong: objects change places, or the person turns around."""
    facts = deepcopy(facts)
    objects, (person,) = {one["name"]: one for one in facts["objects"]}, facts["observers"]
    if truth["answer"] == "yes":
        person["gaze"] = [-part for part in person["gaze"]]
        return facts
    if truth["name"] == "second-view":
        pair = truth["asked"]
    elif truth["name"] in ("level-1", "level-2"):
        # What is looked at is seen. And from the eye, the object is then on the other side of it.
        pair = [truth["asked"][0], person["looks_at"]]
    elif truth["name"] == "shelf":
        # What is in the closed cell comes out, and the answer, or what is more so, is seen no longer or again.
        pair = [truth["answer"], min(truth["asked"], key=lambda name: float(person["visible"][name]))]
    else:
        pair = [truth["answer"], next(option for option in truth["options"] if option != truth["answer"])]
    one, two = (objects[name] for name in pair)
    one["location"], two["location"] = two["location"], one["location"]
    return facts


def seen_differently(renderer: Renderer, scene: Scene, facts: dict[str, Any]) -> Counter[str]:
    """Render what a person sees; count objects in view, and those whose share of pixels contradicts the stored one."""
    (person,) = facts["observers"]
    eye = np.array(person["eye"])
    camera = SceneCamera(
        location=tuple(eye), look_at=tuple(eye + person["gaze"]), lens=LENS, sensor_width=36.0, clip=(0.01, 100.0)
    )
    frame, view = scene.frames[0], SceneView(camera=camera)
    frame = frame.model_copy(update={"objects": frame.objects[:-1], "observers": (), "views": (view,)})
    scene = compile_spec(scene.model_copy(update={"frames": (frame,)}).to_json(), "draft", (128, 96))
    frame, view = scene.frames[0], scene.frames[0].views[0]
    annotation = annotate(scene, frame, view, renderer.render(scene, frame, view))
    found = Counter({"views from eyes, by Cycles": 1})
    for one in annotation.objects:
        # The image is wider than high, and small parts have few pixels.
        if one.alone_pixels >= 30 and not one.truncated:
            found["shares in these views"] += 1
            found["shares that images contradict"] += abs(one.visible_fraction - person["visible"][one.name]) > 0.15
    return found
