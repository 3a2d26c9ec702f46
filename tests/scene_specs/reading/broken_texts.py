"""Files that are not the text of a spec: JSON with mistakes, other encodings, published scene files."""

from __future__ import annotations

import json
from dataclasses import replace

from tests.scene_specs.reading.broken_cases import episode, text

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
TEXTS = [*SYNTAX, *ENCODINGS, *FOREIGN]
