"""Writes scene_specs/benchmarks/mewl/real_words.txt: every real word that two or three of our syllables spell.

    python tools/mewl_words.py

The words come from two packages of the `dev` extra: english-words (Webster's Second, GCIDE) and pyspellchecker (which
has plurals and other inflected forms). A test makes the list anew and compares.
"""

from __future__ import annotations

import gzip
import importlib
import json
import logging
import re
from importlib import resources
from pathlib import Path

from scene_specs.benchmarks.mewl.words import SYLLABLES

TARGET = Path(__file__).resolve().parents[1] / "scene_specs" / "benchmarks" / "mewl" / "real_words.txt"
log = logging.getLogger("mewl_words")


def spelled() -> list[str]:
    """The list, sorted."""
    syllables = "|".join(sorted(SYLLABLES, key=len, reverse=True))
    pattern = re.compile(f"(?:{syllables}){{2,3}}")
    english = importlib.import_module("english_words")
    words = {word.lower() for word in english.get_english_words_set(["web2", "gcide"], alpha=True, lower=True)}
    packed = resources.files("spellchecker").joinpath("resources", "en.json.gz").read_bytes()
    words |= {word.lower() for word in json.loads(gzip.decompress(packed))}
    return sorted(word for word in words if pattern.fullmatch(word))


def main() -> None:
    """Write the list."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    words = spelled()
    TARGET.write_text("\n".join(words) + "\n", encoding="ascii")
    log.info("%d words in %s", len(words), TARGET)


if __name__ == "__main__":
    main()
