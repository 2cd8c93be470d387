"""A database folder: values, moves, losses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from trinim_database.blocks import FRAME_WORDS, Blocks
from trinim_database.board import Board, Masks, permute
from trinim_database.book import Book
from trinim_database.errors import Damaged, DatabaseError, NotKept, Unsupported

SCHEMA = "trinim.database/1"
CLASS = np.dtype([("position", "<u8"), ("orbit_size", "u1")])


@dataclass(frozen=True)
class Move:
    """A legal move: the pieces taken, the position after it, its value for the next player."""

    taken: int
    position: int
    value: str | None
    """`win`, `loss`, or None if it was not kept."""


class Database:
    """An open database: a folder of a finished solve, or its `db`."""

    def __init__(self, folder: str | Path) -> None:
        folder = Path(folder)
        self.folder = folder / "db" if (folder / "db").is_dir() else folder
        path = self.folder / "manifest.json"
        if not path.is_file() or not (self.folder / "SUMS").is_file():
            raise DatabaseError(f"{folder} holds no finished database")
        try:
            self.manifest: dict[str, Any] = json.loads(path.read_text("utf-8"))
            # Programs from before the first release wrote `format` and `version`.
            schema = "format" if "format" in self.manifest else self.manifest["schema"]
            if schema != SCHEMA:
                raise Unsupported(f"{path} has another format or version: {schema}")
            if "by_nimber" in self.manifest:
                raise Unsupported(f"{path}: the values are nimbers")
            layers = self.manifest.get("layers")
            if not isinstance(layers, int) or not 1 <= layers <= 10:
                raise Unsupported(f"{path}: the board is no triangle of 1 to 10 layers")
            self.board = Board(layers, self.manifest["max_take"])
            self.rule: str = self.manifest["rule"]
            self.keep: str = self.manifest["keep"]
            self._bid_cells: list[int] = self.manifest["bid_cells"]
            self._offset_cells: list[int] = self.manifest["offset_cells"]
            self._bids: list[int] = [block["bid"] for block in self.manifest["blocks"]]
            self._counts: list[dict[str, int]] = self.manifest["by_pieces"]
        except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError) as error:
            raise Damaged(f"{path}: {error!r}") from error
        if sorted(self._bid_cells + self._offset_cells) != list(range(self.board.cells)):
            raise Damaged(f"{path}: the cells are not those of the board")
        self._ordinals = {bid: ordinal for ordinal, bid in enumerate(self._bids)}
        # Symmetries that keep the set of BID cells, as images of BID bits and of offset bits.
        self._symmetries = [
            image for image in self.board.symmetries
            if {image[cell] for cell in self._bid_cells} == set(self._bid_cells)
        ]
        self._blocks: Blocks | None = None
        self._book: Book | None = None
        if self.keep == "database":
            words = max(8, (1 << len(self._offset_cells)) // 64)
            identity = xxhash.xxh3_64_intdigest(self._lines(5))
            self._blocks = Blocks(self.folder, identity, words)
        elif self.keep.startswith("book:"):
            pieces = int(self.keep.removeprefix("book:"))
            identity = xxhash.xxh3_64_intdigest(self._lines(3))
            self._book = Book(self.folder / "book", self.board, pieces, identity)

    def _lines(self, number: int) -> bytes:
        """The first lines of the digest after its title, which identify a game."""
        take = self.board.max_take
        lines = [
            f"layers={self.board.layers}",
            f"rule={self.rule}",
            f"max-take={'none' if take is None else take}",
            "bid-cells=" + ",".join(map(str, self._bid_cells)),
            "offset-cells=" + ",".join(map(str, self._offset_cells)),
        ]
        return "".join(line + "\n" for line in lines[:number]).encode()

    def losses_listed(self) -> int:
        """The losses of the whole board, from the census."""
        return sum(row["losses"] for row in self._counts)

    def value(self, position: int) -> str:
        """`win` or `loss`: the value of a position for the player to move."""
        return "loss" if self.is_loss(position) else "win"

    def is_loss(self, position: int) -> bool:
        """Whether the player to move loses."""
        if not 0 <= position <= self.board.full:
            raise ValueError(f"position {position:#x} has pieces outside the board")
        if self._blocks:
            ordinal, offset = self.locate(position)
            return self._blocks.bit(ordinal, offset)
        winning = [sum(1 << cell for cell in move) for move in self.manifest["winning_first_moves"]]
        taken = self.board.full ^ position
        if taken == 0:
            return not winning and not self._empty_wins(position)
        if taken in self.board.moves:
            return taken in winning
        if self._book and position.bit_count() >= self._book.pieces:
            return self._book.is_loss(position)
        raise NotKept(f"{self.folder} keeps {self.keep}, not the value of {position:#x}")

    def _empty_wins(self, position: int) -> bool:
        return position == 0 and self.rule == "misere"

    def locate(self, position: int) -> tuple[int, int]:
        """The canonical block and the offset where the value of a position is stored.

        Each symmetry of the layout takes the block of the position to a block; the smallest number
        among these is that of the canonical block. If several symmetries lead there, any will do:
        images have equal values. This takes the smallest offset.
        """
        mask = np.array([position], np.uint64)
        places = []
        for image in self._symmetries:
            turned = int(permute(mask, image)[0])
            bid = sum(1 << bit for bit, cell in enumerate(self._bid_cells) if turned >> cell & 1)
            offset = sum(
                1 << bit for bit, cell in enumerate(self._offset_cells) if turned >> cell & 1
            )
            places.append((bid, offset))
        bid, offset = min(places)
        if bid not in self._ordinals:
            raise Damaged(f"{self.folder / 'manifest.json'}: block {bid} is missing")
        return self._ordinals[bid], offset

    def moves(self, position: int) -> list[Move]:
        """All legal moves, winning ones first, then by the mask of the pieces taken."""
        found = []
        for taken in self.board.moves:
            if position & taken == taken:
                try:
                    value: str | None = self.value(position ^ taken)
                except NotKept:
                    value = None
                found.append(Move(taken, position ^ taken, value))
        return sorted(found, key=lambda move: (move.value != "loss", move.taken))

    def winning_moves(self, position: int) -> list[Move]:
        """The moves to a loss of the opponent."""
        return [move for move in self.moves(position) if move.value == "loss"]

    def losses(self) -> Masks:
        """All losses that are kept, as sorted masks: 8 bytes each in memory."""
        parts = list(self.losses_by_block())
        return np.sort(np.concatenate(parts)) if parts else np.zeros(0, np.uint64)

    def losses_by_block(self) -> Iterator[Masks]:
        """All losses that are kept, a part at a time; images included, each position once."""
        if self._book:
            for positions in self._of_book(self._book):
                images = np.stack(self.board.images(positions), axis=1)
                yield np.unique(images.reshape(-1))
            return
        for _, bid, positions in self._stored():
            seen = set()
            for image in self._symmetries:
                # The image of the whole block, once for each block that it leads to.
                block = np.array([self._join(bid)], np.uint64)
                to = int(permute(block, image)[0])
                if to not in seen:
                    seen.add(to)
                    yield permute(positions, image)

    def canonical_losses(self) -> NDArray[np.void]:
        """The canonical loss of each class of images, and the size of the class; sorted."""
        parts = []
        if self._book:
            parts = list(self._of_book(self._book))
        else:
            for _, _, positions in self._stored():
                parts.append(np.max(np.stack(self.board.images(positions), axis=1), axis=1))
        positions = np.unique(np.concatenate(parts)) if parts else np.zeros(0, np.uint64)
        fixing = sum((image == positions).astype(int) for image in self.board.images(positions))
        classes = np.zeros(len(positions), CLASS)
        classes["position"] = positions
        classes["orbit_size"] = len(self.board.symmetries) // np.maximum(fixing, 1)
        return classes

    def _of_book(self, book: Book) -> Iterator[Masks]:
        for frame in range(book.frames):
            numbers = book.numbers(frame).tolist()
            yield np.array([book.position(number) for number in numbers], np.uint64)

    def _join(self, bid: int) -> int:
        return sum(1 << cell for bit, cell in enumerate(self._bid_cells) if bid >> bit & 1)

    def _stored(self) -> Iterator[tuple[int, int, Masks]]:
        """The losses of each stored frame: ordinal, block number, positions."""
        if not self._blocks:
            raise NotKept(f"{self.folder} keeps {self.keep}, no list of losses")
        size = 1 << len(self._offset_cells)
        for ordinal, bid in enumerate(self._bids):
            for frame in range(self._blocks.frames):
                words = self._blocks.frame(ordinal, frame)
                first = frame * FRAME_WORDS * 64
                octets = words.astype("<u8").view(np.uint8)
                places = np.flatnonzero(np.unpackbits(octets, bitorder="little")) + first
                offsets = places[places < size].astype(np.uint64)
                yield ordinal, bid, permute(offsets, self._offset_cells) | np.uint64(self._join(bid))
