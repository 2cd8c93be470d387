"""How a board is cut into blocks, and the lines that name a game and its layout."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trinim_database.board import Board, Masks, permute


@dataclass(frozen=True)
class Layout:
    """The cells whose bits make the number of a block, and those that make the offset in it."""

    board: Board
    bid_cells: tuple[int, ...]
    offset_cells: tuple[int, ...]

    @cached_property
    def symmetries(self) -> list[tuple[int, ...]]:
        """The symmetries of the board that keep the set of BID cells."""
        return [
            image for image in self.board.symmetries
            if {image[cell] for cell in self.bid_cells} == set(self.bid_cells)
        ]

    @property
    def size(self) -> int:
        """The number of positions of a block."""
        return 1 << len(self.offset_cells)

    @property
    def words(self) -> int:
        """The words of a bitmap."""
        return max(8, self.size // 64)

    def join(self, bid: int) -> int:
        """The pieces on BID cells of a block."""
        return sum(1 << cell for bit, cell in enumerate(self.bid_cells) if bid >> bit & 1)

    def bid(self, position: int) -> int:
        """The number of the block of a position."""
        return sum(1 << bit for bit, cell in enumerate(self.bid_cells) if position >> cell & 1)

    def offset(self, position: int) -> int:
        """The offset of a position in its block."""
        return sum(1 << bit for bit, cell in enumerate(self.offset_cells) if position >> cell & 1)

    def positions(self, bid: int, offsets: Masks) -> Masks:
        """The positions at offsets of a block."""
        return permute(offsets, self.offset_cells) | np.uint64(self.join(bid))

    def smallest_images(self) -> Masks:
        """For each block the smallest one that a symmetry takes it to."""
        bids = np.arange(1 << len(self.bid_cells), dtype=np.uint64)
        smallest = bids
        for turned in {
            tuple(self.bid_cells.index(image[cell]) for cell in self.bid_cells)
            for image in self.symmetries
        }:
            smallest = np.minimum(smallest, permute(bids, turned))
        return smallest

    def canonical_bids(self) -> list[int]:
        """The numbers of the canonical blocks, ascending."""
        smallest = self.smallest_images()
        bids = np.arange(len(smallest), dtype=np.uint64)
        return [int(bid) for bid in np.flatnonzero(smallest == bids)]

    def leading(self, bid: int) -> dict[int, tuple[int, ...]]:
        """The blocks that symmetries take a block to, each with the first that does."""
        found: dict[int, tuple[int, ...]] = {}
        block = np.array([self.join(bid)], np.uint64)
        for image in self.symmetries:
            found.setdefault(self.bid(int(permute(block, image)[0])), image)
        return found

    def places(self, position: int) -> list[tuple[int, int]]:
        """The block and offset of each image of a position, ascending."""
        mask = np.array([position], np.uint64)
        images = {int(permute(mask, image)[0]) for image in self.symmetries}
        return sorted((self.bid(image), self.offset(image)) for image in images)


def game_lines(layers: int, board: str | None, rule: str, max_take: int | None) -> list[str]:
    """The lines of digests that name a board and its rule; `board` is data without white space."""
    if board is not None:
        return [f"board={board}", f"rule={rule}"]
    return [f"layers={layers}", f"rule={rule}", f"max-take={max_take or 'none'}"]


PLANES = {"nimbers": 1, "remoteness": 2}
"""Planes of a block beyond one for each cell, by the values that have several."""


def layout_lines(bid_cells: Iterable[int], offset_cells: Iterable[int], values: str) -> list[str]:
    """The lines of digests that follow: the layout and the values."""
    lines = [
        "bid-cells=" + ",".join(map(str, bid_cells)),
        "offset-cells=" + ",".join(map(str, offset_cells)),
    ]
    return [*lines, f"values={values}"] if values in PLANES else lines


def text(lines: Iterable[str]) -> bytes:
    """Lines, each ended."""
    return "".join(line + "\n" for line in lines).encode()
