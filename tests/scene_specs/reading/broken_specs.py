"""Broken specs, one diagnostic each (or as many as said), with what the message must contain.

A case is the content of a file; `episode(...)` and `frame(...)` make an episode that is right but for what is given.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

ANYTHING = "examples/of/an-id"


@dataclass(frozen=True)
class Broken:
    """name: of the case. content: of the file. parts: each must be in the one message. line, path: of the fault.

    suffix: of the file's name. good: episodes of the file that have no fault.
    """

    name: str
    content: bytes
    parts: tuple[str, ...]
    path: str = ""
    line: int = 1
    suffix: str = ".json"
    good: int = 0


def episode(**changes: Any) -> dict[str, Any]:
    """A right episode with some keys set; None takes a key out."""
    value = {"version": 1, "id": ANYTHING, "frames": [{}], **changes}
    return {key: item for key, item in value.items() if item is not None}


def frame(case: str, path: str, /, *parts: str, **fields: Any) -> Broken:
    """An episode of one frame with these fields; path is below the frame."""
    full = "frames[0]" + ("" if path.startswith("[") else "." if path else "") + path
    return Broken(case, json.dumps(episode(frames=[fields])).encode(), parts, full)


def item(case: str, path: str, /, *parts: str, **fields: Any) -> Broken:
    """A frame of one object with these fields."""
    return frame(case, "objects[0]" + (f".{path}" if path else ""), *parts, objects=[fields])


def two(case: str, path: str, /, *parts: str, **fields: Any) -> Broken:
    """A frame of two named objects, a and b, and these fields."""
    return frame(case, path, *parts, objects=[{"name": "a"}, {"name": "b"}], **fields)


def whole(case: str, path: str, /, *parts: str, **changes: Any) -> Broken:
    """An episode with these keys changed."""
    return Broken(case, json.dumps(episode(**changes)).encode(), parts, path)


def text(name: str, content: str | bytes, *parts: str, path: str = "", line: int = 1, suffix: str = ".json") -> Broken:
    """A file with this content."""
    raw = content.encode() if isinstance(content, str) else content
    return Broken(name, raw, parts, path, line, suffix)


GOOD = json.dumps(episode())
DEEP = "[" * 500 + "]" * 500

SYNTAX = [
    text("empty file", "", "empty file", line=0),
    text("only white space", " \n\n ", "empty file", line=0),
    text("empty jsonl", "\n\n", "empty file", line=0, suffix=".jsonl"),
    text("empty list", "[]", "empty list"),
    text("unclosed", '{"version": 1,\n "id": "a"', "not JSON", "end of the text", "','", line=2),
    text("trailing comma", '{"version": 1,\n "id": "a",\n}', "comma before '}'", line=2),
    text("missing comma", '{"version": 1\n "id": "a"}', "not JSON", "should be", line=2),
    text("missing colon", '{"version" 1}', "':' should be", path="version"),
    text("single quotes", "{'version': 1}", "double quotes"),
    text("bare key", "{version: 1}", "where a key should be", "double quotes"),
    text("comment", '// a spec\n{"version": 1}', "no comments"),
    text("python None", '{"version": None}', "write null", path="version"),
    text("open string", '{"version": 1, "id": "abc}', "not JSON", "unterminated string", path="id"),
    text("two values", GOOD + "\n" + GOOD, "more text after", line=2),
    text("two values in a line", GOOD + GOOD, "more text after", suffix=".jsonl"),
    replace(text("after the list", f"[{GOOD}]\nx", "more text after the end of the list", line=2), good=1),
    replace(text("unclosed list", f"[{GOOD}", "end of the file", "']'"), good=1),
    text("a number", "3", "found 3", "an object"),
    text("a list in a line", f"[{GOOD}]", "an object", ".json file", suffix=".jsonl"),
    text(
        "nan",
        GOOD.replace("[{}]", '[{"objects":\n[{"size": NaN}]}]'),
        "NaN",
        "finite number",
        line=2,
        path="frames[0].objects[0].size",
    ),
    text(
        "minus infinity",
        GOOD.replace("{}", '{"objects": [{"rotation_deg": -Infinity}]}'),
        "-Infinity",
        path="frames[0].objects[0].rotation_deg",
    ),
    text(
        "overflowing number",
        GOOD.replace("{}", '{"truth": {"x": 1e999}}'),
        "1e999",
        "too large",
        path="frames[0].truth.x",
    ),
    text(
        "huge integer",
        GOOD.replace("{}", '{"truth": {"x": 1' + "0" * 5000 + "}}"),
        "5001 digits",
        "64 bits",
        path="frames[0].truth.x",
    ),
    text("too deep", GOOD[:-1] + f', "task": {{"x": {DEEP}}}}}', "nested more than 64 deep", path="task.x[0]"),
    text(
        "duplicate key",
        '{"version": 1,\n "id": "a",\n "id": "b", "frames": [{}]}',
        '"id" given twice',
        "line 2",
        path="id",
        line=3,
    ),
    text(
        "deep duplicate key",
        GOOD.replace("{}", '{"objects": [{"size": 1, "size": 2}]}'),
        "given twice",
        path="frames[0].objects[0].size",
    ),
    text("half a surrogate", GOOD.replace("{}", '{"utterance": "\\ud83d"}'), "surrogate", path="frames[0].utterance"),
]
ENCODINGS = [
    text("byte order mark", b"\xef\xbb\xbf" + GOOD.encode(), "byte order mark", "UTF-8"),
    text("utf-16", GOOD.encode("utf-16"), "UTF-16", "allowed: UTF-8"),
    text("utf-16 without mark", GOOD.encode("utf-16-le"), "UTF-16"),
    text("utf-16 jsonl", (GOOD + "\n").encode("utf-16"), "UTF-16", suffix=".jsonl"),
    text("utf-32", GOOD.encode("utf-32"), "UTF-32"),
    text("latin-1", GOOD.replace("{}", '{"utterance":\n"caf\xe9"}').encode("latin-1"), "not UTF-8", "0xe9", line=2),
]
TOP = [
    whole("no version", "version", "required", "missing", version=None),
    whole("later version", "version", "found 2", "allowed: 1", version=2),
    whole("version as text", "version", 'found "1"', "allowed: 1", version="1"),
    whole("version true", "version", "found true", "allowed: 1", version=True),
    whole("no id", "id", "required", "missing", id=None),
    whole("id upwards", "id", "not a path", id="../../etc/passwd"),
    whole("id absolute", "id", "not a path", id="/tmp/x"),
    whole("id upwards inside", "id", "not a path", id="a/../b"),
    whole("id hidden", "id", "none beginning with a dot", id="a/.ssh"),
    whole("id backslash", "id", "no backslash", id="a\\b"),
    whole("id with a space", "id", "such as my-first", id="my first"),
    whole("id with a newline", "id", "found", id="a\n"),
    whole("id too long", "id", "found", id="a/" * 150 + "a"),
    whole("id empty", "id", 'found ""', id=""),
    whole("no frames", "frames", "required", frames=None),
    whole("empty frames", "frames", "at least 1", frames=[]),
    whole("frames an object", "frames", "a list", frames={}),
    whole("frame a number", "frames[0]", "found 3", "an object", frames=[3]),
    whole("unknown key", "seeds", "unknown key", "did you mean 'seed'?", seeds=3),
    whole("negative seed", "seed", "found -1", "at least 0", seed=-1),
    whole("seed a fraction", "seed", "found 1.5", "an integer", seed=1.5),
    whole("seed as text", "seed", "write 7 without quotes", seed="7"),
    whole("unknown stage", "stage", "clevr", "did you mean 'clevr'?", stage="clever"),
    whole("split a path", "split", "found", split="../train"),
    whole("task a list", "task", "an object", task=[1]),
    whole("frame names", "frames[1].name", "before it", "unique", frames=[{"name": "x"}, {"name": "X"}]),
    whole("default frame name", "frames[1].name", "unique", frames=[{}, {"name": "frame-0"}]),
]
OBJECTS = [
    item("unknown shape", "shape", 'found "cubes"', "cube, cylinder, sphere", "did you mean 'cube'?", shape="cubes"),
    item("unknown color", "color", "did you mean 'purple'?", color="purpel"),
    item("color in capitals", "color", "did you mean 'red'?", color="Red"),
    item("unknown size", "size", "large, small", size="medium"),
    item("unknown material", "material", "did you mean 'metal'?", material="metall"),
    item("unknown object key", "colour", "unknown key", "did you mean 'color'?", colour="red"),
    item("color too short", "color", "found [1, 2]", "triple", color=[1, 2]),
    item("color too bright", "color[2]", "found 300", "at most 255", color=[1, 2, 300]),
    item("color a number", "color", "found 3", "triple", color=3),
    item("color of fractions", "color[0]", "found 0.5", "an integer", color=[0.5, 0, 0]),
    item("size zero", "size", "found 0", "above 0", size=0),
    item("size true", "size", "found true", "scale in Blender units", size=True),
    item("size giant", "size", "found 1000", "at most 100", size=1000),
    item("location too short", "location", "found [1]", "[x, y]", location=[1]),
    item("location too long", "location", "[x, y, z]", location=[1, 2, 3, 4]),
    item("location of text", "location[1]", 'found "a"', "a number", location=[1, "a"]),
    item("location far", "location[2]", "at most 10000", location=[0, 0, 1e300]),
    item("outside the area", "location[0]", "x = 3.5", "-3 to 3", "area", location=[3.5, 0]),
    item("rotation as text", "rotation_deg", 'found "90"', "degrees", rotation_deg="90"),
    item("two angles", "rotation_deg", "three Euler angles", rotation_deg=[1, 2]),
    item("object name a path", "name", "found", name="../a"),
    item("material of nothing", "material", "name, or blend and group", material={}),
    item(
        "material of both", "material.blend", "name, or blend and group", material={"name": "metal", "blend": "a.blend"}
    ),
    item("blend without group", "material", "without group", material={"blend": "a.blend"}),
    item("group without blend", "material", "without blend", material={"group": "G"}),
    item("blend upwards", "material.blend", "below an asset root", material={"blend": "../a.blend", "group": "G"}),
    item("blend absolute", "material.blend", "below an asset root", material={"blend": "/a.blend", "group": "G"}),
    item("blend no blend", "material.blend", "ends in .blend", material={"blend": "a.obj", "group": "G"}),
    item("strength of metal", "material.strength", "allowed: roughness", material={"name": "metal", "strength": 2}),
    item(
        "ior misspelled", "material.iro", "allowed: ior", "did you mean 'ior'", material={"name": "glass", "iro": 1.2}
    ),
    item("ior too small", "material.ior", "found 0.5", "at least 1", material={"name": "glass", "ior": 0.5}),
    item("ior a word", "material.ior", 'found "x"', "a number", material={"name": "glass", "ior": "x"}),
    item(
        "blend misspelled",
        "material.blen",
        "did you mean 'blend'",
        material={"blen": "a.blend", "blend": "a.blend", "group": "G"},
    ),
    item(
        "parameter of a blend",
        "material.ior",
        "allowed: name, blend, group",
        material={"blend": "a.blend", "group": "G", "ior": 2},
    ),
    item("strength negative", "material.strength", "above 0", material={"name": "emission", "strength": -1}),
    frame("same name", "objects[1].name", 'found "a"', "unique", objects=[{"name": "a"}, {"name": "a"}]),
    frame("default name", "objects[1].name", "unique", objects=[{}, {"name": "object-0"}]),
    frame(
        "same place",
        "objects[1].location",
        "objects[0]",
        "move one of the two",
        objects=[{"location": [1, 1]}, {"location": [1, 1]}],
    ),
    frame(
        "overlap",
        "objects[1].location",
        "overlaps object",
        objects=[{"location": [0, 0], "size": "large"}, {"location": [1, 0], "size": 0.5}],
    ),
    frame(
        "overlap in a stack",
        "objects[1].location",
        "overlaps object",
        objects=[
            {"shape": "cube", "location": [0, 0], "size": 1},
            {"shape": "cube", "location": [0, 0, 1.5], "size": 1},
        ],
    ),
    frame("pointer without a target", "pointer.target", "required", pointer={"kind": "arrow"}),
    two("unknown kind of pointer", "pointer.kind", "did you mean 'hand'?", pointer={"target": "a", "kind": "hnad"}),
    frame(
        "unknown colour of the pointer",
        "pointer.color",
        "did you mean 'red'?",
        objects=[{"name": "a"}],
        pointer={"target": "a", "color": "redd"},
    ),
    frame(
        "pointer at nothing",
        "pointer.target",
        "no object of this frame; allowed: cup, box",
        "did you mean 'cup'?",
        objects=[{"name": "cup"}, {"name": "box"}],
        pointer={"target": "cap"},
    ),
    frame(
        "an object called pointer",
        "pointer",
        "called 'pointer' already",
        objects=[{"name": "pointer"}],
        pointer={"target": "pointer"},
    ),
]
RELATION = {"relation": "left", "subject": "a", "of": "b"}
CONSTRAINTS = [
    two("nothing demanded", "constraints[0]", "found none", "exactly one", constraints=[{}]),
    two(
        "two kinds", "constraints[0]", "min_distance and in_frame", constraints=[{"min_distance": 1, "in_frame": True}]
    ),
    two(
        "unknown relation",
        "constraints[0].relation",
        "did you mean 'left'?",
        constraints=[RELATION | {"relation": "lefft"}],
    ),
    two("dangling subject", "constraints[0].subject", 'found "c"', "a, b", constraints=[RELATION | {"subject": "c"}]),
    two("dangling of", "constraints[0].of", 'found "B"', "did you mean 'b'?", constraints=[RELATION | {"of": "B"}]),
    two("of itself", "constraints[0].of", "itself", constraints=[RELATION | {"of": "a"}]),
    two("without subject", "constraints[0]", "without subject", constraints=[{"relation": "left", "of": "b"}]),
    two(
        "subject alone",
        "constraints[0].subject",
        "only with relation",
        constraints=[{"in_frame": True, "subject": "a"}],
    ),
    two(
        "dangling objects",
        "constraints[0].objects[0]",
        "found",
        constraints=[{"min_visible_pixels": 9, "objects": ["c"]}],
    ),
    two(
        "more than all pixels",
        "constraints[0].min_visible_pixels",
        "76800",
        constraints=[{"min_visible_pixels": 90000}],
    ),
    two("given twice", "constraints[1].min_distance", "twice", constraints=[{"min_distance": 1}, {"min_distance": 2}]),
    two("in_frame a number", "constraints[0].in_frame", "true or false", constraints=[{"in_frame": 1}]),
    two(
        "left and right",
        "constraints[1]",
        "contradictory",
        "a left of b, a right of b",
        constraints=[RELATION, RELATION | {"relation": "right"}],
    ),
    frame(
        "circle",
        "constraints[2]",
        "contradictory",
        "a behind b",
        "c in front of b",
        "c behind a",
        objects=[{"name": name} for name in "abc"],
        constraints=[
            {"relation": "behind", "subject": "a", "of": "b"},
            {"relation": "front", "subject": "c", "of": "b"},
            {"relation": "behind", "subject": "c", "of": "a"},
        ],
    ),
    two("no room", "constraints[0]", "no room", "8.48", constraints=[RELATION | {"margin": 9}]),
]
FRAMES = [
    frame("camera and views", "camera", "or views", camera={}, views=[{"name": "v"}]),
    frame("empty views", "views", "at least 1", views=[]),
    frame("view without name", "views[0].name", "required", views=[{}]),
    frame("view names", "views[1].name", "unique", views=[{"name": "v"}, {"name": "V"}]),
    frame(
        "camera at its aim",
        "camera.look_at",
        "two different points",
        camera={"location": [1, 1, 1], "look_at": [1, 1, 1]},
    ),
    frame("camera at the stage's aim", "camera.location", "two different points", camera={"location": [0, 0, 0]}),
    frame("flat camera", "camera.location", "[x, y, z]", camera={"location": [1, 2]}),
    frame("no lens", "camera.lens", "at least 1", camera={"lens": 0}),
    frame("unknown light", "lights[0].name", "key, fill, back, sun", "did you mean 'fill'?", lights=[{"name": "fil"}]),
    frame("light twice", "lights[1].name", "unique", lights=[{"name": "key"}, {"name": "key"}]),
    frame("place of the sun", "lights[0].location", "area lights", lights=[{"name": "sun", "location": [0, 0, 9]}]),
    frame("dark light", "lights[0].energy", "at least 0", lights=[{"name": "key", "energy": -5}]),
    frame("area upside down", "area.x", "[least, greatest]", area={"x": [1, -1], "y": [0, 1]}),
    frame("half an area", "area.y", "required", area={"x": [0, 1]}),
    frame("unknown pass", "passes[0]", "did you mean 'depth'?", passes=["depht"]),
    frame("pass twice", "passes[1]", "unique", passes=["depth", "depth"]),
    frame("utterance a number", "utterance", "a string", utterance=3),
    frame("truth a list", "truth", "an object", truth=[]),
]
RANDOM = [
    frame("no count", "random_objects.count", "required", random_objects={}),
    frame("count as text", "random_objects.count", "[fewest, most]", random_objects={"count": "3"}),
    frame("count reversed", "random_objects.count", "found [5, 3]", "write [3, 5]", random_objects={"count": [5, 3]}),
    frame("count too great", "random_objects.count", "at most 100", random_objects={"count": 1000}),
    frame(
        "unknown drawn color",
        "random_objects.colors[1]",
        "did you mean 'blue'?",
        random_objects={"count": 1, "colors": ["red", "bleu"]},
    ),
    frame("empty list of shapes", "random_objects.shapes", "at least 1", random_objects={"count": 1, "shapes": []}),
    frame(
        "shapes and combinations",
        "random_objects.shapes",
        "or combinations",
        random_objects={"count": 1, "shapes": ["cube"], "combinations": [["cube", "red"]]},
    ),
    frame(
        "combination of one",
        "random_objects.combinations[0]",
        "pairs",
        random_objects={"count": 1, "combinations": [["cube"]]},
    ),
    frame(
        "combination reversed",
        "random_objects.combinations[0][0]",
        'found "red"',
        random_objects={"count": 1, "combinations": [["red", "red"]]},
    ),
    frame(
        "too many distinct",
        "random_objects.count",
        "at most 2",
        "widen",
        random_objects={"count": 3, "shapes": ["cube"], "colors": ["red"], "materials": ["metal"], "distinct": True},
    ),
    frame(
        "distinct as text", "random_objects.distinct", "true or false", random_objects={"count": 1, "distinct": "yes"}
    ),
    frame(
        "name of a drawn one",
        "objects[0].name",
        "random_objects",
        objects=[{"name": "object-2"}],
        random_objects={"count": 2},
    ),
]
FOREIGN = [
    text("clevr file", json.dumps({"info": {}, "scenes": []}), "published scene file", "render-specs import"),
    text("scene file", json.dumps({"objects": [], "directions": {}}), "published scene file", "render-specs import"),
    text(
        "broken scene",
        json.dumps({"scene_version": 1, "id": "a"}).replace('"a"', '"a", "x": 3'),
        "unknown key",
        path="x",
    ),
]
LOCATED = [{"name": "a", "location": [1, 0]}, {"name": "b", "location": [-1, 0]}]
FORMS = [
    whole("schema a number", "$schema", "the path or address of a JSON Schema", **{"$schema": 3}),
    whole(
        "no option", "task.answer", 'found "c"', '2 options, "a", "bb"', task={"options": ["a", "bb"], "answer": "c"}
    ),
    whole(
        "answer misspelled", "task.answer", "did you mean 'cube'?", task={"options": ["cube", "x"], "answer": "cubes"}
    ),
    whole("number for text", "task.answer", 'options, "1"', task={"options": ["1"], "answer": 1}),
    whole("canvas of three", "canvas", "such as [640, 480]", stage="tangram", canvas=[1, 2, 3]),
    whole("objects beside frames", "objects", "a key of frames", objects=[]),
    two("pointer a name", "pointer", 'found "a"', 'write {"target": "a"}', pointer="a"),
    two("size of the pointer", "pointer.size", "at most 10, such as 0.6", pointer={"target": "a", "size": "large"}),
    two("target a number", "pointer.target", "the name of an object of this frame", pointer={"target": 0}),
    two(
        "object of a relation",
        "constraints[0].object",
        "did you mean 'of'?",
        constraints=[{"relation": "left", "subject": "a", "object": "b"}],
    ),
    two("relation in words", "constraints[0]", '"relation": "left"', constraints=["a left of b"]),
    two("one constraint", "constraints", 'write [{"relation"', constraints=RELATION),
    item("color in hex", "color", "a name (gray", "or an sRGB triple", "write [255, 0, 16]", color="#ff0010"),
    item("size in quotes", "size", "a scale in Blender units", "write 0.5 without quotes", size="0.5"),
    item("rotation in quotes", "rotation_deg", "such as [90, 0, 45]", "write 90 without quotes", rotation_deg="90"),
    item("shape unlike any", "shape", "a name (cube", "shapenet:chairs/#3", '{"polygon": [[0, 0]', shape="hexagon"),
    item("material a list", "material", '{"name": "emission", "strength": 5}', '{"blend":', material=["metal"]),
    item("location an object", "location", "write [0, 1]", location={"x": 0, "y": 1}),
    item("scale", "scale", "did you mean 'size'?", scale=1),
    item("position", "position", "did you mean 'location'?", position=[0, 0]),
    item("a fraction of white", "color[0]", "from 0 to 255", "write 128", color=[0.5, 0, 0]),
    item(
        "corners in a row", "shape.polygon[2]", "a corner, [x, y]", shape={"polygon": [[0, 0], [1, 0], 3], "height": 1}
    ),
    frame("object a name", "objects[0]", 'write {"shape": "cube"}', objects=["cube"]),
    frame("passes a name", "passes", 'write ["depth"]', passes="depth"),
    frame("camera a point", "camera", 'write {"location": [7, -7, 5]}', camera=[7, -7, 5]),
    frame("view a name", "views[0]", 'write {"name": "top"}', views=["top"]),
    frame("area a list", "area", '{"x": [-3, 3], "y": [-3, 3]}', area=[-1, 1]),
    frame("fov", "camera.fov", "did you mean 'lens'?", camera={"fov": 50}),
    frame("background by name", "background", "such as [255, 255, 255]", background="white"),
    frame("number of random objects", "random_objects", 'write {"count": 3}', random_objects=3),
    frame("range of random objects", "random_objects", 'write {"count": [3, 5]}', random_objects=[3, 5]),
    frame(
        "flat on the ground", "random_objects.shapes[0]", "a prism", random_objects={"count": 1, "shapes": ["circle"]}
    ),
    frame(
        "flat pair",
        "random_objects.combinations[0][0]",
        "a prism",
        random_objects={"count": 1, "combinations": [["circle", "red"]]},
    ),
    frame(
        "look that is taken",
        "random_objects.count",
        "at most 0",
        "listed",
        objects=[{"shape": "cube", "color": "red", "material": "metal", "size": "large"}],
        random_objects={
            "count": 1,
            "shapes": ["cube"],
            "colors": ["red"],
            "materials": ["metal"],
            "sizes": ["large"],
            "distinct": True,
        },
    ),
    frame("crowd", "objects", "40 objects need 15.6", "8.485", objects=[{}] * 40),
    frame("giants", "objects", "2 objects need 100.2", objects=[{"size": 50}, {"size": 50}]),
    two("far apart", "constraints[0].min_distance", "2 objects need 9", constraints=[{"min_distance": 9}]),
    two("wide rows", "constraints[0].axis_margin", "2 objects need 9", constraints=[{"axis_margin": 9}]),
    two(
        "all pixels twice",
        "constraints[0].min_visible_pixels",
        "add up to 100000",
        constraints=[{"min_visible_pixels": 50000}],
    ),
    frame(
        "the other way around",
        "constraints[0]",
        "a left of b by -1",
        "above 0.2",
        objects=LOCATED,
        constraints=[RELATION],
    ),
    frame(
        "too near",
        "constraints[0].min_distance",
        "found 3",
        "of a and b",
        objects=LOCATED,
        constraints=[{"min_distance": 3}],
    ),
    frame(
        "in a line", "constraints[0].axis_margin", "found 2", "1.41", objects=LOCATED, constraints=[{"axis_margin": 2}]
    ),
]
BROKEN = [*FORMS, *SYNTAX, *ENCODINGS, *TOP, *OBJECTS, *CONSTRAINTS, *FRAMES, *RANDOM, *FOREIGN]
