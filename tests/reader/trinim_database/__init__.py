"""Reads the databases that trinim makes, by FORMAT.md alone."""

from trinim_database.board import Board
from trinim_database.database import Database, Move
from trinim_database.errors import Damaged, DatabaseError, NotKept, Unsupported

__all__ = ["Board", "Damaged", "Database", "DatabaseError", "Move", "NotKept", "Unsupported"]
