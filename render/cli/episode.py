"""`render-episode`: inspect one episode, or render it again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from diorama.render.cli import options as opt
from diorama.render.cli.command import DioramaCommand
from diorama.render.cli.output import print_result


@click.command(cls=DioramaCommand)
@click.argument("store", required=False)
@click.argument("episode_id", required=False, metavar="[ID]")
@click.option("--from", "spec", metavar="SPEC", help="Render the episode of a spec file, without a store.")
@click.option(
    "--from-export", "export", type=opt.FOLDER,
    help="Take the episode with this ID from a folder that `render-export --format huggingface` wrote; omit STORE.",
)  # fmt: skip
@click.option("--at", metavar="VERSION", help="Version number or tag of the store.  [default: the newest version]")
@opt.repeated("--frame", "frames", "NAME", "Render only this frame; repeatable.  [default: all]")
@opt.group("Changes", opt.repeated("--set", "sets", "PATH=VALUE", "Change a value of the spec; repeatable."))
@opt.repeated(
    "--unset",
    "unsets",
    "PATH",
    "Remove an object, a constraint or a field from the spec; repeatable. A removed field is sampled or gets its "
    "default.",
)
@opt.repeated("--set-scene", "scene_sets", "PATH=VALUE", "Change a value of the Scene, without any checks; repeatable.")
@opt.flag(
    "--recompile",
    "Compile the stored spec again with the installed version of Diorama. Values that the spec does not specify are "
    "sampled again.",
)
@opt.number("--seed", "Recompile with this seed.  [default: that of the stored episode]", 0, 2**63 - 1)
@opt.profile("that of the stored episode")
@opt.number("--samples", "Samples per pixel.  [default: that of the stored episode, or of --profile]", 1, 1_000_000)
@opt.size("that of the stored episode")
@opt.renderer("", "  [default: that of the stored episode, or else cycles]")
@opt.device
@opt.timeout(0.01)
@opt.asset_root
@opt.shapenet
@opt.as_json
@click.option("--out", type=opt.NEW_PATH, metavar="DIR", help="Folder for the files.  [default: ./<id>]")
@click.option("--sheet", type=opt.NEW_FILE, metavar="FILE.png", help="Draw all images with overlays into one file.")
@click.option("--plan", type=opt.NEW_FILE, metavar="FILE.svg", help="Draw a top view with sizes, margins and camera.")
@opt.flag("--compare", "Write the stored image, the new image and their difference side by side.")
@opt.flag(
    "--replace",
    "Replace the stored episode by the re-rendered episode. Older versions of the store keep the stored episode.",
)
@opt.flag("--save-blend", "Also save the scene of each image as a .blend file.")
def main(store: str | None, episode_id: str | None, as_json: bool, **options: Any) -> None:
    """Inspect an episode, or render it again.

    The command renders episode ID of STORE from its stored Scene (the compiled spec, with every number filled in) and
    writes images, overlays and annotations. It prints "identical" if the images equal the stored images. Otherwise, it
    prints the differences between the images, and which versions, devices, settings and assets have changed since the
    episode was stored.

    If you pass only one argument, that argument is the ID, and STORE is $DIORAMA_STORE or ./diorama.lance. With --from,
    omit STORE, and pass ID if the spec file has several episodes.

    With --sheet or --plan alone, the command writes only these drawings. They show the stored images: --sheet renders
    new ones only with --from, a change, --profile, --samples or --size. If you also pass --out, --compare, --replace or
    --save-blend, the command renders as usual.

    --set changes one value of the spec. All other values, including sampled locations, stay as they are. It is an error
    if the change breaks a constraint of the spec. PATH is the location of the value; frames and objects are given by
    position (frames[0].objects[1].color) or by name (frames[context-0].objects[b].location). VALUE is JSON, or else
    text. Quote the argument: 'frames[0].objects[b].location=[0, 1]'.

    Exit codes: 0: identical, replaced, or nothing to compare with; 1: the images or annotations differ; 2: invalid
    options, spec or id; 3: the requested device is not available; 4: the store can't be read.

    Examples:
      render-episode scenes.lance clevr/train/000000 --sheet sheet.png
      render-episode clevr/train/000000 --set 'frames[0].objects[0].color=red'
    """
    from diorama.render.uses.rerender.rerender import EpisodeRequest, render_again

    if store is not None and episode_id is None:
        if options["spec"] is not None or options["export"] is not None:
            store, episode_id = None, store
        # A folder is a STORE whose ID is missing, unless the environment names the store.
        elif os.environ.get("DIORAMA_STORE") or not Path(store).is_dir():
            store, episode_id = opt.default_store(), store
    result = render_again(EpisodeRequest(store, episode_id, **options))
    print_result(as_json, result.as_dict(), "\n".join(result.lines()) + "\n")
    raise SystemExit(result.exit_code)
