"""The rule that finds the answer in a model's reply. Every `--format eval` export contains a copy of this file.

1. If the reply contains "answer:", only the text after the last one counts.
2. Unicode is normalized (NFKC), upper and lower case are equal, runs of white space are one space, and white space,
   quotation marks, brackets, asterisks and punctuation at both ends are removed.
3. The answer is the option whose text, treated as in 2, equals the rest.
4. If the options are listed with letters, the letter of an option also stands for it, alone or followed by `.`, `)` or
   `:` and the text of the option.
5. Everything else is invalid, and an invalid answer is wrong. Nothing is searched for inside a sentence.
6. Only the last 4,000 characters of a reply are read; before them, "answer:" does not count. A longer reply without it
   there is invalid, and so is one of more than a million characters.

Version 2: version 1 has no rule 6. Uses the standard library only.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

VERSION = 2
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ENDS = " \t\n\r*_`'\"\u2018\u2019\u201c\u201d()[]{}<>.,:;!?"
_MOST, _TAIL = 1_000_000, 4_000
_ANSWER = re.compile(r"answer\s*(?:is\s*)?:", re.IGNORECASE)


def normalized(text: str) -> str:
    """Return a text as rule 2 compares it."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(_ENDS)


def answer_of(reply: str, options: Sequence[str], lettered: bool = False) -> str:
    """Return the option that a reply gives, "" if it is invalid.

    Args:
        lettered: the options are listed as `A. first`, `B. second`, ...
    """
    before, *after = _ANSWER.split(reply[-_TAIL:])
    found = normalized(after[-1] if after else before)
    if not found or len(reply) > (_MOST if after else _TAIL):
        return ""
    texts = {normalized(option): option for option in reversed(options)}
    if found in texts or not lettered:
        return texts.get(found, "")
    letter, rest = found[:1].upper(), found[1:].lstrip()
    number = LETTERS.find(letter) if letter else -1
    if not 0 <= number < len(options):
        return ""
    text = normalized(rest[1:]) if rest[:1] in (".", ")", ":") else rest
    return options[number] if text in ("", normalized(options[number])) and (not rest or rest[0] in ".):") else ""
