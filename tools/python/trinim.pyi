"""Solves Triangular Nim and other removal games, and answers arrays of positions.

A position is the mask of its pieces, cell 0 in the lowest bit; a text like "1/11/101" is read
where one position is asked for. Arrays of positions are any integers, of any shape. Values are
True where the player to move wins.
"""

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Literal, TypeAlias, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

__version__: str

Rule: TypeAlias = Literal["misere", "normal"]
Position: TypeAlias = int | str

class ByPieces(TypedDict):
    pieces: NDArray[np.uint64]
    positions: NDArray[np.uint64]
    losses: NDArray[np.uint64]

class ByLayers(TypedDict):
    layers: NDArray[np.uint64]
    positions: NDArray[np.uint64]
    losses: NDArray[np.uint64]

class ByDistance(TypedDict):
    distance: NDArray[np.uint64]
    wins: NDArray[np.uint64]
    losses: NDArray[np.uint64]

class ByNimber(TypedDict):
    nimber: NDArray[np.uint64]
    positions: NDArray[np.uint64]

class Stats(TypedDict):
    board: str
    layers: int | None
    rule: Rule
    positions: int
    wins: int
    losses: int
    loss_rate: float
    start: Literal["win", "loss"]
    digest: str
    values_digest: str
    values: Literal["outcomes", "nimbers", "remoteness"]
    keep: str
    by_pieces: ByPieces
    by_layers: ByLayers | None
    by_nimber: ByNimber | None
    by_distance: ByDistance | None

class TrinimError(Exception):
    """An error of trinim; `hint` suggests what to do."""

    hint: str

class RefusedError(TrinimError):
    """A board, position or option that is not possible."""

class NotKeptError(TrinimError):
    """The folder is intact, but does not keep the requested values."""

class FolderError(TrinimError):
    """The folder has no finished database, or one of another solve."""

class DamagedError(TrinimError):
    """A file is damaged."""

class ResourceError(TrinimError):
    """The system refused a file, memory or disk space."""

class Board:
    """Cells, moves and symmetries."""

    def __init__(
        self, board: int | str, *, min_take: int | None = None, max_take: int | None = None
    ) -> None:
        """A triangle with this many layers, or a board by its name, like "rect:6x6"."""

    @staticmethod
    def from_file(path: str | PathLike[str]) -> Board:
        """A board from a file that describes it, as `trinim --board` reads it."""

    @property
    def name(self) -> str: ...
    @property
    def layers(self) -> int | None: ...
    @property
    def cells(self) -> int: ...
    @property
    def full(self) -> int:
        """The position with a piece on every cell."""

    @property
    def rows(self) -> list[int]: ...
    @property
    def places(self) -> list[tuple[float, float]]:
        """Coordinates of the cells, to the right and down."""

    @property
    def names(self) -> list[str]:
        """Names of the cells, as players write them."""

    def parse(self, text: str) -> int:
        """Reads a position: rows from the top, or a mask."""

    def format(self, position: Position) -> str:
        """Writes a position as rows from the top: "1/11/101"."""

    def picture(self, position: Position) -> str:
        """Draws a position, x for a piece."""

    def moves(self, position: Position) -> NDArray[np.uint64]:
        """The legal moves: masks of the pieces that each takes, ascending."""

    def canonical(self, positions: ArrayLike) -> NDArray[np.uint64]:
        """The smallest image of each position under the symmetries of the board."""

    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

class Move:
    """A move of a position of a database."""

    @property
    def name(self) -> str:
        """The move as a player writes it: "a1-b1"."""

    @property
    def taken(self) -> int:
        """Mask of the pieces that it takes."""

    @property
    def position(self) -> int:
        """The position after it."""

    @property
    def wins(self) -> bool:
        """Whether it wins: the opponent then has a lost position."""

    @property
    def nimber(self) -> int | None:
        """Nimber of the position after it, if the database has nimbers."""

    @property
    def distance(self) -> int | None:
        """Moves that are left after it, if the database has distances."""

class Database:
    """The values of a solved board."""

    @staticmethod
    def open(folder: str | PathLike[str]) -> Database:
        """Opens the database in the folder of a solve."""

    @staticmethod
    def built_in(layers: int = 9, rule: Rule = "misere") -> Database:
        """Opens what is built in: counts, first moves and a book of nine layers."""

    @property
    def board(self) -> Board: ...
    @property
    def rule(self) -> Rule: ...
    @property
    def kind(self) -> Literal["outcomes", "nimbers", "remoteness"]:
        """What each position has."""

    @property
    def folder(self) -> Path: ...
    def values(self, positions: ArrayLike) -> NDArray[np.bool_]:
        """For each position, whether the player to move wins; the GIL is released."""

    def nimbers(self, positions: ArrayLike) -> NDArray[np.uint8]:
        """The nimber of each position, in a database of nimbers; the GIL is released."""

    def distances(self, positions: ArrayLike) -> NDArray[np.uint8]:
        """The moves left at each position, if the winner hurries and the loser delays, in a database
        of distances; the GIL is released."""

    def losses(self, pieces: tuple[int, int] | None = None) -> NDArray[np.uint64]:
        """All losses, ascending, or those with `pieces = (least, most)`."""

    def canonical(
        self, pieces: tuple[int, int] | None = None
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
        """One loss of each class of images, ascending, and the sizes of the classes."""

    def moves(self, position: Position) -> list[Move]:
        """The moves of a position whose values are known, winning ones first."""

    def random(
        self, count: int, *, seed: int = 0, pieces: tuple[int, int] | None = None
    ) -> NDArray[np.uint64]:
        """`count` different positions, drawn by `seed`, ascending."""

    def stats(self) -> Stats:
        """Counts of the board; tables are arrays by column."""

def solve(
    board: Board,
    folder: str | PathLike[str],
    *,
    rule: Rule = "misere",
    values: Literal["outcomes", "nimbers", "remoteness"] = "outcomes",
    keep: str | None = None,
    memory: int | None = None,
    threads: int = 0,
    block_bits: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Database:
    """Solves a board into a folder, or continues a solve there, and opens the database.

    From nine layers on the solve is audited.

    `progress(finished_blocks, blocks)` is called as blocks become durable. KeyboardInterrupt, and
    any exception of `progress`, stops after a checkpoint: the same call continues. `memory` is in
    bytes, and 1 GiB by default, or half of what the process may use if that is less; 0 threads are
    one for each processor.
    """

def value(
    board: Board, position: Position, *, rule: Rule = "misere", memory: int | None = None, threads: int = 0
) -> bool:
    """Whether the player to move wins: without a database, solved on the spot."""
