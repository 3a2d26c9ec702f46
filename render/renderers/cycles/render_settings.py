"""Apply the settings of a Scene to Cycles. Every setting that changes a pixel is set; no default is relied on."""

from __future__ import annotations

from typing import Any

from diorama.render.geometry.sampling_plan import Part, has_rectangles, whole_frame
from diorama.render.passes import rendered_rows
from diorama.render.renderers.cycles.exr_passes import CRYPTOMATTE_LEVELS
from diorama.render.renderers.cycles.series import apply_added_settings, apply_image_output
from diorama.scene_specs.errors import RenderError
from diorama.scene_specs.model.scene import LEAST_SIDE, SceneFrame, SceneView, Settings
from diorama.scene_specs.rotation import Vec

# Frame.pixels -> filter and width in pixels. Cycles' first sample is at the pixel center; 0.01 is its smallest width.
_FILTERS = {None: ("BLACKMAN_HARRIS", 1.5), "center": ("BOX", 0.01), "mean": ("BOX", 1.0)}

# Share of a pixel that keeps the edges of a box clear of rounding.
_INSIDE = 0.02


def apply_settings(scene: Any, settings: Settings, frame: SceneFrame, view: SceneView, threads: int, gpu: bool) -> None:
    """Set sampling, size, passes and output of one view.

    Args:
        threads: 0 for all.
        gpu: whether an NVIDIA GPU denoises.
    """
    cycles, render = scene.cycles, scene.render
    cycles.use_animated_seed = False
    cycles.use_sample_subset = False
    cycles.use_layer_samples = "USE"
    cycles.time_limit = 0.0
    cycles.use_adaptive_sampling = settings.adaptive_threshold > 0 and frame.pixels is None
    cycles.adaptive_threshold = settings.adaptive_threshold
    cycles.adaptive_min_samples = settings.adaptive_min_samples
    merging = has_rectangles(settings, frame)
    cycles.use_denoising = settings.denoise and frame.pixels is None and not merging
    cycles.denoiser = "OPENIMAGEDENOISE"
    cycles.denoising_input_passes = "RGB_ALBEDO_NORMAL"
    cycles.denoising_prefilter = settings.prefilter
    cycles.denoising_quality = settings.denoising_quality
    cycles.denoising_use_gpu = gpu
    cycles.sampling_pattern = settings.sampling_pattern
    cycles.scrambling_distance, cycles.auto_scrambling_distance = 1.0, False
    cycles.use_light_tree = settings.light_tree
    cycles.light_sampling_threshold = 0.01
    cycles.direct_light_sampling_type = "MULTIPLE_IMPORTANCE_SAMPLING"
    total, diffuse, glossy, transmission = settings.bounces
    cycles.max_bounces, cycles.diffuse_bounces = total, diffuse
    cycles.glossy_bounces, cycles.transmission_bounces = glossy, transmission
    cycles.volume_bounces, cycles.transparent_max_bounces = 0, 8
    cycles.min_light_bounces, cycles.min_transparent_bounces = settings.min_light_bounces, 0
    cycles.use_fast_gi = False
    cycles.blur_glossy = settings.filter_glossy
    cycles.caustics_reflective = cycles.caustics_refractive = settings.caustics
    cycles.sample_clamp_direct = cycles.sample_clamp_indirect = 0.0
    cycles.pixel_filter_type, cycles.filter_width = _FILTERS[frame.pixels]
    cycles.use_guiding = False
    cycles.film_exposure = 1.0
    cycles.use_auto_tile = False
    cycles.shading_system = False

    render.threads_mode = "FIXED" if threads else "AUTO"
    if threads:
        render.threads = threads
    render.resolution_x, render.resolution_y, render.resolution_percentage = settings.width, settings.height, 100
    if (render.resolution_x, render.resolution_y) != (settings.width, settings.height):
        size = f"{settings.width} x {settings.height}"
        raise RenderError(f"found an image of {size} pixels; Blender renders {LEAST_SIDE} x {LEAST_SIDE} or more")
    render.pixel_aspect_x = render.pixel_aspect_y = 1.0
    render.film_transparent = False
    render.use_motion_blur = False
    render.use_compositing = render.use_sequencer = False
    render.use_simplify = render.use_multiview = render.use_freestyle = False
    apply_added_settings(scene)
    render.image_settings.file_format = "OPEN_EXR_MULTILAYER"
    render.image_settings.color_depth, render.image_settings.exr_codec = "32", "NONE"
    render.use_file_extension = False

    layer = scene.view_layers[0]
    layer.samples = 0
    layer.cycles.use_denoising = True
    wanted = {"use_pass_combined", "use_pass_object_index", *(row.switch for row in rendered_rows(frame).values())}
    for owner in (layer, layer.cycles):
        for switch in owner.bl_rna.properties:
            name = switch.identifier
            # Each one that is set makes Blender list the passes again.
            if name.startswith("use_pass_") and getattr(owner, name) != (name in wanted):
                setattr(owner, name, name in wanted)
    # Transparent surfaces count in the id and depth passes, as glass does: annotations treat them as solid.
    layer.pass_alpha_threshold = 0.0
    # Keep what the denoiser needs, or the image before it, which shows exactly where samples met only the background.
    layer.cycles.denoising_store_passes = merging or (frame.background is not None and cycles.use_denoising)
    layer.pass_cryptomatte_depth = CRYPTOMATTE_LEVELS
    apply_part(scene, whole_frame(settings, frame, view))


def apply_saved_settings(scene: Any, settings: Settings, frame: SceneFrame, view: SceneView, gain: Vec) -> None:
    """Let the scene that is built render to the picture, a PNG file, when somebody opens it in Blender."""
    render, shown, image = scene.render, scene.view_settings, scene.render.image_settings
    if has_rectangles(settings, frame):
        settings = settings.without_rectangles()
        scene.cycles.use_denoising = settings.denoise
    apply_part(scene, whole_frame(settings, frame, view))
    scene.cycles.denoising_use_gpu = False
    render.threads_mode, render.use_persistent_data = "AUTO", False
    scene.display_settings.display_device = "sRGB"
    shown.view_transform, shown.look, shown.exposure, shown.gamma = "Standard", "None", 0.0, 1.0
    shown.use_white_balance, shown.use_curve_mapping = False, tuple(gain) != (1.0, 1.0, 1.0)
    if shown.use_curve_mapping:
        shown.curve_mapping.black_level, shown.curve_mapping.white_level = (0.0, 0.0, 0.0), [1 / one for one in gain]
        shown.curve_mapping.extend = "EXTRAPOLATED"
        shown.curve_mapping.update()
    apply_image_output(scene)
    image.file_format, image.color_mode, image.color_depth = "PNG", "RGB", "8"
    image.color_management, render.use_file_extension, render.dither_intensity = "FOLLOW_SCENE", True, 0.0


def apply_part(scene: Any, part: Part) -> None:
    """Set samples, seed and box of one render of a frame; the box becomes the image."""
    render = scene.render
    scene.cycles.samples, scene.cycles.seed = part.samples, part.seed
    render.use_border = render.use_crop_to_border = part.box is not None
    if part.box is not None:
        width, height = render.resolution_x, render.resolution_y
        # Blender truncates to pixels; rows count from the bottom.
        render.border_min_x, render.border_max_x = (part.box.left + _INSIDE) / width, (part.box.right + _INSIDE) / width
        render.border_min_y = (height - part.box.bottom + _INSIDE) / height
        render.border_max_y = (height - part.box.top + _INSIDE) / height
