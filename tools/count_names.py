"""Count how often the product binds each name.

    python -m tools count-names               # names that are bound more than 100 times
    python -m tools count-names --where NAME  # files that bind NAME
    python -m tools count-names --check       # exit code 1 if names that say nothing are bound too often

It counts arguments and the targets of assignments, loops, comprehensions, `with`, `except`, `:=` and `match`, also in
the body of a class. It does not count functions, classes and imports.
"""

from __future__ import annotations

import ast
from argparse import ArgumentParser, Namespace
from collections import Counter
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_COMMON = 100
_EMPTY, _EMPTY_LIMIT = ("found", "made", "one"), 400
# Names that say as little. Those with a limit of their own were common in 0.1, some of them as terms of their subject.
_VAGUE = "each,element,entry,given,got,held,it,kept,obj,out,output,piece,res,result,results,some,stuff,taken,that,thing"
_AS_IN_0_1 = {"item": 540, "k": 440, "number": 270, "other": 140, "part": 190, "value": 320, "x": 220, "y": 210}
_LIMITS = dict.fromkeys(_VAGUE.split(","), _COMMON) | _AS_IN_0_1


def product_files(root: Path = _ROOT) -> list[Path]:
    """List the Python files that are installed; the scripts of assets/build are not."""
    files = [path for name in ("assets", "diorama", "render", "scene_specs") for path in (root / name).rglob("*.py")]
    return sorted(path for path in files if not path.is_relative_to(root / "assets/build"))


def bound_names(source: str) -> Counter[str]:
    """Count how often a module binds each name."""
    counts: Counter[str] = Counter()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
                counts[name] += 1
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                counts[name] += 1
    return counts


def problems(counts: Counter[str]) -> list[str]:
    """Return a line per limit that the counts exceed."""
    limits = [((name,), limit) for name, limit in sorted(_LIMITS.items())] + [(_EMPTY, _EMPTY_LIMIT)]
    sums = [(names, sum(counts[name] for name in names), limit) for names, limit in limits]
    return [f"{', '.join(names)}: bound {n} times; allowed {limit}" for names, n, limit in sums if n > limit]


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--check", action="store_true", help="exit with 1 if names that say nothing are too frequent")
    parser.add_argument("--where", metavar="NAME", help="list the files that bind NAME")


def main(options: Namespace) -> int:
    """Print the counts; return 1 if --check finds a problem."""
    files = {path.relative_to(_ROOT).as_posix(): bound_names(path.read_text("utf-8")) for path in product_files()}
    counts = sum(files.values(), Counter[str]())
    listed = Counter({path: names[options.where] for path, names in files.items()}) if options.where else counts
    for name, count in listed.most_common():
        if count > (0 if options.where else _COMMON) or name in _EMPTY:
            print(f"{count:7,}  {name}")
    exceeded = problems(counts) if options.check else []
    print("".join(f"{line}\n" for line in exceeded), end="")
    return int(bool(exceeded))
