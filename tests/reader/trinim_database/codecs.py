"""Frames of logs: all codecs. Those of block files are in `rows`."""

from __future__ import annotations

import numpy as np
import zstandard
from numpy.typing import NDArray

from trinim_database import rows
from trinim_database.errors import Damaged

Words = NDArray[np.uint64]


def decode(codec: int, stored: bytes, words: int) -> Words:
    """The words of a frame of `words` words."""
    if codec == 2:
        return np.frombuffer(_zstd(stored, words * 8), "<u8").astype(np.uint64)
    if codec == 7:
        return _numbered_rows(stored, words)
    return rows.decode(codec, stored, words)


def _zstd(stored: bytes, length: int) -> bytes:
    """One zstd frame of so many bytes."""
    try:
        reader = zstandard.ZstdDecompressor().decompressobj()
        found = reader.decompress(stored)
    except zstandard.ZstdError as error:
        raise Damaged(f"a zstd frame: {error}") from error
    if not reader.eof or reader.unused_data or len(found) != length:
        raise Damaged(f"a zstd frame has {len(found)} bytes or more after it, expected {length}")
    return found


def _numbered_rows(stored: bytes, words: int) -> Words:
    reader = rows.Reader(stored)
    count, rest = divmod(words, 8)
    distinct = reader.number(4)
    numbers = np.frombuffer(reader.take(2 * count), "<u2").astype(np.int64)
    masks = np.frombuffer(reader.take(8 * distinct), np.uint8)
    present = np.unpackbits(masks, bitorder="little")
    octets = np.zeros(64 * distinct, np.uint8)
    octets[present == 1] = given = np.frombuffer(reader.take(int(present.sum())), np.uint8)
    table = octets.view("<u8")
    tail = np.frombuffer(reader.take(8 * rest), "<u8")
    reader.end()
    if count and int(numbers.max()) >= distinct:
        raise Damaged("a row has a number that no distinct row has")
    decoded = table.reshape(-1, 8)[numbers].reshape(-1)
    # The first of equal rows has the next number.
    first = rows.links_of(decoded) == 0
    if not given.all() or not np.array_equal(numbers[first], np.arange(distinct)):
        raise Damaged("distinct rows are not distinct, not in order, or have bytes that are 0")
    return np.concatenate([decoded, tail]).astype(np.uint64)
