"""Runs where mlcroissant is installed: python read_croissant.py FOLDER

Validates FOLDER/croissant.json and prints the first 100 records of each record set as JSON; an image is the SHA-256 of
its pixels.
"""

from __future__ import annotations

import hashlib
import json
import sys
from itertools import islice
from typing import Any

import mlcroissant


def plain(value: Any) -> Any:
    if hasattr(value, "convert"):
        return hashlib.sha256(value.convert("RGB").tobytes()).hexdigest()
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, dict):
        return {name.rpartition("/")[2]: plain(one) for name, one in value.items()}
    if hasattr(value, "tolist"):
        return value.tolist()
    return [plain(one) for one in value] if isinstance(value, list) else value


if __name__ == "__main__":
    dataset = mlcroissant.Dataset(f"{sys.argv[1]}/croissant.json")
    issues = dataset.metadata.ctx.issues
    assert not issues.errors and not issues.warnings, issues.report()
    names = [one.uuid for one in dataset.metadata.record_sets]
    print(json.dumps({name: [plain(one) for one in islice(dataset.records(name), 100)] for name in names}))
