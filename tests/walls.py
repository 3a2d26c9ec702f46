"""Reads source text for what the design forbids, each ban with its reason; `test_walls.py` has it read the packages."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

import networkx

# Module -> the folders that may import it, and why the others may not.
IMPORT_WALLS = {
    "bpy": (
        ("render/renderers/cycles/", "render/ingest/", "assets/build/"),
        "everything else must run where Blender is not installed",
    ),
    "mathutils": (("render/renderers/cycles/", "assets/build/"), "it comes with bpy; pure code uses numpy"),
    "ray": (("render/run/",), "only scheduling knows Ray; the rest must run without it"),
    "mujoco": (
        ("render/uses/rerender/settle.py",),
        "a simulation is not exact on every machine; specs have its results",
    ),
    "click": (("render/cli/",), "the library is no command line: errors are raised, options are arguments"),
}
# Imports inside functions: (file or folder, prefix of the module) -> the reason. All others stand at the top of a file.
LAZY_IMPORTS = {
    ("render/cli/", ""): "`--help` answers within half a second, so commands import nothing heavy before they run",
    ("render/uses/live/stream.py", "diorama.render.uses.live.torch_items"): "needs PyTorch, which most users lack",
    ("render/api.py", "diorama.render.uses.live"): "only live items need Ray, which takes a second to import",
    ("render/api.py", "diorama.render.run"): "only filling a store needs Ray, which takes a second to import",
    ("render/renderers/cycles/__init__.py", ""): "checks of specs import materials from here; bpy takes a second",
    ("render/run/probe.py", ""): "times the import of bpy and reports what goes wrong in it",
    ("render/run/doctor.py", ""): "each check reports its own missing or broken library instead of ending the command",
    ("render/run/status.py", "tqdm"): "`--status` only reads a file",
    ("render/ingest/__main__.py", ""): "says in one line that Blender is missing, where it is",
    ("render/uses/export/__init__.py", ""): "lists of plug-ins import this package, and no format",
    ("render/store/lance/", "lance"): "must not be imported before a process forks or spawns others",
    ("render/store/lance/location.py", "obstore"): "an extra that only stores on S3 need",
    ("render/uses/chat/__init__.py", "diorama.render.uses.chat"): "each kind of model needs a library of its own",
    ("scene_specs/benchmarks/icca/score.py", "tokenizers"): "an extra that only lengths in tokens need",
    ("render/uses/items/stress.py", "sklearn"): "an extra that only learners without images need",
    ("render/uses/rerender/settle.py", "mujoco"): "an extra that only `render-specs settle` needs",
    ("render/uses/chat/openai_model.py", "openai"): "an extra that only models behind an OpenAI-compatible server need",
    ("render/uses/chat/hf_model.py", ""): "an extra that only models of transformers need",
    ("scene_specs/benchmarks/malevic/export.py", "h5py"): "an extra that only the question tensors of MALeViC need",
    ("scene_specs/benchmarks/kilogram/measures.py", "nltk"): "takes 0.2 s, and only measures of naming need it",
}
PURE = ("scene_specs/", "render/compiler/", "render/geometry/", "render/annotations/", "render/passes/")
SEEDED = frozenset({"Generator", "Philox", "SeedSequence", "BitGenerator"})
ENTROPY = frozenset({"os.urandom", "uuid.uuid1", "uuid.uuid4"})
CLOCKS = frozenset({"now", "utcnow", "today"})
LISTINGS = frozenset({"listdir", "scandir", "glob", "rglob", "iglob", "iterdir", "walk"})
# Calls that turn their argument's order into an order of their result.
ORDERED = frozenset({"list", "tuple", "enumerate", "iter", "map", "filter", "zip", "reversed", "sum", "next"})
# Calls whose result does not depend on the order of what a generator gives them.
ORDERLESS = frozenset({"sorted", "any", "all", "set", "frozenset", "len"})


@dataclass(frozen=True)
class Breach:
    """One forbidden thing: path, 1-based line, what stands there and why it may not."""

    path: str
    line: int
    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}: {self.why}"


def breaches(path: str, source: str) -> list[Breach]:
    """All breaches in one file. path: relative to the repository, POSIX, decides which bans hold."""
    tree = ast.parse(source, filename=path)
    found = [*imports_through_walls(path, tree), *prints(path, tree), *lazy_imports(path, tree)]
    if path.startswith("scene_specs/"):
        found += imports_upwards(path, tree)
    if path.startswith(PURE):
        parents = {child: node for node in nodes_of(tree) for child in ast.iter_child_nodes(node)}
        found += [*randomness(path, tree), *clocks(path, tree)]
        found += [*unordered_sets(path, tree, parents), *unsorted_listings(path, tree, parents)]
    return sorted(found, key=lambda breach: (breach.line, breach.what))


@lru_cache(maxsize=2)
def nodes_of(tree: ast.AST) -> tuple[ast.AST, ...]:
    """All nodes, kept: each rule goes over all nodes of a file."""
    return tuple(ast.walk(tree))


def imports(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Each absolute import, also by name at run time, as (node, dotted module); `from a import b` gives a.b."""
    for node in nodes_of(tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from ((node, f"{node.module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and dotted(node.func).split(".")[-1] in {"import_module", "__import__"}:
            named = node.args[0] if node.args else None
            if isinstance(named, ast.Constant) and isinstance(named.value, str):
                yield node, named.value


def dotted(node: ast.AST) -> str:
    """`a.b.c` of a name or attribute; "" in front of what is neither, so `f().glob` is ".glob"."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return ""


def line_of(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 0))


def imports_through_walls(path: str, tree: ast.AST) -> Iterator[Breach]:
    for node, module in imports(tree):
        folders, why = IMPORT_WALLS.get(module.split(".")[0], ((), ""))
        if folders and not path.startswith(folders):
            yield Breach(path, line_of(node), f"imports {module}, allowed only under {' and '.join(folders)}", why)


def imports_upwards(path: str, tree: ast.AST) -> Iterator[Breach]:
    """Imports of `render` in `scene_specs`, also inside functions."""
    for node, module in imports(tree):
        if module.startswith("diorama.render"):
            yield Breach(path, line_of(node), f"imports {module}", "render imports scene_specs, never the reverse")


def lazy_imports(path: str, tree: ast.AST) -> Iterator[Breach]:
    """Imports inside functions that LAZY_IMPORTS has no reason for."""
    if not path.startswith(("render/", "scene_specs/")):
        return
    inside = {
        child: function
        for function in nodes_of(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for child in ast.walk(function)
    }
    for node, module in imports(tree):
        allowed = any(path.startswith(place) and module.startswith(name) for place, name in LAZY_IMPORTS)
        if isinstance(node, ast.Import | ast.ImportFrom) and node in inside and not allowed:
            yield Breach(path, line_of(node), f"imports {module} inside a function", "give LAZY_IMPORTS its reason")


@cache
def imported(source: str) -> tuple[str, ...]:
    """The modules that a text imports; kept, since many tests ask for the same files."""
    return tuple(name for _, name in imports(ast.parse(source)))


def import_graph(sources: Mapping[str, str]) -> networkx.DiGraph:
    """Module -> module for every import, also inside functions and for types only. sources: POSIX path -> text."""
    modules = {path.removesuffix(".py").replace("/", ".").removesuffix(".__init__") for path in sources}
    graph = networkx.DiGraph()
    for path, source in sources.items():
        importer = path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        for name in imported(source):
            while name and name not in modules:
                name = name.rpartition(".")[0]
            if name and name != importer:
                graph.add_edge(importer, name)
    return graph


def package_graph(sources: Mapping[str, str]) -> networkx.DiGraph:
    """What lies side by side in a folder, on any level: packages and modules. What a package holds gives it no edge."""
    graph = networkx.DiGraph()
    for edge in import_graph(sources).edges:
        parts = [end.split(".") for end in edge]
        level = next((k for k, (a, b) in enumerate(zip(*parts, strict=False)) if a != b), None)
        if level is not None:
            graph.add_edge(*(".".join(part[: level + 1]) for part in parts))
    return graph


def circles(graph: networkx.DiGraph) -> list[list[str]]:
    """Groups of modules or packages that import each other in a circle."""
    return sorted(sorted(group) for group in networkx.strongly_connected_components(graph) if len(group) > 1)


def prints(path: str, tree: ast.AST) -> Iterator[Breach]:
    for node in nodes_of(tree):
        if isinstance(node, ast.Call) and dotted(node.func) in {"print", "pprint.pprint", "builtins.print"}:
            yield Breach(
                path, line_of(node), "print()", "a library must not write into its user's output; log or return"
            )


def randomness(path: str, tree: ast.AST) -> Iterator[Breach]:
    why = "global or unseeded randomness makes the same spec another scene; use a Generator handed in as `rng`"
    for node, module in imports(tree):
        unseeded = module.startswith("numpy.random.") and module.split(".")[2] not in SEEDED
        if unseeded or module.split(".")[0] in {"random", "secrets"} or module in ENTROPY:
            yield Breach(path, line_of(node), f"imports {module}", why)
    for node in nodes_of(tree):
        if isinstance(node, ast.Attribute) and dotted(node.value) in {"np.random", "numpy.random"}:
            if node.attr not in SEEDED:
                yield Breach(path, line_of(node), f"uses {dotted(node)}", why)
        elif isinstance(node, ast.Call):
            name = dotted(node.func)
            if name.split(".")[-1] in {"Philox", "SeedSequence"} and not (node.args or node.keywords):
                yield Breach(path, line_of(node), f"{name}() without a seed", why)
            elif name == "hash":
                yield Breach(path, line_of(node), "hash()", "Python salts it anew in each process; use hashlib")
            elif name in ENTROPY:
                yield Breach(path, line_of(node), f"uses {name}", why)


def clocks(path: str, tree: ast.AST) -> Iterator[Breach]:
    why = "a result that depends on when it was made can't be made again; times belong to render/run"
    for node, module in imports(tree):
        if module.split(".")[0] == "time":
            yield Breach(path, line_of(node), f"imports {module}", why)
    for node in nodes_of(tree):
        if isinstance(node, ast.Call):
            parts = dotted(node.func).split(".")
            if len(parts) > 1 and parts[-2] in {"datetime", "date"} and parts[-1] in CLOCKS:
                yield Breach(path, line_of(node), f"uses {'.'.join(parts)}", why)


def unordered_sets(path: str, tree: ast.Module, parents: dict[ast.AST, ast.AST]) -> Iterator[Breach]:
    why = "the order of a set of strings changes from process to process; sort it first"
    for scope in [tree, *(n for n in nodes_of(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))]:
        sets = set_names(scope)
        for node in own_nodes(scope):
            for looped in iterated(node, parents):
                if is_set(looped, sets):
                    yield Breach(path, line_of(looped), f"iterates over the set `{ast.unparse(looped)}`", why)


def own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """Nodes of a module or function without those of functions inside it."""
    for child in ast.iter_child_nodes(scope):
        yield child
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from own_nodes(child)


def set_names(scope: ast.AST) -> frozenset[str]:
    """Names that are given a set in this scope, or are said to be one."""
    names: set[str] = set()
    for node in own_nodes(scope):
        if isinstance(node, ast.Assign) and is_set(node.value, frozenset(names)):
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and says_set(node.annotation):
            names.add(node.target.id)
        elif isinstance(node, ast.arg) and node.annotation is not None and says_set(node.annotation):
            names.add(node.arg)
    return frozenset(names)


def says_set(annotation: ast.AST) -> bool:
    base = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    return dotted(base).split(".")[-1] in {"set", "frozenset", "Set", "AbstractSet", "FrozenSet"}


def is_set(node: ast.AST, sets: frozenset[str]) -> bool:
    """Whether an expression is a set as far as its text tells."""
    if isinstance(node, ast.Set | ast.SetComp):
        return True
    if isinstance(node, ast.Name):
        return node.id in sets
    if isinstance(node, ast.Call):
        if dotted(node.func) in {"set", "frozenset"}:
            return True
        joins = {"union", "intersection", "difference", "symmetric_difference", "copy"}
        return isinstance(node.func, ast.Attribute) and node.func.attr in joins and is_set(node.func.value, sets)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr | ast.BitAnd | ast.BitXor | ast.Sub):
        return any(is_set(side, sets) or is_keys(side) for side in (node.left, node.right))
    return False


def is_keys(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in {"keys", "items"}


def iterated(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> Iterator[ast.AST]:
    """What `node` runs through in an order that shows in its result."""
    if isinstance(node, ast.For | ast.AsyncFor):
        yield node.iter
    elif isinstance(node, ast.ListComp | ast.DictComp | ast.GeneratorExp):
        above = parents.get(node)
        if not (isinstance(above, ast.Call) and dotted(above.func) in ORDERLESS):
            yield from (part.iter for part in node.generators)
    elif isinstance(node, ast.Starred):
        if not isinstance(parents.get(node), ast.Set):
            yield node.value
    elif isinstance(node, ast.YieldFrom):
        yield node.value
    elif isinstance(node, ast.Call):
        name = dotted(node.func).split(".")[-1]
        if name in ORDERED | {"join", "extend", "fromkeys", "array", "asarray", "fromiter", "pop"}:
            yield from node.args
        if name == "pop" and isinstance(node.func, ast.Attribute) and not node.args:
            yield node.func.value


def unsorted_listings(path: str, tree: ast.AST, parents: dict[ast.AST, ast.AST]) -> Iterator[Breach]:
    why = "file systems list in any order; wrap it in sorted()"
    for node in nodes_of(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name)):
            continue
        name = dotted(node.func).split(".")[-1]
        if name in LISTINGS and not is_sorted(node, parents):
            yield Breach(path, line_of(node), f"{name}() unsorted", why)


def is_sorted(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether the call, or the generator that runs through it, is the argument of sorted()."""
    above = parents.get(node)
    while isinstance(above, ast.GeneratorExp | ast.comprehension | ast.Call | ast.ListComp | ast.Starred):
        if isinstance(above, ast.Call) and dotted(above.func) in {"sorted", "any", "all", "set", "len"}:
            return True
        above = parents.get(above)
    return False
