"""Frames of block files: the codec rows-huffman.

A list is decoded without a loop over its symbols. Every bit of a stream is treated as the start of
a code, which tells where the next code would start; the starts that are reached from bit 0 are
found by following twice as many codes in each step.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from trinim_database.errors import Damaged

LONGEST = 11
STREAMS = 4
MOST_SYMBOLS = 1024
Words = NDArray[np.uint64]


def decode_published(codec: int, stored: bytes, words: int) -> Words:
    """The words of a frame of a block file, which are stored in one way only."""
    decoded = decode(codec, stored, words, is_published=True)
    expected = 0
    if decoded.any():
        expected = 8 if codec == 8 or _coded_length(decoded) < words * 8 else 1
    if codec != expected or len(stored) > words * 8 - (codec == 8):
        raise Damaged(f"a frame of codec {codec} has {len(stored)} bytes, which is not the way to "
                      "store it")
    return decoded


def decode(codec: int, stored: bytes, words: int, is_published: bool = False) -> Words:
    """The words of a frame."""
    if codec == 0 and not stored:
        return np.zeros(words, np.uint64)
    if codec == 1 and len(stored) == words * 8:
        return np.frombuffer(stored, "<u8").astype(np.uint64)
    if codec == 8:
        return _decode_rows(stored, words, is_published)
    raise Damaged(f"a frame of codec {codec} has {len(stored)} bytes for {words} words")


def _decode_rows(stored: bytes, words: int, is_published: bool) -> Words:
    reader = Reader(stored, is_published)
    rows, rest = divmod(words, 8)
    distinct = reader.number(4)
    if distinct > rows:
        raise Damaged("more distinct rows than rows")
    links = reader.list(rows).astype(np.int64)
    pieces = reader.list(distinct * 32).astype("<u2")
    tail = np.frombuffer(reader.take(rest * 8), "<u8")
    reader.end()
    # A link leads to an earlier equal row; rows without one are the distinct rows in order.
    origin = np.arange(rows) - links
    if rows and origin.min() < 0:
        raise Damaged("a link leads before the first row")
    while not np.array_equal(origin, origin[origin]):
        origin = origin[origin]
    first = links == 0
    if np.count_nonzero(first) != distinct:
        raise Damaged("another number of distinct rows than announced")
    number = np.cumsum(first) - 1
    table = pieces.view("<u8").reshape(distinct, 8)
    decoded = table[number[origin]].reshape(-1) if rows else np.zeros(0, np.uint64)
    if not np.array_equal(links, links_of(decoded)):
        raise Damaged("a link does not lead to the last equal row")
    return np.concatenate([decoded, tail]).astype(np.uint64)


def links_of(words: Words) -> NDArray[np.int64]:
    """For each row its distance from the last equal row before it, or 0."""
    octets = words.astype("<u8").tobytes()
    links = np.zeros(len(words) // 8, np.int64)
    last: dict[bytes, int] = {}
    for at in range(len(links)):
        row = octets[64 * at : 64 * at + 64]
        links[at] = at - last.get(row, at)
        last[row] = at
    return links


def _coded_length(words: Words) -> int:
    """The bytes of a frame with codec 8."""
    whole = words[: len(words) // 8 * 8]
    links = links_of(whole)
    distinct = whole.reshape(-1, 8)[links == 0]
    rest = 8 * (len(words) - len(whole))
    pieces = distinct.astype("<u8").reshape(-1).view("<u2")
    return 4 + _list_length(links.astype("<u2")) + _list_length(pieces) + rest


def _list_length(symbols: NDArray[np.uint16]) -> int:
    """The bytes of a list."""
    alphabet, numbers, counts = np.unique(symbols, return_inverse=True, return_counts=True)
    if len(alphabet) > MOST_SYMBOLS:
        return _list_length(symbols.view(np.uint8).astype("<u2"))
    bits = code_lengths(counts)[numbers]
    part = max(1, -(-len(symbols) // STREAMS))
    codes = sum(-(-int(bits[at : at + part].sum()) // 8) for at in range(0, len(symbols), part))
    return 3 + 2 * len(alphabet) + -(-len(alphabet) // 2) + 4 * STREAMS + codes


def code_lengths(counts: NDArray[np.int_]) -> NDArray[np.uint8]:
    """The lengths of the codes in block files, of symbols with these counts."""
    if len(counts) < 2:
        return np.ones(len(counts), np.uint8)
    # A sum has a larger number than all symbols and all earlier sums.
    sums = [(int(count), symbol) for symbol, count in enumerate(counts)]
    heapq.heapify(sums)
    parents = [0] * (2 * len(counts) - 1)
    for made in range(len(counts), len(parents)):
        first, second = heapq.heappop(sums), heapq.heappop(sums)
        parents[first[1]] = parents[second[1]] = made
        heapq.heappush(sums, (first[0] + second[0], made))
    depths = [0] * len(parents)
    for one in reversed(range(len(parents) - 1)):
        depths[one] = depths[parents[one]] + 1
    if max(depths) > LONGEST:
        return code_lengths((counts + 1) // 2)
    return np.array(depths[: len(counts)], np.uint8)


class Reader:
    """The bytes of a frame, read from front to back."""

    def __init__(self, stored: bytes, is_published: bool = False) -> None:
        self.stored = stored
        self.is_published = is_published
        self.at = 0

    def take(self, length: int) -> bytes:
        taken = self.stored[self.at : self.at + length]
        if len(taken) < length:
            raise Damaged("a frame ends early")
        self.at += length
        return taken

    def number(self, length: int) -> int:
        return int.from_bytes(self.take(length), "little")

    def end(self) -> None:
        if self.at != len(self.stored):
            raise Damaged("a frame goes on after its end")

    def list(self, symbols: int) -> NDArray[np.uint16]:
        """A list of 16-bit symbols, `symbols` of them."""
        form = self.number(1)
        if form > 1:
            raise Damaged("a list of an unknown form")
        wanted = symbols * 2 if form else symbols
        count = self.number(2)
        if count > MOST_SYMBOLS:
            raise Damaged(f"a list with {count} different symbols")
        alphabet = np.frombuffer(self.take(count * 2), "<u2").astype(np.uint16)
        halves = np.frombuffer(self.take((count + 1) // 2), np.uint8)
        lengths = np.stack([halves & 15, halves >> 4], axis=1).reshape(-1)[:count]
        if (alphabet[1:] <= alphabet[:-1]).any() or form and count and alphabet[-1] > 0xFF:
            raise Damaged("a list whose symbols do not ascend, or are no bytes")
        if count == 0 and wanted:
            raise Damaged("a list without symbols")
        table = _table(lengths) if count else (np.zeros(0, np.int64), np.zeros(0, np.int64))
        part = -(-wanted // STREAMS)
        decoded = []
        for stream in range(STREAMS):
            number = max(0, min(part, wanted - stream * part))
            decoded.append(_stream(self.take(self.number(4)), number, table))
        # Numbers of symbols in the alphabet, then the symbols.
        numbers = np.concatenate(decoded)
        counts = np.bincount(numbers, minlength=count)
        if not counts.all():
            raise Damaged("a list has a symbol that does not occur")
        found: NDArray[np.uint16] = alphabet[numbers] if count else np.zeros(0, np.uint16)
        if form:
            found = found[0::2] | found[1::2] << np.uint16(8)
        if self.is_published and (
            form and len(np.unique(found)) <= MOST_SYMBOLS or count % 2 and halves[-1] > 15
            or not np.array_equal(lengths, code_lengths(counts))
        ):
            raise Damaged("a list is not stored in the way of block files")
        return found


def _table(lengths: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each sequence of 11 bits, first bit lowest: which symbol begins it, and its length."""
    if len(lengths) == 1:
        if lengths[0] != 1:
            raise Damaged("a list without a prefix code")
        # Its code is 0, and 1 begins none.
        symbol = -(np.arange(1 << LONGEST) & 1)
        return symbol, np.ones(1 << LONGEST, np.int64)
    symbol = np.full(1 << LONGEST, -1, np.int64)
    size = np.zeros(1 << LONGEST, np.int64)
    code = 0
    for length in range(1, LONGEST + 1):
        code <<= 1
        for one in np.flatnonzero(lengths == length):
            if code >= 1 << length:
                raise Damaged("a list without a prefix code")
            low_first = int(format(code, f"0{length}b")[::-1], 2)
            symbol[low_first :: 1 << length] = one
            size[low_first :: 1 << length] = length
            code += 1
    if (symbol < 0).any() or not lengths.all() or (lengths > LONGEST).any():
        raise Damaged("a list without a prefix code")
    return symbol, size


