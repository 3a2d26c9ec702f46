"""`render-episode`: one episode again, for looking and debugging."""

from __future__ import annotations

import os
from pathlib import Path

import click

from render.cli.common import DioramaCommand, parse_size, shapenet_option, verbose_option


@click.command(cls=DioramaCommand)
@click.argument("store", required=False)
@click.argument("episode_id", required=False, metavar="[ID]")
@click.option(
    "--from", "spec", metavar="SPEC", default=None, help="Render the episode of a spec file instead; no store needed."
)
@click.option("--frame", "frames", multiple=True, metavar="NAME", help="Only this frame; may be given again.")
@click.option("--profile", default=None, metavar="NAME", help="Another profile than the stored one.")
@click.option("--size", default=None, metavar="WxH", callback=parse_size, help="Another size than the stored one.")
@click.option("--out", type=click.Path(path_type=Path), default=None, help="Folder for the files [default: ./<id>].")
@click.option("--device", type=click.Choice(["auto", "cpu", "cuda", "optix"]), default="auto", show_default=True)
@click.option(
    "--blend/--no-blend", default=True, show_default=True, help="Also save each image's scene as a .blend file."
)
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
    type=click.Choice(["cycles", "fake"]),
    default="cycles",
    show_default=True,
    help="fake: flat colours, no Blender.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@verbose_option
def main(
    store: str | None,
    episode_id: str | None,
    spec: str | None,
    frames: tuple[str, ...],
    profile: str | None,
    size: tuple[int, int] | None,
    out: Path | None,
    device: str,
    blend: bool,
    asset_roots: tuple[Path, ...],
    renderer: str,
    as_json: bool,
) -> None:
    """Render episode ID of STORE again, from its stored Scene, into files: pictures, overlays, truth, .blend.

    Says "identical", or how far the pictures differ from what is stored and what changed since: versions, device,
    settings.
    With --from, STORE and ID are left out, or ID chooses one of several episodes of the file.

    \b
    Exit codes: 0 identical, or nothing to compare with; 1 the pictures or their truth differ; 2 wrong options, spec or
    id; 3 the device asked for is not there; 4 the store cannot be read.
    """
    from render.run.again import Again, render_again

    if spec is not None and store is not None and episode_id is None:
        store, episode_id = None, store
    if spec is None and store is None:
        store = os.environ.get("DIORAMA_STORE")
    request = Again(store, episode_id, spec, frames, profile, size, out, device, blend, asset_roots, renderer)
    result = render_again(request)
    if as_json:
        import json

        click.echo(json.dumps(result.as_dict(), indent=1))
    else:
        for line in result.lines():
            click.echo(line)
    raise SystemExit(result.exit_code)
