"""What decides whether a stored episode is the requested one, found without compiling it, and what of two images."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib import util
from pathlib import Path
from typing import Any

from diorama.render.compiler.assets import scene_assets
from diorama.render.compiler.attributes import OBSERVER_MATERIAL
from diorama.render.compiler.pointer import MESHES
from diorama.render.machine.blender_series import key_suffix
from diorama.scene_specs.asset_roots import in_asset_roots
from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.language.invented import parse_invented
from diorama.scene_specs.language.model_names import is_model
from diorama.scene_specs.language.outlines import FLAT_SHAPES
from diorama.scene_specs.language.registry import Plugin, find_plugin, plugin, plugins, singular
from diorama.scene_specs.model.look import PLAIN, load_look, look_digest
from diorama.scene_specs.model.profiles import Episode
from diorama.scene_specs.model.record import RenderKey
from diorama.scene_specs.model.scene import Scene, SceneFrame, SceneView, Settings
from diorama.scene_specs.model.spec import EpisodeSpec, MaterialSpec, OutlineSpec
from diorama.scene_specs.model.stage import Stage, drawn_shapes, stage_of

# Part of every job hash. Raise it only when the same spec gives other images or other annotations: then every stored
# episode counts as outdated. The package's own version is in the provenance.
IDENTITY_VERSION = "0.2.0"
# Kinds of plug-ins that are part of what an image shows.
_NOUNS = ("families", "grounds", "looks", "materials", "patterns", "shapes", "stages")
_CONTENTS = {singular(noun): noun for noun in _NOUNS}
_CODE_SUFFIXES = (".py", ".so", ".pyd")


@in_asset_roots
def render_key_of(episode: Episode, settings: Settings, renderer: str, asset_roots: Sequence[Path] = ()) -> RenderKey:
    """Return the identity of an episode.

    Args:
        renderer: name, or `package.module:Class`.

    Raises:
        AssetError: an asset is missing.
        StageError: the stage does not exist.
        PluginError: a plug-in does not exist.
        UsageError: the code of a plug-in can't be read.
    """
    if isinstance(episode, Scene):
        assets = episode.assets
        materials = {item.material.name for frame in episode.frames for item in frame.objects}
        look = episode.look.name if episode.look is not None else PLAIN
        episode = episode.model_copy(update={"settings": settings})
    else:
        stage = stage_of(episode)
        made_of = list(map(MaterialSpec.of, _materials_of(episode, stage)))
        blends = [material.blend for material in made_of if material.blend]
        assets = scene_assets(episode.stage, stage, _meshes_of(episode, stage), blends, asset_roots)
        materials = {material.name or "" for material in made_of}
        look = episode.chosen_look().name
        if look == PLAIN:
            episode = episode.model_copy(update={"look": None})
        else:
            assets = {**assets, f"look:{look}": look_digest(look)}
    passes = [name for frame in episode.frames for name in frame.passes]
    return RenderKey(
        spec=episode.model_dump(mode="json", exclude_none=True),
        settings=settings.model_dump(mode="json"),
        assets={**assets, **plugin_assets([*assets, *recipes_of(look)], materials, renderer, passes)},
        version=IDENTITY_VERSION + key_suffix(renderer),
        renderer=renderer,
    )


def recipes_of(look: str) -> set[str]:
    """Return `ground:NAME` and `pattern:NAME` of all recipes of a look. Raises LookError."""
    if look == PLAIN:
        return set()
    file = load_look(look)
    variants = [file.variant(number) for number in range(max(len(file.variants), 1))]
    grounds = {f"ground:{variant.ground.name}" for variant in variants if variant.ground is not None}
    return grounds | {f"pattern:{pattern.name}" for variant in variants for pattern in variant.patterns}


def _materials_of(spec: EpisodeSpec, stage: Stage) -> Iterator[str | MaterialSpec]:
    """Yield every material that the spec may use."""
    for frame in spec.frames:
        for item in frame.objects:
            yield from (item.material,) if item.material else stage.defaults.materials
        if frame.pointer is not None and frame.pointer.material:
            yield frame.pointer.material
        elif frame.pointer is not None and stage.pointer is not None:
            yield stage.pointer.material
        if frame.observers:
            yield OBSERVER_MATERIAL
        if frame.random_objects is not None:
            yield from frame.random_objects.materials or stage.defaults.materials


def _meshes_of(spec: EpisodeSpec, stage: Stage) -> set[str]:
    """Return every mesh and model that the spec may use; a shape left open counts as all that it may become."""
    names: set[str] = set()
    for frame in spec.frames:
        for item in frame.objects:
            if not isinstance(item.plain_shape, OutlineSpec):
                names.update((item.plain_shape,) if item.plain_shape else stage.defaults.shapes)
        if frame.pointer is not None:
            names.add(MESHES[frame.pointer.kind])
        if frame.observers:
            names.add("person")
        drawn = frame.random_objects
        if drawn is not None:
            names.update(drawn_shapes(drawn, stage))
    return names - FLAT_SHAPES.keys()


def plugin_assets(
    assets: Iterable[str], materials: Iterable[str], renderer: str, passes: Iterable[str]
) -> dict[str, str]:
    """Return the identity of each plug-in that an episode may use; nothing for what Diorama itself provides.

    The code is found without importing it.

    Args:
        assets: names as in Scene.assets, and those of `recipes_of`.
        renderer: name, or `package.module:Class`.

    Returns:
        `plugin:stage:NAME`, and the same for `family`, `look`, `ground`, `pattern`, `shape`, `material`, `renderer` and
        `pass` -> `<distribution> <version> <SHA-256>`, or the SHA-256 alone for code outside a distribution.

    Raises:
        UsageError: code is missing.
        PluginError: a plug-in does not exist.
    """
    names = {name.replace("mesh:", "shape:", 1) for name in assets} | {f"material:{name}" for name in materials}
    names |= {f"family:{shape.family}" for name in names if (shape := parse_invented(name.removeprefix("shape:")))}
    used: dict[str, Plugin] = {}
    for name in sorted(names):
        noun, _, word = name.partition(":")
        if noun in _CONTENTS and word in (registered := plugins(_CONTENTS[noun])):
            used[name] = registered[word]
    used[f"renderer:{renderer}"] = find_plugin("renderers", renderer)
    used |= {f"pass:{name}": plugin("passes", name) for name in sorted({*passes})}
    # Our own code counts through IDENTITY_VERSION.
    return {
        f"plugin:{name}": _identity(used_plugin.module, f"{used_plugin.owner} {used_plugin.version}".strip())
        for name, used_plugin in used.items()
        if not used_plugin.own
    }


@lru_cache(maxsize=256)
def _identity(module: str, owner: str) -> str:
    try:
        digest = hashlib.sha256()
        for name, path in _code_files(module, bool(owner)):
            digest.update(os.fsencode(name) + b"\0" + _file_digest(path))
    except OSError as error:
        raise UsageError(f"plug-in {module}: its files can't be read: {error}") from error
    return f"{owner} {digest.hexdigest()}".lstrip()


def _code_files(module: str, installed: bool) -> list[tuple[str, Path]]:
    """List (name, path) of a plug-in's files: its top-level package, or the folder of a module that is not installed.

    An editable install lists no files of its own in its metadata, so the files are found where Python would import
    them. Only the top-level package is looked up, because looking up a module inside it would run the package.
    """
    top, *inner = module.split(".")
    try:
        spec = util.find_spec(top)
    except ModuleNotFoundError as error:  # a name that Diorama's own packages had
        raise UsageError(f"plug-in {module}: {error}") from error
    if spec is None:
        raise UsageError(f"plug-in {module}: there is no module {top!r} here; install it, or correct its name")
    if spec.submodule_search_locations is None:
        return [(top, Path(spec.origin or top))]
    folders = [Path(location, *([] if installed else inner[:-1])) for location in spec.submodule_search_locations]
    return [(path.relative_to(folder).as_posix(), path) for folder in folders for path in sorted(_source_paths(folder))]


def _source_paths(folder: Path) -> Iterator[Path]:
    """Yield the files and links below a folder that Python did not make. Raises OSError."""
    for parent, folders, files in sorted(os.walk(folder, onerror=_raise)):
        for path in (Path(parent, name) for name in (*folders, *files)):
            compiled = path.suffix == ".pyc" or "__pycache__" in path.relative_to(folder).parts
            if not compiled and (path.is_file() or path.is_symlink()):
                yield path


def _raise(error: OSError) -> None:
    raise error


def _file_digest(path: Path) -> bytes:
    """SHA-256 of a file. A link counts by its target's name, unless Python would import it; it may lead anywhere."""
    if path.is_symlink() and path.suffix not in _CODE_SUFFIXES:
        return hashlib.sha256(os.fsencode(path.readlink())).digest()
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()


