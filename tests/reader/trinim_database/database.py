"""A database folder: values, moves, losses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import blake3
import numpy as np
import xxhash
import zstandard
from numpy.typing import NDArray

from trinim_database.blocks import Blocks, set_bits
from trinim_database.board import Board, DataBoard, Masks, distinct, mask_of, permute
from trinim_database.book import Book
from trinim_database.errors import Damaged, DatabaseError, NotKept, Unsupported
from trinim_database.layout import PLANES, Layout, game_lines, layout_lines, text

SCHEMA = "trinim.database/1"
KEEP = re.compile("database|counts|book:(0|[1-9][0-9]*)")
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
        if not any(
            (self.folder / name).is_file() for name in ("manifest.json", "manifest.json.zst")
        ) or not (self.folder / "SUMS").is_file():
            raise DatabaseError(f"{folder} contains no finished database")
        try:
            manifest = whole(path).decode()
            self.manifest: dict[str, Any] = json.loads(manifest)
            # Programs from before the first release wrote `format` and `version`.
            schema = "format" if "format" in self.manifest else self.manifest["schema"]
            if schema != SCHEMA:
                raise Unsupported(f"{path} has another format or version: {schema}")
            self.rule: str = self.manifest["rule"]
            self.keep: str = self.manifest["keep"]
            if self.rule not in ("normal", "misere") or not KEEP.fullmatch(self.keep):
                raise ValueError(f"rule {self.rule}, keep {self.keep}")
            self.planes = 1
            self._bids: list[int] = [block["bid"] for block in self.manifest["blocks"]]
            self._counts: list[dict[str, int]] = self.manifest["by_pieces"]
            self._read_board(path, manifest)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Damaged(f"{path}: {error!r}") from error
        if self.values in PLANES:
            self.planes = self.board.cells + PLANES[self.values]
        self._ordinals = {bid: ordinal for ordinal, bid in enumerate(self._bids)}
        self._blocks: Blocks | None = None
        self.book: Book | None = None
        if self.keep == "database":
            identity = xxhash.xxh3_64_intdigest(text(self._game + self._layout_lines))
            self._blocks = Blocks(self.folder, identity, self.layout.words * self.planes)
        elif self.keep != "counts":
            identity = xxhash.xxh3_64_intdigest(text(self._game))
            pieces = int(self.keep.removeprefix("book:"))
            self.book = Book(self.folder / "book", self.board, pieces, identity)

    def _read_board(self, path: Path, manifest: str) -> None:
        raw = None
        layers = 0
        if "board" in self.manifest:
            raw = board_text(manifest)
            self.board: Board = DataBoard.read(self.manifest["board"])
        else:
            layers = self.manifest["layers"]
            if not isinstance(layers, int) or not 1 <= layers <= 10:
                raise Unsupported(f"{path}: the board is no triangle of 1 to 10 layers")
            self.board = Board(layers, self.manifest["max_take"])
        bid_cells = tuple(self.manifest["bid_cells"])
        offset_cells = tuple(self.manifest["offset_cells"])
        if sorted(bid_cells + offset_cells) != list(range(self.board.cells)):
            raise Damaged(f"{path}: the cells are not those of the board")
        self.layout = Layout(self.board, bid_cells, offset_cells)
        self._game = game_lines(layers, raw, self.rule, self.manifest["max_take"])
        self._layout_lines = layout_lines(bid_cells, offset_cells, self.values)

    @property
    def values(self) -> str:
        """What each position has: outcomes, nimbers or remoteness."""
        names = {"by_nimber": "nimbers", "by_distance": "remoteness"}
        return next((name for key, name in names.items() if key in self.manifest), "outcomes")

    @property
    def first(self) -> int:
        """The plane of the number 0: distances come after the losses."""
        return 1 if self.values == "remoteness" else 0

    def digest_lines(self) -> bytes:
        """What the digest of the manifest begins with, before those of the blocks."""
        return b"trinim solution 1\n" + text(self._game + self._layout_lines)

    def values_digest(self) -> str:
        """The census digest, the same in every layout, from the counts of the manifest."""
        counts = [
            ("losses", self._counts, ("losses",)),
            ("nimbers", self.manifest.get("by_nimber"), ("positions",)),
            ("distances", self.manifest.get("by_distance"), ("wins", "losses")),
        ]
        lines = [
            f"{name}=" + ",".join(str(sum(row[key] for key in keys)) for row in rows)
            for name, rows, keys in counts
            if rows
        ]
        return blake3.blake3(b"trinim values 1\n" + text(self._game + lines)).hexdigest()

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
        taken = self.board.full ^ position
        if taken == 0:
            return not self.winning_first_moves
        if taken in self.board.moves:
            return taken in self.winning_first_moves
        if self.book and position.bit_count() >= self.book.pieces:
            return self.book.is_loss(position)
        raise NotKept(f"{self.folder} keeps {self.keep}, not the value of {position:#x}")

    @cached_property
    def winning_first_moves(self) -> list[int]:
        """The winning moves of the full board, of a database that does not keep all values."""
        winning = [mask_of(move) for move in self.manifest["winning_first_moves"]]
        if winning != sorted({*winning} & {*self.board.moves}):
            raise Damaged(f"{self.folder}: the winning first moves are not in order, or no moves")
        return winning

    def orbits(self) -> list[tuple[int, int]]:
        """For each stored block its smallest image, and the number of its images.

        Raises `Damaged` unless the blocks in the manifest are those that have to be stored. If the
        program uses only some of the symmetries, images of each other are among them.
        """
        path, layout, bids = self.folder / "manifest.json", self.layout, self._bids
        if len(bids) * len(layout.symmetries) < 1 << len(layout.bid_cells):
            raise Damaged(f"{path}: blocks are missing")
        smallest = layout.smallest_images().astype(np.int_)
        sizes = np.bincount(smallest)
        canonical = np.flatnonzero(sizes).tolist()
        if self.board.has_whole_group:
            is_right = bids == canonical
        else:
            is_right = bids == sorted({*bids}) and 0 <= bids[0] and bids[-1] < len(smallest)
            is_right = is_right and {*smallest[bids].tolist()} == {*canonical}
        if not is_right:
            raise Damaged(f"{path}: the blocks are not the canonical ones")
        found = smallest[bids]
        return list(zip(found.tolist(), sizes[found].tolist(), strict=True))

    def number(self, position: int) -> int:
        """The nimber of a position, or its distance to the end."""
        if self.values not in PLANES or not self._blocks:
            raise NotKept(f"{self.folder} has no nimbers or distances")
        if not 0 <= position <= self.board.full:
            raise ValueError(f"position {position:#x} has pieces outside the board")
        ordinal, offset = self.locate(position)
        plane = self.layout.words * 64
        for number in range(self.planes - self.first):
            if self._blocks.bit(ordinal, (self.first + number) * plane + offset):
                return number
        raise Damaged(f"{self.folder}: position {position:#x} has no number")

    def locate(self, position: int) -> tuple[int, int]:
        """The ordinal and the offset where the value of a position is stored.

        Each symmetry of the layout takes the block of the position to a block; the smallest number
        among these is that of the canonical block. If several symmetries lead there, any will do:
        images have equal values. This takes the smallest offset.
        """
        for bid, offset in self.layout.places(position):
            if bid in self._ordinals:
                return self._ordinals[bid], offset
        raise Damaged(f"{self.folder / 'manifest.json'}: the block of {position:#x} is missing")

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
        if self.book:
            self.board.need_whole_group()
            for frame in range(self.book.frames):
                yield distinct(np.concatenate(self.board.images(self.book.positions(frame))))
            return
        yield from self.plane_by_block(0)

    def with_number(self, number: int) -> Masks:
        """All positions with a nimber or distance, as sorted masks."""
        if self.values not in PLANES or not 0 <= number < self.planes - self.first:
            raise NotKept(f"{self.folder} has no positions of number {number}")
        return np.sort(np.concatenate(list(self.plane_by_block(self.first + number))))

    def plane_by_block(self, plane: int) -> Iterator[Masks]:
        """The positions of a plane, a part at a time; images included, each block once."""
        seen: set[int] = set()
        for ordinal, bid in enumerate(self._bids):
            leading = self.layout.leading(bid)
            new = [image for to, image in leading.items() if to not in seen]
            seen.update(leading)
            if new:
                for positions in self._stored(ordinal, plane):
                    for image in new:
                        yield permute(positions, image)

    def canonical_losses(self) -> NDArray[np.void]:
        """The canonical loss of each class of images, and the size of the class; sorted."""
        self.board.need_whole_group()
        if self.book:
            parts = [self.book.positions(frame) for frame in range(self.book.frames)]
        else:
            parts = [
                self.board.canonical(positions)
                for ordinal in range(len(self._bids))
                for positions in self._stored(ordinal, 0)
            ]
        positions = distinct(np.concatenate(parts)) if parts else np.zeros(0, np.uint64)
        classes = np.zeros(len(positions), CLASS)
        classes["position"] = positions
        classes["orbit_size"] = self.board.orbit_sizes(positions)
        return classes

    def bitmap(self, ordinal: int) -> NDArray[np.uint64]:
        """All words of a block."""
        if not self._blocks:
            raise NotKept(f"{self.folder} keeps {self.keep}, no blocks")
        return self._blocks.bitmap(ordinal)

    def _stored(self, ordinal: int, plane: int) -> Iterator[Masks]:
        """The positions whose bit is set in a plane of a block, a frame at a time."""
        if not self._blocks:
            raise NotKept(f"{self.folder} keeps {self.keep}, no list of losses")
        words = self.layout.words
        parts = self._blocks.parts(ordinal, plane * words, (plane + 1) * words)
        for first, part in parts:
            offsets = set_bits(part) + np.uint64((first - plane * words) * 64)
            if len(offsets) and int(offsets[-1]) >= self.layout.size:
                raise Damaged(f"{self.folder}: block {ordinal} has losses beyond its end")
            yield self.layout.positions(self._bids[ordinal], offsets)


def whole(path: Path) -> bytes:
    """The bytes of a file, which the databases built into the program have in one zstd frame."""
    packed = path.with_name(path.name + ".zst")
    if not packed.is_file():
        return path.read_bytes()
    try:
        return zstandard.ZstdDecompressor().decompressobj().decompress(packed.read_bytes())
    except zstandard.ZstdError as error:
        raise Damaged(f"{packed}: {error}") from error


def board_text(manifest: str) -> str:
    """The object `board` of a manifest without white space, its numbers as they are there."""
    at = manifest.index('"board":') + len('"board":')
    at += len(manifest[at:]) - len(manifest[at:].lstrip())
    _, end = json.JSONDecoder().raw_decode(manifest, at)
    return "".join(manifest[at:end].split())
