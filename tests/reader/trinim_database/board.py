"""Boards: cells, moves, symmetries, and positions as text.

A position is a whole number, the mask of the cells that hold a piece. On a triangle, cell (r, c)
has the index r (r + 1) / 2 + c; on a board that is data, cells have the order of the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trinim_database.errors import Damaged, Unsupported

Masks = NDArray[np.uint64]
MOST_SYMMETRIES = 10_000
"""Boards with more, which are products of boards with few lines, are not read."""
WHOLE_GROUP = 48
"""On boards with more symmetries, the program uses some of them, and no file says which."""


def index(row: int, column: int) -> int:
    """The index of a cell."""
    return row * (row + 1) // 2 + column


@dataclass(frozen=True)
class Board:
    """A triangle of `layers`, whose moves take at most `max_take` pieces."""

    layers: int
    max_take: int | None = None

    @property
    def cells(self) -> int:
        """The number of cells."""
        return self.layers * (self.layers + 1) // 2

    @property
    def full(self) -> int:
        """The position with a piece on every cell."""
        return (1 << self.cells) - 1

    @cached_property
    def moves(self) -> tuple[int, ...]:
        """All moves as masks of the pieces they take, ascending."""
        found = set()
        for row, column in self._places():
            for down, right in ((0, 1), (1, 0), (1, 1)):
                taken = 0
                for step in range(min(self.max_take or self.layers, self.layers)):
                    r, c = row + step * down, column + step * right
                    if r >= self.layers or c > r:
                        break
                    taken |= 1 << index(r, c)
                    found.add(taken)
        return tuple(sorted(found))

    @property
    def first_moves(self) -> tuple[int, ...]:
        """The positions after one move."""
        return tuple(self.full ^ taken for taken in self.moves)

    @cached_property
    def symmetries(self) -> tuple[tuple[int, ...], ...]:
        """The symmetries as images of the cells: cell i goes to cell image[i]; identity first."""
        found: list[tuple[int, ...]] = []
        for order in permutations(range(3)):
            image = []
            for row, column in self._places():
                distances = (column, row - column, self.layers - 1 - row)
                left, right = distances[order[0]], distances[order[1]]
                image.append(index(left + right, left))
            if tuple(image) not in found:
                found.append(tuple(image))
        return tuple(found)

    @property
    def has_whole_group(self) -> bool:
        """Whether the program uses all symmetries, so that it is known what is canonical."""
        return len(self.symmetries) <= WHOLE_GROUP

    def need_whole_group(self) -> None:
        """Raises `Unsupported` if it is not known what is canonical."""
        if not self.has_whole_group:
            raise Unsupported(f"the board has more than {WHOLE_GROUP} symmetries, and no file says "
                              "which of them the program used")

    @property
    def numbered(self) -> tuple[tuple[int, ...], ...]:
        """The symmetries in the order in which logs number them."""
        if len(self.symmetries) < 6:
            return self.symmetries
        return tuple(self.symmetries[at] for at in (0, 4, 3, 2, 1, 5))

    def _places(self) -> list[tuple[int, int]]:
        return [(row, column) for row in range(self.layers) for column in range(row + 1)]

    def images(self, positions: Masks) -> list[Masks]:
        """The images of positions under each symmetry."""
        return [permute(positions, image) for image in self.symmetries]

    def canonical(self, positions: Masks) -> Masks:
        """The images of positions with the smallest mask of empty cells."""
        first: Masks = np.max(np.stack(self.images(positions)), axis=0)
        return first

    def orbit_sizes(self, positions: Masks) -> NDArray[np.int_]:
        """How many different images each position has."""
        fixing = sum((image == positions).astype(np.int_) for image in self.images(positions))
        sizes: NDArray[np.int_] = len(self.symmetries) // np.maximum(fixing, 1)
        return sizes

    def rows(self, position: int) -> str:
        """The position as rows from the apex, like 1/11/101."""
        bits = [str(position >> cell & 1) for cell in range(self.cells)]
        return "/".join(
            "".join(bits[index(row, 0) : index(row + 1, 0)]) for row in range(self.layers)
        )

    def parse(self, text: str) -> int:
        """The position written as rows, or as a mask like 0x2f."""
        if text.startswith("0x"):
            position = int(text[2:], 16)
        else:
            rows = text.split("/")
            if [len(row) for row in rows] != list(range(1, self.layers + 1)):
                raise ValueError(f"{text!r}: expected {self.layers} rows like 1/11/101")
            cells = "".join(rows)
            if set(cells) - set("01"):
                raise ValueError(f"{text!r}: expected 0 and 1")
            position = sum(1 << cell for cell, bit in enumerate(cells) if bit == "1")
        if position > self.full:
            raise ValueError(f"{text!r} has pieces outside the board")
        return position


@dataclass(frozen=True)
class DataBoard(Board):
    """A board that is data: `cells` of them, and the masks of the moves, ascending."""

    layers: int = 0
    count: int = 0
    taken: tuple[int, ...] = ()
    name: str = ""

    @classmethod
    def read(cls, data: dict[str, Any]) -> DataBoard:
        """The board of a manifest, or of the parameters of a run."""
        count = len(data["cells"])
        taken = tuple(mask_of(move) for move in data["moves"])
        if not taken or list(taken) != sorted(set(taken)) or taken[0] == 0 or taken[-1] >> count:
            raise Damaged("the moves of the board are not in order, or not on its cells")
        return cls(0, None, count, taken, data["name"])

    @property
    def cells(self) -> int:
        return self.count

    @property
    def moves(self) -> tuple[int, ...]:
        return self.taken

    @cached_property
    def symmetries(self) -> tuple[tuple[int, ...], ...]:
        """All permutations of the cells that take moves to moves, the identity first."""
        found = []
        for image in self._extend([]):
            found.append(image)
            if len(found) > MOST_SYMMETRIES:
                raise Unsupported(f"board {self.name} has more than {MOST_SYMMETRIES} symmetries")
        return tuple(found)

    @property
    def numbered(self) -> tuple[tuple[int, ...], ...]:
        return self.symmetries

    def _extend(self, image: list[int]) -> Iterator[tuple[int, ...]]:
        """The symmetries that begin with these images of the first cells, in order."""
        at = len(image)
        if at == self.count:
            yield tuple(image)
            return
        for cell in range(self.count):
            if cell not in image and self._kinds[cell] == self._kinds[at]:
                if self._fits([*image, cell]):
                    yield from self._extend([*image, cell])

    def _fits(self, image: list[int]) -> bool:
        """Whether the moves within the first cells become those within their images."""
        to = sum(1 << cell for cell in image)
        first = 1 << len(image) - 1
        inner = [move for move in self.taken if move < 2 * first and move & first]
        turned = {sum(1 << image[cell] for cell in cells(move)) for move in inner}
        last = 1 << image[-1]
        return turned == {move for move in self.taken if not move & ~to and move & last}

    @cached_property
    def _kinds(self) -> list[list[int]]:
        """The sizes of the moves through each cell: equal for images."""
        return [
            sorted(move.bit_count() for move in self.taken if move >> cell & 1)
            for cell in range(self.count)
        ]

    def rows(self, position: int) -> str:
        """The position as a mask."""
        return hex(position)

    def parse(self, text: str) -> int:
        position = int(text, 16)
        if not 0 <= position <= self.full:
            raise ValueError(f"{text!r} has pieces outside the board")
        return position


def cells(mask: int) -> list[int]:
    """The cells of a mask, ascending."""
    return [cell for cell in range(mask.bit_length()) if mask >> cell & 1]


def mask_of(cells: Sequence[int]) -> int:
    """The mask of the cells of a move."""
    if len(set(cells)) != len(cells):
        raise Damaged(f"a move has a cell twice: {cells}")
    return sum(1 << cell for cell in cells)


def permute(masks: Masks, image: Sequence[int]) -> Masks:
    """Moves bit i of each mask to bit image[i]; other bits are lost."""
    out = np.zeros_like(masks)
    for octet, table in enumerate(_tables(tuple(image))):
        # NumPy takes indices that are signed without a copy.
        out |= table[masks.view(np.int64) >> 8 * octet & 0xFF]
    return out


@lru_cache(1 << 10)
def _tables(image: tuple[int, ...]) -> list[Masks]:
    """For each octet of a mask, what becomes of its 256 values."""
    values = np.arange(256)
    tables = []
    for low in range(0, len(image), 8):
        table = np.zeros(256, np.uint64)
        for bit, to in enumerate(image[low : low + 8]):
            table[values >> bit & 1 == 1] |= np.uint64(1 << to)
        tables.append(table)
    return tables


def distinct(masks: Masks) -> Masks:
    """Masks ascending, each once. The hashes of numpy.unique take ten times as long here."""
    ascending: Masks = np.sort(masks)
    new = np.ones(len(masks), np.bool_)
    new[1:] = ascending[1:] != ascending[:-1]
    return ascending[new]
