"""Print how much of each package the last `make coverage` ran.

    .venv-readers/bin/python -m tools coverage-table

Percentages are of statements that ran in any process. What a killed process ran is not counted.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections import Counter
from pathlib import Path

from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.files.tables import text_table
from tools.programs import ROOT

# `render/store/lance` and deeper folders belong to the row `render/store`.
_DEPTH = 2


def main(options: Namespace) -> int:
    """Print the table."""
    from coverage import Coverage

    measured = Coverage()
    measured.load()
    statements, missed = Counter[str](), Counter[str]()
    for file in map(Path, measured.get_data().measured_files()):
        if file.is_relative_to(ROOT):
            package = "/".join(file.relative_to(ROOT).parent.parts[:_DEPTH])
            _, lines, _, missing, _ = measured.analysis2(str(file))
            statements[package] += len(lines)
            missed[package] += len(missing)
    if not statements:
        raise UsageError("no coverage was measured here; run `make coverage`")
    rows = [(name, statements[name], missed[name]) for name in sorted(+statements)]
    rows += [("total", statements.total(), missed.total())]
    cells = [(name, f"{all_:,}", f"{lost:,}", f"{100 - 100 * lost / all_:.1f} %") for name, all_, lost in rows]
    sys.stdout.write("\n".join(text_table(("package", "statements", "missed", "covered"), cells)) + "\n")
    return 0
