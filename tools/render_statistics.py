"""Make references of the statistical tests, or measure what they catch.

    python -m tools render-statistics references               # all scenes; 4 CPU minutes
    python -m tools render-statistics references hand model    # after an intended change of these
    python -m tools render-statistics power                    # 6 CPU minutes

`references` writes tests/statistical/references/blender-<series> for the installed Blender; before that, look at what
the tests found. `power` runs the tests with seeds that neither they nor the references use: with each of the changes
that must be noticed, then with unchanged scenes. It prints what docs/quality.md shows. Exit code 1 if an unchanged run
fails or a change is caught in fewer than nine tenths of the runs.
"""

from __future__ import annotations

from tests.statistical.power import add_options, main

__all__ = ["add_options", "main"]
