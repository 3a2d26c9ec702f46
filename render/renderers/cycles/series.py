"""Where the series of Blender differ: 4.5 LTS (Python 3.11) and 5.2 LTS (Python 3.13).

The properties were compared by listing those of both modules (bpy 4.5.15 and 5.2.3). Whatever 5.2 adds that could
change a pixel is set here; the names of its new properties are in docs.blender.org/api/5.2/change_log.html.
"""

from __future__ import annotations

from typing import Any

import bpy

SECOND = bpy.app.version >= (5, 0)

# Layers that 5.0 renamed -> their names in 4.5, which passes and plug-ins use. Found by writing every pass with both
# modules; the names are in Blender's source/blender/render/RE_pipeline.h.
_KINDS = {"Diffuse": "Diff", "Glossy": "Gloss", "Transmission": "Trans", "Volume": "Volume"}
_PARTS = {"Color": "Col", "Direct": "Dir", "Indirect": "Ind"}
LAYERS = {
    "Ambient Occlusion": "AO",
    "Emission": "Emit",
    "Environment": "Env",
    "Material Index": "IndexMA",
    "Object Index": "IndexOB",
    **{f"{kind} {part}": _KINDS[kind] + _PARTS[part] for kind in _KINDS for part in _PARTS},
}
# One change of a setting each: owner (relative to the scene) -> property -> value.
_ADDED: dict[str, dict[str, Any]] = {
    # 5.0: which formats are allowed depends on it, so it comes before the format (ayon-blender#285).
    "render.image_settings": {"media_type": "MULTI_LAYER_IMAGE", "use_exr_interleave": False},
    # 5.2: textures are read in full and filtered as in 4.5, and no .tx file appears beside a model's images.
    "render": {"use_texture_cache": False, "use_auto_generate_texture_cache": False, "save_output": True}
    | {"anisotropic_filter": "FILTER_0"},
    "cycles": {"texture_resolution_render": 1.0, "use_pixel_jitter": False},
    # 5.2: the denoiser's guides show what a mirror shows, and weigh the albedo by roughness:
    # docs/quality.md, "Blender 4.5 and 5.2", has what was tried.
    "view_layers[0].cycles": {
        "denoising_pass_follow_reflections": True,
        "denoising_pass_use_albedo_roughness_weighting": True,
        "pass_render_time": False,
    },
}


def apply_added_settings(scene: Any) -> None:
    """Set what only 5.2 has. Comes before the file format."""
    if SECOND:
        for owner, values in _ADDED.items():
            target = scene.path_resolve(owner)
            for name, value in values.items():
                setattr(target, name, value)


def apply_image_output(scene: Any) -> None:
    """Let plain images be written, which 5.2 allows only then. Comes before the file format."""
    if SECOND:
        scene.render.image_settings.media_type = "IMAGE"


def node_tree(block: Any, used: bool = True) -> Any:
    """Return the node tree of a new material or a world; None if it is not used, which only 4.5 allows.

    4.5 makes the tree at `use_nodes`. Since 5.0, every material and world has one and uses it; the property does
    nothing, warns, and goes with 6.0 (developer.blender.org/docs/release_notes/5.0/python_api).
    """
    if not SECOND:
        block.use_nodes = used
    return block.node_tree if used or SECOND else None
