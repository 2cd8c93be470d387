"""Block files: header, index, frames."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xxhash
from numpy.typing import NDArray

from trinim_database import rows
from trinim_database.errors import Damaged

HEADER = 64
ROW = 24
VERSION = 1
FRAME_WORDS = 1 << 17
Words = NDArray[np.uint64]
CACHED_FRAMES = 32


@dataclass(frozen=True)
class _Row:
    offset: int
    length: int
    codec: int
    hash: int


class Blocks:
    """The block files of a database."""

    def __init__(self, folder: Path, identity: int, stream_words: int) -> None:
        self.folder = folder
        self.identity = identity
        self.stream_words = stream_words
        self._indexes: dict[int, list[_Row]] = {}
        self._cache: OrderedDict[tuple[int, int], Words] = OrderedDict()

    @property
    def frames(self) -> int:
        """The frames of each block."""
        return -(-self.stream_words // FRAME_WORDS)

    def frame(self, ordinal: int, number: int) -> Words:
        """The words of a frame, whose hash is checked."""
        key = (ordinal, number)
        if key in self._cache:
            self._cache.move_to_end(key)
            return self._cache[key]
        path = self.path(ordinal)
        row = self._index(ordinal)[number]
        with path.open("rb") as file:
            file.seek(row.offset)
            stored = file.read(row.length)
        if len(stored) != row.length or xxhash.xxh3_64_intdigest(stored) != row.hash:
            raise Damaged(f"{path}: the hash of frame {number} is wrong")
        size = min(FRAME_WORDS, self.stream_words - number * FRAME_WORDS)
        try:
            decoded = rows.decode_published(row.codec, stored, size)
        except Damaged as error:
            raise Damaged(f"{path}: frame {number}: {error}") from error
        self._cache[key] = decoded
        if len(self._cache) > CACHED_FRAMES:
            self._cache.popitem(last=False)
        return decoded

    def parts(self, ordinal: int, first: int, end: int) -> Iterator[tuple[int, Words]]:
        """The words from `first` to `end`, at most a frame at a time, each with its first word."""
        while first < end:
            number, skip = divmod(first, FRAME_WORDS)
            part = self.frame(ordinal, number)[skip : skip + end - first]
            yield first, part
            first += len(part)

    def bit(self, ordinal: int, offset: int) -> bool:
        """Whether the position at an offset is a loss."""
        number, word = divmod(offset // 64, FRAME_WORDS)
        return bool(int(self.frame(ordinal, number)[word]) >> (offset % 64) & 1)

    def bitmap(self, ordinal: int) -> Words:
        """All words of a block."""
        return np.concatenate([self.frame(ordinal, number) for number in range(self.frames)])

    def path(self, ordinal: int) -> Path:
        return self.folder / f"{ordinal:06}.blk"

    def _index(self, ordinal: int) -> list[_Row]:
        if ordinal not in self._indexes:
            self._indexes[ordinal] = self._read_index(ordinal)
        return self._indexes[ordinal]

    def _read_index(self, ordinal: int) -> list[_Row]:
        path = self.path(ordinal)
        size = path.stat().st_size
        with path.open("rb") as file:
            header = file.read(HEADER)
            if len(header) < HEADER or header[:8] != b"TRINIMBK":
                raise Damaged(f"{path} is no block file")
            if xxhash.xxh3_64_intdigest(header[:56]) != int.from_bytes(header[56:], "little"):
                raise Damaged(f"{path}: the hash of the header is wrong")
            version, found = np.frombuffer(header[8:16], "<u4").tolist()
            stream_words = int.from_bytes(header[16:24], "little")
            frame_words, frames = np.frombuffer(header[24:32], "<u4").tolist()
            expected = (VERSION, ordinal, self.stream_words)
            if (version, found, stream_words) != expected or frame_words != FRAME_WORDS:
                raise Damaged(f"{path} has version, block, words {(version, found, stream_words)}, "
                              f"expected {expected}")
            if int.from_bytes(header[32:40], "little") != self.identity:
                raise Damaged(f"{path} belongs to another board, rule or layout")
            if header[48:56] != bytes(8):
                raise Damaged(f"{path}: bytes of the header that should be 0 are not")
            if frames != self.frames:
                raise Damaged(f"{path} has {frames} frames, expected {self.frames}")
            index = file.read(ROW * frames)
        if xxhash.xxh3_64_intdigest(index) != int.from_bytes(header[40:48], "little"):
            raise Damaged(f"{path}: the hash of the index is wrong")
        table = []
        at = HEADER + ROW * frames
        for offset, length, digest in np.frombuffer(index, "<u8").reshape(-1, 3).tolist():
            codec = length >> 56
            length &= (1 << 56) - 1
            if offset != at:
                raise Damaged(f"{path}: the frames are not contiguous")
            at += length
            table.append(_Row(offset, length, codec, digest))
        if at != size:
            raise Damaged(f"{path} has {size} bytes, expected {at}")
        return table


def set_bits(words: Words) -> Words:
    """The numbers of the bits that are 1, ascending: bit x is in word x / 64."""
    octets = words.astype("<u8").view(np.uint8)
    return np.flatnonzero(np.unpackbits(octets, bitorder="little")).astype(np.uint64)
