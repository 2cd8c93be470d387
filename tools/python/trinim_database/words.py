"""Frames of block files of version 1: codes of words."""

from __future__ import annotations

import numpy as np
import zstandard
from numpy.typing import NDArray

from trinim_database.errors import Damaged

LONGEST = 40
HEAD = 24 + 4 * LONGEST


def decode(stored: bytes, words: int) -> NDArray[np.uint64]:
    """The words of a frame."""
    rows = words // 8
    if len(stored) < HEAD:
        raise Damaged("a frame ends early")
    numbers = np.frombuffer(stored[:HEAD], "<u4").astype(np.int64)
    found_rows, distinct, different, start_words, code_bits, planes_bytes = map(int, numbers[:6])
    lengths = numbers[6:]
    if found_rows != rows or distinct > rows or different > distinct * 8:
        raise Damaged("a frame of another size")
    if lengths.sum() != different:
        raise Damaged("a code for another number of words")
    parts = []
    at = HEAD
    sizes = (8 * -(-rows // 64), 8 * start_words, 4 * -(-distinct // 8), 8 * -(-code_bits // 64))
    for length in (*sizes, planes_bytes):
        parts.append(stored[at : at + length])
        at += length
    if at != len(stored):
        raise Damaged("a frame of another length than its parts")
    flags, starts, _, codes, planes = parts
    ids = _row_ids(flags, starts, rows, distinct)
    word = _words(planes, different)
    table = word[_symbols(codes, code_bits, distinct * 8, lengths)].reshape(-1, 8)
    return table[ids].reshape(-1)


def _bits(words: bytes) -> NDArray[np.uint8]:
    """The bits of 64-bit words from the most significant down."""
    return np.unpackbits(np.frombuffer(words, "<u8").astype(">u8").view(np.uint8))


def _row_ids(flags: bytes, starts: bytes, rows: int, distinct: int) -> NDArray[np.int64]:
    flagged = np.unpackbits(np.frombuffer(flags, np.uint8), bitorder="little")[:rows] == 1
    width = max(distinct - 1, 0).bit_length()
    number = int(flagged.sum())
    bits = _bits(starts)[: number * width].reshape(number, width).astype(np.int64)
    if len(bits) < number:
        raise Damaged("a frame with too few starts")
    start = bits @ (1 << np.arange(width)[::-1]) if width else np.zeros(number, np.int64)
    place = np.arange(rows)
    # The last flagged row at or before each row; rows before the first are themselves.
    run = np.cumsum(flagged) - 1
    begins = np.flatnonzero(flagged)
    ids = place.copy()
    inside = run >= 0
    ids[inside] = start[run[inside]] + place[inside] - begins[run[inside]]
    if rows and (ids.max() >= distinct or ids.min() < 0):
        raise Damaged("a row beyond the distinct rows")
    return ids


def _words(planes: bytes, different: int) -> NDArray[np.uint64]:
    try:
        raw = zstandard.ZstdDecompressor().decompress(planes, max_output_size=8 * different or 1)
    except zstandard.ZstdError as error:
        raise Damaged(f"planes of words: {error}") from error
    if len(raw) != 8 * different:
        raise Damaged("planes of another number of words")
    by_word = np.frombuffer(raw, np.uint8).reshape(8, different).T
    differences = np.ascontiguousarray(by_word).view("<u8").reshape(-1)
    return np.cumsum(differences, dtype=np.uint64)


def _symbols(
    codes: bytes, code_bits: int, symbols: int, lengths: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The numbers of the words that the codes stand for, in the order of (length, value)."""
    bits = _bits(codes)[:code_bits].astype(np.int64)
    if len(bits) < code_bits:
        raise Damaged("a frame with too few codes")
    padded = np.concatenate([bits, np.zeros(LONGEST, np.int64)])
    size = np.zeros(code_bits, np.int64)
    symbol = np.zeros(code_bits, np.int64)
    window = np.zeros(code_bits, np.int64)
    code = before = 0
    for length in range(1, LONGEST + 1):
        window = window << 1 | padded[length - 1 : length - 1 + code_bits]
        code <<= 1
        count = int(lengths[length - 1])
        here = (size == 0) & (window >= code) & (window < code + count)
        size[here] = length
        symbol[here] = before + window[here] - code
        code += count
        before += count
    jump = np.append(np.minimum(np.arange(code_bits) + size, code_bits), code_bits)
    starts = np.zeros(min(symbols, 1), np.int64)
    while len(starts) < symbols:
        starts = np.concatenate([starts, jump[starts[: symbols - len(starts)]]])
        jump = jump[jump]
    if symbols and (starts.max() >= code_bits or not size[starts].all()):
        raise Damaged("a frame ends inside a code")
    return symbol[starts] if symbols else starts
