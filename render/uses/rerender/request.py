"""The options of `render-episode`, and which of them go together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from diorama.scene_specs.errors import UsageError


@dataclass(frozen=True)
class EpisodeRequest:
    """A request for an episode of a store, a spec file or an exported folder.

    Attributes:
        store: path or URL of the store, None for `spec` and `export`.
        episode_id: None for the only episode of `spec`.
        spec: a spec file.
        export: an exported folder.
        at: version number or tag of the store.
        frames: names of the frames to render, () for all.
        profile: None for that of the stored episode.
        size: (width, height) in pixels, None for that of the stored episode.
        samples: per pixel, None for those of the profile.
        seed: seed to recompile with.
        sets: edits of the spec, `PATH=VALUE`.
        unsets: paths to remove from the spec.
        scene_sets: edits of the Scene, `PATH=VALUE`.
        recompile: compile the stored spec again.
        out: folder for the files, None for ./<id>.
        sheet: .png file for a drawing of all images.
        plan: .svg file for a top view.
        device: device, as in `--device`.
        save_blend: also save .blend files.
        compare: write strips that show stored and new images.
        replace: commit the new record.
        asset_roots: folders of .blend materials and meshes.
        renderer: "" for that of the stored episode, or else cycles.
        timeout: seconds per image.
    """

    store: str | None
    episode_id: str | None
    spec: str | None = None
    export: Path | None = None
    at: str | None = None
    frames: tuple[str, ...] = ()
    profile: str | None = None
    size: tuple[int, int] | None = None
    samples: int | None = None
    seed: int | None = None
    sets: tuple[str, ...] = ()
    unsets: tuple[str, ...] = ()
    scene_sets: tuple[str, ...] = ()
    recompile: bool = False
    out: Path | None = None
    sheet: Path | None = None
    plan: Path | None = None
    device: str = "auto"
    save_blend: bool = False
    compare: bool = False
    replace: bool = False
    asset_roots: tuple[Path, ...] = ()
    renderer: str = ""
    timeout: float | None = None

    @property
    def edits(self) -> bool:
        """Whether an option edits the episode."""
        return bool(self.sets or self.unsets or self.scene_sets or self.seed is not None or self.recompile)


def check_options(request: EpisodeRequest) -> None:
    """Check the options against each other.

    Raises:
        UsageError: options exclude each other or need others.
    """
    if request.replace and request.frames:
        raise UsageError("--replace commits complete episodes; leave --frame out")
    if request.replace and request.samples is not None:
        raise UsageError(
            "--replace with --samples: the stored profile must describe how the images were sampled; "
            "give --profile instead"
        )
    if request.replace and request.at is not None:
        raise UsageError(
            "--replace with --at: to restore an old version, run "
            "`render-store copy STORE STORE --at VERSION --id ID --differing replace`"
        )
    if request.store is not None and request.spec is not None:
        raise UsageError(
            f"{request.store} beside --from: an episode comes from a store or from a spec file; "
            "give STORE ID, or --from SPEC, with ID where the file has several episodes"
        )
    if request.export is not None:
        others = {
            "STORE": request.store,
            "--from": request.spec,
            "--at": request.at,
            "--replace": request.replace or None,
        }
        if named := [name for name, value in others.items() if value is not None]:
            raise UsageError(f"{named[0]} beside --from-export: the episode comes from the exported folder alone")
    for option, value in (("--compare", request.compare), ("--replace", request.replace), ("--at", request.at)):
        if value and request.spec is not None:
            raise UsageError(f"{option} needs an episode of a store; give STORE and ID instead of --from")
    if request.scene_sets and (request.sets or request.unsets or request.seed is not None or request.recompile):
        raise UsageError("--set-scene edits the compiled Scene, the other options edit the spec; give one kind")
    for option, path, suffix in (("--sheet", request.sheet, ".png"), ("--plan", request.plan, ".svg")):
        if path is not None and path.suffix.lower() != suffix:
            raise UsageError(f"{option} {path}: writes {suffix[1:].upper()}; name a {suffix} file")
    if request.save_blend and request.renderer not in ("", "cycles"):
        raise UsageError("--save-blend needs Blender; leave --renderer out")
