"""The values of a database, compared with those that the rules give from the values of children."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from trinim_database.board import Board, Masks, distinct
from trinim_database.book import Book
from trinim_database.database import Database
from trinim_database.errors import Contradiction, Damaged, NotKept

MOST_CELLS = 28
"""The largest board of a database that is compared: seven layers, a byte a position in memory."""
MOST_LOSSES = 1 << 21
"""The most losses listed in a book that is compared: 1.5 GB in memory."""
CHUNK = 1 << 16
LOSS = 32


@dataclass(frozen=True)
class Compared:
    """What was compared: the values of `proved` positions follow from those of their children.

    The others are in a book. No child in the book contradicts them, but they also depend on
    children with too few pieces for it.
    """

    positions: int
    losses: int
    proved: int


def values(one: Database) -> Compared:
    """Compares all values; raises `Contradiction` with the first position that is wrong."""
    if one.book:
        return _listed(one, one.book)
    if one.keep != "database":
        raise NotKept(f"{one.folder} keeps {one.keep}: there are no values to compare")
    return _every(one)


def _every(one: Database) -> Compared:
    """Every position, from all its children."""
    board = one.board
    if board.cells > MOST_CELLS:
        raise NotKept(f"{one.folder} has {board.cells} cells; values of a database are compared "
                      f"up to {MOST_CELLS}")
    orbits = one.orbits()
    stored = _codes(one)
    low = min(board.cells, CHUNK.bit_length() - 1)
    offsets = np.arange(1 << low)

    @cache
    def containing(pieces: int) -> NDArray[np.int_]:
        return np.flatnonzero(offsets & pieces == pieces)

    for start in range(0, len(stored), 1 << low):
        # A bit for each number of a child: from bit 0 for wins, from bit 32 for losses.
        seen = np.zeros(1 << low, np.uint64)
        for taken in board.moves:
            if (start & taken) >> low == taken >> low:
                at = containing(taken & (1 << low) - 1)
                seen[at] |= np.uint64(1) << stored[at + (start - taken)].astype(np.uint64)
        expected = _from_children(seen, one.values, one.rule)
        wrong = np.flatnonzero(stored[start : start + (1 << low)] != expected)
        if len(wrong):
            position = start + int(wrong[0])
            raise _contradiction(one, position, int(stored[position]), int(expected[wrong[0]]))
    found = set()
    for ordinal, (orbit, _) in enumerate(orbits):
        if orbit in found:
            _compare_image(one, ordinal, stored)
        found.add(orbit)
    losses = int(np.count_nonzero(stored >= LOSS))
    return Compared(len(stored), losses, len(stored))


def _codes(one: Database) -> NDArray[np.uint8]:
    """For each position its nimber or distance, if there is one, and `LOSS` more if it is lost."""
    numbered = one.values != "outcomes"
    codes = np.full(1 << one.board.cells, LOSS - 1 if numbered else 0, np.uint8)
    for number in range(one.planes - one.first if numbered else 0):
        for part in one.plane_by_block(one.first + number):
            twice = part[codes[part] != LOSS - 1]
            if len(twice):
                raise Contradiction(f"{_name(one, int(twice[0]))} has two numbers, "
                                    f"{codes[twice[0]]} and {number}")
            codes[part] = number
    if numbered and (codes == LOSS - 1).any():
        raise Contradiction(f"{_name(one, int(np.argmax(codes == LOSS - 1)))} has no number")
    for part in one.losses_by_block():
        codes[part] |= LOSS
    return codes


def _compare_image(one: Database, ordinal: int, codes: NDArray[np.uint8]) -> None:
    """A block that is an image of an earlier one, on a board of which the program uses some
    symmetries only."""
    layout = one.layout
    offsets = np.arange(layout.size, dtype=np.uint64)
    positions = layout.positions(one.manifest["blocks"][ordinal]["bid"], offsets)
    found = codes[positions]
    for plane, words in enumerate(one.bitmap(ordinal).reshape(one.planes, -1)):
        octets = words.astype("<u8").view(np.uint8)
        bits = np.unpackbits(octets, count=layout.size, bitorder="little") == 1
        has_number = plane > 0 or one.values == "nimbers"
        wrong = bits != (found % LOSS == plane - one.first if has_number else found >= LOSS)
        if wrong.any():
            raise Contradiction(f"{_name(one, int(positions[wrong][0]))} and an image of it have "
                                "two values")


def _from_children(seen: Masks, kind: str, rule: str) -> NDArray[np.uint8]:
    """The code that the definition gives to positions with these children."""
    won, lost = seen & np.uint64((1 << LOSS) - 1), seen >> np.uint64(LOSS)
    loss = (lost == 0) & ((won != 0) | (rule == "normal"))
    number = np.zeros(len(seen), np.uint8)
    one = np.uint64(1)
    if kind == "nimbers":  # the least number that no child has
        found = won | lost
        number = np.bitwise_count((~found & (found + one)) - one)
    elif kind == "remoteness":  # the winner takes the soonest loss, the loser the latest win
        soonest = np.bitwise_count((lost & (~lost + one)) - one) + np.uint8(1)
        latest = np.frexp(won.astype(np.float64))[1].astype(np.uint8)
        number = np.where(lost != 0, soonest, latest)
    return number + np.where(loss, np.uint8(LOSS), np.uint8(0))


def _contradiction(one: Database, position: int, stored: int, expected: int) -> Contradiction:
    def text(code: int) -> str:
        number = "" if one.values == "outcomes" else f" with number {code % LOSS}"
        return ("a loss" if code >= LOSS else "a win") + number

    return Contradiction(f"{_name(one, position)} is stored as {text(stored)}, and by its "
                         f"children it is {text(expected)}")


def _name(one: Database, position: int) -> str:
    return f"{one.folder}: position {one.board.rows(position)} ({position:#x})"


def _listed(one: Database, book: Book) -> Compared:
    """Every position of a book, from its children in the book, and the census of the losses.

    Each loss makes its parents wins. The canonical losses have an image of each parent as theirs.
    """
    board = one.board
    if book.losses > MOST_LOSSES:
        raise NotKept(f"{book.path} lists {book.losses} losses; books are compared up to "
                      f"{MOST_LOSSES}")
    classes = one.canonical_losses()
    losses = classes["position"].copy()
    if len(losses) != book.losses or (board.canonical(losses) != losses).any():
        raise Damaged(f"{book.path} lists positions that are not canonical")
    pieces = np.bitwise_count(losses)
    if (pieces < book.pieces).any():
        raise Damaged(f"{book.path} lists positions of less than {book.pieces} pieces")
    _compare_first_moves(one, book, losses)
    parents = [np.zeros(0, np.uint64)]
    for taken in board.moves:
        children = losses[losses & np.uint64(taken) == 0]
        parents.append(board.canonical(children | np.uint64(taken)))
    wins = distinct(np.concatenate(parents))
    wrong = wins[np.isin(wins, losses, assume_unique=True)]
    if len(wrong):
        position = int(wrong[0])
        raise Contradiction(f"{_name(one, position)} is listed as a loss, and so is its child "
                            f"{_lost_child(board, position, losses)}")
    ended = _without_move(board, losses)
    if one.rule == "misere" and len(ended):
        raise Contradiction(f"{_name(one, int(ended[0]))} is listed as a loss, without a move")
    # Positions with so many pieces have all children in the book.
    most = max(taken.bit_count() for taken in board.moves)
    bound = book.pieces + most if book.pieces else 0
    _compare_complete(one, book, bound, wins, losses)
    counts = np.bincount(pieces, classes["orbit_size"], board.cells + 1).astype(np.int_)
    for row in one.manifest["by_pieces"]:
        if row["pieces"] >= book.pieces and row["losses"] != counts[row["pieces"]]:
            raise Contradiction(f"{book.path} has {counts[row['pieces']]} losses of "
                                f"{row['pieces']} pieces, and the manifest {row['losses']}")
    # The moves of the full board are in the manifest, so that it has all its children, too.
    others = wins[np.bitwise_count(wins) < min(bound, board.cells)]
    proved = max(_positions(board, bound), 1) + int(board.orbit_sizes(others).sum())
    return Compared(_positions(board, book.pieces), int(counts.sum()), proved)


def _compare_first_moves(one: Database, book: Book, losses: Masks) -> None:
    """The winning first moves of the manifest: images are equal, and as in the book."""
    board = one.board
    winning = set(one.winning_first_moves)
    canonical = board.canonical(np.array(board.first_moves, np.uint64)).tolist()
    lost = {image for image, taken in zip(canonical, board.moves, strict=True) if taken in winning}
    listed = set(losses[np.isin(losses, canonical)].tolist())
    for image, taken in zip(canonical, board.moves, strict=True):
        position = board.full ^ taken
        known = image in (listed if position.bit_count() >= book.pieces else lost)
        if (taken in winning) != known:
            raise Contradiction(f"{_name(one, position)}, after a first move, has two values")
    if bool((losses == board.full).any()) == bool(winning):
        raise Contradiction(f"{_name(one, board.full)}, the full board, is listed as a "
                            f"{'loss' if winning else 'win'}, and has {len(winning)} winning moves")


def _compare_complete(one: Database, book: Book, bound: int, wins: Masks,
                      losses: Masks) -> None:
    """Positions with `bound` pieces and more: each is a loss, or has a child that is one."""
    end = _positions(one.board, bound)
    for start in range(0, end, CHUNK):
        positions = book.at(np.arange(start, min(start + CHUNK, end), dtype=np.uint64))
        positions = positions[one.board.canonical(positions) == positions]
        wrong = positions[~np.isin(positions, wins, assume_unique=True)]
        wrong = wrong[~np.isin(wrong, losses, assume_unique=True)]
        if one.rule == "misere":
            wrong = np.setdiff1d(wrong, _without_move(one.board, wrong))
        if len(wrong):
            raise Contradiction(f"{_name(one, int(wrong[0]))} is a win by the book, where no child "
                                "is a loss")


def _lost_child(board: Board, position: int, losses: Masks) -> str:
    """A child that is listed as a loss."""
    moves = [taken for taken in board.moves if position & taken == taken]
    children = np.array([position ^ taken for taken in moves], np.uint64)
    child = int(children[np.isin(board.canonical(children), losses)][0])
    return f"{board.rows(child)} ({child:#x})"


def _without_move(board: Board, positions: Masks) -> Masks:
    """The positions without a legal move."""
    for taken in board.moves:
        positions = positions[positions & np.uint64(taken) != taken]
    return positions


def _positions(board: Board, pieces: int) -> int:
    """The number of positions with so many pieces or more."""
    return sum(comb(board.cells, count) for count in range(pieces, board.cells + 1))
