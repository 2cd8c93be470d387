"""The book: the canonical losses with at least so many pieces."""

from __future__ import annotations

from math import comb
from pathlib import Path

import blake3
import numpy as np
import xxhash
import zstandard
from numpy.typing import NDArray

from trinim_database.board import Board, Masks
from trinim_database.errors import Damaged

HEADER = 128
FRAME_LOSSES = 65_536


class Book:
    """An open book."""

    def __init__(
        self, path: Path, board: Board, pieces: int, identity: int, part: int = 0
    ) -> None:
        self.path = path
        self.board = board
        self.pieces = pieces
        data = path.read_bytes()
        if len(data) < HEADER or data[:8] != b"TRINIMBO":
            raise Damaged(f"{path} is no book")
        if xxhash.xxh3_64_intdigest(data[:120]) != int.from_bytes(data[120:128], "little"):
            raise Damaged(f"{path}: the hash of the header is wrong")
        found = tuple(np.frombuffer(data[8:24], "<u4").tolist())
        if found != (1, part, pieces, board.cells):
            raise Damaged(f"{path} is of another version or board: {found}")
        game, losses, frames, at, digest = np.frombuffer(data[24:64], "<u8").tolist()
        index = data[at:]
        if game != identity or frames != -(-losses // FRAME_LOSSES) or len(index) != 32 * frames:
            raise Damaged(f"{path} belongs to another board or rule, or has another length")
        if xxhash.xxh3_64_intdigest(index) != digest:
            raise Damaged(f"{path}: the hash of the index is wrong")
        ends = np.frombuffer(index, "<u8").reshape(-1, 4)[:, 1:3].sum(axis=1).tolist()
        begins = np.frombuffer(index, "<u8").reshape(-1, 4)[:, 1].tolist()
        if [HEADER, *ends] != [*begins, at] or data[96:120] != bytes(24):
            raise Damaged(f"{path}: the frames are not contiguous, or unused bytes are not 0")
        self.losses = losses
        self._data = data
        self._index = np.frombuffer(index, "<u8").reshape(-1, 4)
        self._first = self._index[:, 0]
        self._cached: tuple[int, NDArray[np.uint64]] | None = None

    def number(self, position: int) -> int:
        """The number of a position: by empty cells, then by their mask."""
        cells = self.board.cells
        empty = [cell for cell in range(cells) if not position >> cell & 1]
        rank = sum(comb(cell, place) for place, cell in enumerate(empty, 1))
        return rank + sum(comb(cells, fewer) for fewer in range(len(empty)))

    def at(self, numbers: Masks) -> Masks:
        """The positions with these numbers, of which there is at least one."""
        cells = self.board.cells
        sizes = [comb(cells, empties) for empties in range(cells + 1)]
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint64)
        empties = np.searchsorted(first, numbers, side="right") - 1
        if empties.max() > cells:
            raise Damaged(f"{self.path} has a number beyond the last position")
        ranks = numbers - first[empties]
        positions = np.full(len(numbers), self.board.full, np.uint64)
        for place in range(int(empties.max()), 0, -1):
            binomials = np.array([comb(cell, place) for cell in range(cells)], np.uint64)
            chosen = np.flatnonzero(empties >= place)
            cell = np.searchsorted(binomials, ranks[chosen], side="right") - 1
            ranks[chosen] -= binomials[cell]
            positions[chosen] ^= np.uint64(1) << cell.astype(np.uint64)
        return positions

    def is_loss(self, position: int) -> bool:
        """Whether a position with enough pieces is a loss."""
        for image in {int(one[0]) for one in self.board.images(np.array([position], np.uint64))}:
            number = self.number(image)
            frame = int(np.searchsorted(self._first, number, side="right")) - 1
            if frame >= 0 and (self.numbers(frame) == number).any():
                return True
        return False

    def positions(self, frame: int) -> NDArray[np.uint64]:
        """The positions in a frame, by number."""
        return self.at(self.numbers(frame))

    def check(self) -> None:
        """Raises `Damaged` unless the numbers ascend and are those of the digest."""
        digest = blake3.blake3()
        last = -1
        for frame in range(self.frames):
            numbers = self.numbers(frame)
            if int(numbers[0]) <= last or (numbers[1:] <= numbers[:-1]).any():
                raise Damaged(f"{self.path}: the numbers of frame {frame} do not ascend")
            last = int(numbers[-1])
            digest.update(numbers.astype("<u8").tobytes())
        if digest.digest() != self._data[64:96]:
            raise Damaged(f"{self.path}: the digest of the numbers is wrong")

    @property
    def frames(self) -> int:
        """The number of frames."""
        return len(self._index)

    def numbers(self, frame: int) -> NDArray[np.uint64]:
        """The numbers in a frame, ascending."""
        if self._cached and self._cached[0] == frame:
            return self._cached[1]
        first, offset, length, digest = self._index[frame].tolist()
        stored = self._data[offset : offset + length]
        if xxhash.xxh3_64_intdigest(stored) != digest:
            raise Damaged(f"{self.path}: the hash of frame {frame} is wrong")
        count = min(FRAME_LOSSES, self.losses - frame * FRAME_LOSSES)
        try:
            raw = zstandard.ZstdDecompressor().decompress(
                stored, max_output_size=9 * count, allow_extra_data=False
            )
        except zstandard.ZstdError as error:
            raise Damaged(f"{self.path}: frame {frame}: {error}") from error
        groups = np.frombuffer(raw, np.uint8)
        # The last group of a difference has no 128; each group is worth 7 bits more than the last.
        ends = groups < 128
        if np.count_nonzero(ends) != count - 1 or (len(groups) and not ends[-1]):
            raise Damaged(f"{self.path}: frame {frame} has another number of losses")
        owner = np.concatenate([[0], np.cumsum(ends)[:-1]]) if len(groups) else np.zeros(0, int)
        begins = np.concatenate([[0], np.flatnonzero(ends)[:-1] + 1])
        place = np.arange(len(groups)) - begins[owner] if len(groups) else owner
        parts = (groups & 127).astype(np.uint64) << (7 * place).astype(np.uint64)
        steps = np.zeros(count, np.uint64)
        np.add.at(steps, owner + 1, parts)
        steps[1:] += np.uint64(1)
        steps[0] = first
        numbers = np.cumsum(steps, dtype=np.uint64)
        self._cached = (frame, numbers)
        return numbers
