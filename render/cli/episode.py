"""`render-episode`: one episode again, for looking and debugging."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from render.cli.common import DioramaCommand, parse_size, shapenet_option, verbose_option

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command(cls=DioramaCommand)
@click.argument("store", required=False)
@click.argument("episode_id", required=False, metavar="[ID]")
@click.option(
    "--from", "spec", metavar="SPEC", default=None, help="Render the episode of a spec file instead; no store needed."
)
@click.option("--at", metavar="VERSION", help="As the store had it: a version's number or tag.")
@click.option("--sheet", type=_FILE, metavar="FILE.png", help="The whole episode with overlays, in one picture.")
@click.option("--plan", type=_FILE, metavar="FILE.svg", help="Top view: places, sizes, turns, margins, camera.")
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="PATH=VALUE",
    help="Change the spec, such as frames[0].objects[1].color=blue; all else stays where it is.",
)
@click.option("--unset", "unsets", multiple=True, metavar="PATH", help="Take a place of the spec out.")
@click.option(
    "--set-scene", "scene_sets", multiple=True, metavar="PATH=VALUE", help="Change the compiled Scene, unchecked."
)
@click.option("--recompile", is_flag=True, help="From the stored spec: what it leaves open is decided anew.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="As --recompile, with another seed.")
@click.option("--frame", "frames", multiple=True, metavar="NAME", help="Only this frame; may be given again.")
@click.option("--profile", default=None, metavar="NAME", help="Another profile than the stored one.")
@click.option("--samples", type=click.IntRange(1, 1_000_000), help="Another number of samples a pixel.")
@click.option("--size", default=None, metavar="WxH", callback=parse_size, help="Another size than the stored one.")
@click.option("--out", type=click.Path(path_type=Path), default=None, help="Folder for the files [default: ./<id>].")
@click.option("--compare", is_flag=True, help="Beside each other: stored, new, difference; also where both are edited.")
@click.option("--replace", is_flag=True, help="Commit the new making; the old one stays in the store's history.")
@click.option("--save-blend", is_flag=True, help="Also save each image's scene as a .blend file.")
@click.option("--device", type=click.Choice(["auto", "cpu", "cuda", "optix"]), default="auto", show_default=True)
@click.option(
    "--asset-root",
    "asset_roots",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of .blend materials; may be given again.",
)
@shapenet_option
@click.option(
    "--renderer",
    default="cycles",
    show_default=True,
    help="cycles, fake (flat colors, no Blender), or package.module:Class.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@verbose_option
def main(store: str | None, episode_id: str | None, as_json: bool, **options: Any) -> None:
    """Look at episode ID of STORE, or render it again from its stored Scene: pictures, overlays, truth.

    Says "identical", or how far the pictures differ from what is stored and what changed since: versions, device,
    settings, assets. With --from, STORE and ID are left out, or ID chooses one of several episodes of the file. STORE
    is $DIORAMA_STORE where only ID is given.

    --sheet and --plan by themselves show what is stored, without rendering. --set changes one thing and keeps
    everything else where the compiler put it; a change that breaks a stated relation is refused. Paths may use names:
    frames[context-0].objects[b].location=[1,2].

    \b
    Exit codes: 0 identical, replaced, or nothing to compare with; 1 the pictures or their truth differ; 2 wrong
    options, spec or id; 3 the device asked for is not there; 4 the store cannot be read.
    """
    from render.episode.rerender import EpisodeRequest, render_again

    if options["spec"] is not None and store is not None and episode_id is None:
        store, episode_id = None, store
    if options["spec"] is None and episode_id is None and os.environ.get("DIORAMA_STORE"):
        store, episode_id = os.environ["DIORAMA_STORE"], store
    result = render_again(EpisodeRequest(store, episode_id, **options))
    if as_json:
        import json

        click.echo(json.dumps(result.as_dict(), indent=1))
    else:
        for line in result.lines():
            click.echo(line)
    raise SystemExit(result.exit_code)
