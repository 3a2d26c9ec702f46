"""Which filters describe the objects of an image: sets by their values, and objects that they identify."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import combinations

from diorama.scene_specs.questions.program import QUERIED
from diorama.scene_specs.questions.view import ImageView

Filters = Sequence[tuple[str, str]]


class Descriptions:
    """Sets of filters, and the objects of an image that they describe. Sets of objects are bits."""

    def __init__(self, view: ImageView) -> None:
        self._view, self._everything = view, (1 << len(view.objects)) - 1
        self._minimal: dict[tuple[int, int], list[tuple[tuple[str, str], ...]]] = {}

    @cached_property
    def nouns(self) -> list[tuple[Filters, int]]:
        """Sets by up to two filters that are both needed, with their members."""
        pairs = [(name, value) for name in QUERIED for value in self._view.value_bits[name]]
        sets = [some for size in range(3) for some in combinations(pairs, size)]
        found = [(some, self.having(self._everything, some)) for some in sets]
        return [(some, bits) for some, bits in found if bits and len(self.needed(self._everything, some)) == len(some)]

    def having(self, bits: int, filters: Iterable[tuple[str, str]]) -> int:
        """The members of a set that pass filters."""
        for name, value in filters:
            bits &= self._view.value_bits[name].get(value, 0)
        return bits

    def needed(self, bits: int, filters: Filters) -> list[tuple[str, str]]:
        """The filters without those that make no difference."""
        kept = [*filters]
        for one in filters:
            others = [other for other in kept if other != one]
            if self.having(bits, others) == self.having(bits, kept):
                kept = others
        return kept

    def identifying(self, target: int, bits: int) -> list[tuple[tuple[str, str], ...]]:
        """The sets of filters that only this object of a set passes and none of which can be left out."""
        key = (target, bits)
        if key not in self._minimal:
            found = self._minimal[key] = []
            pairs = [(name, v) for name in QUERIED if (v := self._view.objects[target].values[name]) is not None]
            for size in range(len(pairs) + 1):
                for chosen in combinations(pairs, size):
                    if self.having(bits, chosen) == 1 << target and not any({*less} <= {*chosen} for less in found):
                        found.append(chosen)
        return self._minimal[key]