def _stream(
    stored: bytes, symbols: int, table: tuple[NDArray[np.int64], NDArray[np.int64]]
) -> NDArray[np.int64]:
    """The numbers of the symbols of a stream."""
    symbol, size = table
    bits = np.unpackbits(np.frombuffer(stored, np.uint8), bitorder="little")
    if symbols == 0:
        if len(bits):
            raise Damaged("a list goes on after its last code")
        return np.zeros(0, np.int64)
    padded = np.concatenate([bits, np.zeros(LONGEST, np.uint8)]).astype(np.int64)
    window = np.zeros(len(bits), np.int64)
    for bit in range(LONGEST):
        window |= padded[bit : bit + len(bits)] << bit
    # Beyond the end, every start leads to itself.
    end = len(bits)
    jump = np.append(np.minimum(np.arange(end) + size[window], end), end)
    past = np.append(np.arange(end) + size[window] > end, True)
    starts = np.zeros(1, np.int64)
    while len(starts) < symbols:
        starts = np.concatenate([starts, jump[starts[: symbols - len(starts)]]])
        jump = jump[jump]
    if past[starts].any():
        raise Damaged("a list ends inside a code")
    last = int(starts[-1]) + int(size[window[starts[-1]]])
    if end - last >= 8 or bits[last:].any():
        raise Damaged("a list goes on after its last code")
    found = symbol[window[starts]]
    if (found < 0).any():
        raise Damaged("a list has a code of no symbol")
    return found