_METADATA = {"name", "utterance", "truth", "pointer", "observers", "fixation"}


def _frame_data(frame: SceneFrame, leave_out: set[str]) -> dict[str, Any]:
    shown = frame.model_dump(mode="json", exclude=_METADATA | leave_out)
    if frame.pixels is None:
        del shown["pixels"]
    for item in shown["objects"]:
        del item["name"]
        if item["outline"] is None:
            del item["outline"]
    for view in shown.get("views", ()):
        del view["name"]
        view["camera"].pop("right", None)
    return shown


def _json_bytes(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


# On stages with `"sampling": "content"`, two frames with the same content (without names and metadata) have the same
# seed, so an image of one is identical to that of the other, bit for bit, whether it was rendered again or cached.
def content_seed(frame: SceneFrame) -> int:
    """Return a seed for Cycles of 31 bits from the content; background and fixation cross are composited afterwards."""
    shown = _frame_data(frame, {"seed", "passes", "background"})
    for item in shown["objects"]:
        item["material"].pop("takes_color", None)
    return int.from_bytes(hashlib.sha256(_json_bytes(shown)).digest()[:4], "little") >> 1


def picture_key(scene: Scene, frame: SceneFrame, view: SceneView) -> str:
    """Return the hexadecimal SHA-256 of all that decides the passes of an image: content, settings, stage, assets.

    Leaves out models that only other frames of the Scene show, so that equal frames of two episodes have equal keys.
    """
    here = {item.shape for item in frame.objects}
    parts = {
        "frame": _frame_data(frame, {"views"}),
        "camera": view.camera.model_dump(mode="json", exclude={"right"}),
        **({} if view.glass is None else {"glass": view.glass}),
        "settings": scene.settings.model_dump(mode="json"),
        "stage": scene.stage,
        **({} if scene.look is None else {"look": scene.look.model_dump(mode="json")}),
        "assets": {name: digest for name, digest in scene.assets.items() if not is_model(name) or name in here},
    }
    return hashlib.sha256(_json_bytes(parts)).hexdigest()
