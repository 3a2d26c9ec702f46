"""Find the circles of exactly 4 r^2 pixels in `scene_specs/benchmarks/malevic/shapes.py`.

    python tools/malevic_circles.py

Among centers on a grid of 1/32 of a pixel, for each size class the one from which pixel 4 r^2 + 1 is farthest beyond
pixel 4 r^2; the radius lies half-way between. Prints class, x and y of the center within its pixel, radius, and how far
the nearest pixel's center is from the edge.
"""

from __future__ import annotations

import math

import click
import numpy as np

GRID = 32


def best_circle(radius: int) -> tuple[float, float, float, float]:
    """x, y, radius and clearance (half the gap), in pixels, of the best circle of 4 radius^2 pixels."""
    pixels = 4 * radius * radius
    reach = math.ceil(math.sqrt(pixels / math.pi)) + 3
    centers = np.arange(-reach, reach + 1) + 0.5
    found = (0.0, 0.0, 0.0, 0.0)
    # Mirrored and turned round, every center of a pixel is one of these.
    for i in range(GRID // 2 + 1):
        for j in range(i + 1):
            x, y = i / GRID, j / GRID
            squares = ((centers - x)[:, None] ** 2 + (centers - y)[None, :] ** 2).ravel()
            last, first = (math.sqrt(v) for v in np.partition(squares, (pixels - 1, pixels))[pixels - 1 : pixels + 1])
            if (first - last) / 2 > found[3]:
                found = (x, y, (first + last) / 2, (first - last) / 2)
    return found


@click.command()
def main() -> None:
    """Print the table."""
    for radius in range(30, 121, 10):
        x, y, reach, clear = best_circle(radius)
        click.echo(f"{radius}: ({x:g}, {y:g}, {reach:.6f})  clear by {clear:.4f}")


if __name__ == "__main__":
    main()
