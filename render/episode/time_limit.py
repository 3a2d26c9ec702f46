"""Time limits of episodes."""

from __future__ import annotations

# Cycles compiles its kernels before the first image on a new GPU: 10 minutes are reported, more on a slow host.
KERNEL_SECONDS = 1800.0


def timeout_of(timeout: float | None, samples: int, width: int, height: int, images: float) -> float:
    """Return the seconds that an episode may take before its worker counts as hung.

    The default is about thirty times what an idle core needs (two seconds per million samples), plus two minutes: on
    a machine with six processes per core, tighter limits ended workers that were only slow.

    Args:
        timeout: seconds per image, None for the default.
        samples: per pixel.
        width: width of the images in pixels.
        height: height of the images in pixels.
        images: number of images.
    """
    if timeout is not None:
        return timeout * images
    megasamples = samples * width * height / 1e6
    return 120.0 + images * (60.0 + 60.0 * megasamples)
