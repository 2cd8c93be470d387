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
    if codec in (2, 3):
        return np.frombuffer(_zstd(stored, words * 8), "<u8").astype(np.uint64)
    if codec == 4:
        return _gaps(stored, words)
    if codec in (5, 6, 7):
        return _numbered_rows(codec, stored, words)
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


def _gaps(stored: bytes, words: int) -> Words:
    gaps = np.frombuffer(_zstd(stored[4:], int.from_bytes(stored[:4], "little")), np.uint8)
    # A gap ends with a set bit, unless it is 255.
    ends = np.cumsum(gaps.astype(np.int64) + (gaps < 255))
    bits = np.zeros(words * 64, np.uint8)
    places = ends[gaps < 255] - 1
    if len(gaps) and (gaps[-1] == 255 or ends[-1] > len(bits)):
        raise Damaged("a gap string goes beyond its frame")
    bits[places] = 1
    return np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)


def _numbered_rows(codec: int, stored: bytes, words: int) -> Words:
    reader = rows.Reader(stored)
    count, rest = divmod(words, 8)
    distinct = reader.number(4)
    if codec == 6:
        halves = np.frombuffer(_zstd(reader.take(reader.number(4)), 2 * count), np.uint8)
        numbers = halves[:count] + (halves[count:].astype(np.int64) << 8)
        table = np.frombuffer(_zstd(reader.take(reader.number(4)), 64 * distinct), "<u8")
    else:
        numbers = np.frombuffer(reader.take(2 * count), "<u2").astype(np.int64)
        if codec == 5:
            table = np.frombuffer(reader.take(64 * distinct), "<u8")
        else:
            masks = np.frombuffer(reader.take(8 * distinct), np.uint8)
            present = np.unpackbits(masks, bitorder="little")
            octets = np.zeros(64 * distinct, np.uint8)
            octets[present == 1] = np.frombuffer(reader.take(int(present.sum())), np.uint8)
            table = octets.view("<u8")
    tail = np.frombuffer(reader.take(8 * rest), "<u8")
    reader.end()
    if count and int(numbers.max()) >= distinct:
        raise Damaged("a row has a number that no distinct row has")
    decoded = table.reshape(-1, 8)[numbers].reshape(-1)
    return np.concatenate([decoded, tail]).astype(np.uint64)
