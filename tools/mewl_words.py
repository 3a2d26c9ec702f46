"""Write the list of real words that our syllables spell.

    python -m tools mewl-words

Writes scene_specs/benchmarks/mewl/real_words.txt: every real word of two or three of our syllables. The words come from
two packages of the `dev` extra: english-words (Webster's Second, GCIDE) and pyspellchecker (which has plurals and other
inflected forms). A test generates the list again and compares.
"""

from __future__ import annotations

import gzip
import importlib
import json
import re
from argparse import Namespace
from importlib import resources

from diorama.scene_specs.benchmarks.mewl.lexicons import SYLLABLES
from tools.programs import ROOT

TARGET = ROOT / "scene_specs" / "benchmarks" / "mewl" / "real_words.txt"


def spelled() -> list[str]:
    """Return the list, sorted."""
    syllables = "|".join(sorted(SYLLABLES, key=len, reverse=True))
    pattern = re.compile(f"(?:{syllables}){{2,3}}")
    english = importlib.import_module("english_words")
    words = {word.lower() for word in english.get_english_words_set(["web2", "gcide"], alpha=True, lower=True)}
    packed = resources.files("spellchecker").joinpath("resources", "en.json.gz").read_bytes()
    words |= {word.lower() for word in json.loads(gzip.decompress(packed))}
    return sorted(word for word in words if pattern.fullmatch(word))


def main(options: Namespace) -> None:
    """Write the list."""
    words = spelled()
    TARGET.write_text("\n".join(words) + "\n", encoding="ascii")
    print(f"{len(words)} words in {TARGET}")
