"""The command: values of databases against the rules of the game."""

from __future__ import annotations

import argparse
import sys

from trinim_database import check, definition
from trinim_database.database import Database
from trinim_database.errors import Contradiction, Damaged, DatabaseError, Unsupported

CODES = """\
exit codes, which are those of trinim:
  0  no contradiction
  1  a contradiction: the first wrong position, or count, is named
  2  a wrong argument, no finished database, or one that cannot be compared
  3  files are damaged
  4  a file cannot be read
  7  the database has another version, or a board with too many symmetries"""


def compared(folder: str) -> str:
    """Compares a folder; returns what there is to say."""
    one = Database(folder)
    files = check.database(one)
    found = definition.values(one)
    lines = [
        f"{folder}: no contradiction; {files} files have the right hashes",
        f"  compared  {found.positions:,} positions, which is all, with their children in the files",
        f"  losses    {found.losses:,}, and no move from one to another",
        f"  proved    {found.proved:,} positions, whose value follows from those of their children",
    ]
    if found.proved < found.positions:
        lines.append(f"  open      {found.positions - found.proved:,} positions, whose value also "
                     "depends on children that the book does not have")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    parser = argparse.ArgumentParser("trinim-database", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    one = commands.add_parser(
        "check", help="check the files of databases, and each value against those of its children",
        epilog=CODES, formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    one.add_argument("folder", nargs="+", help="the folder of a finished solve, its db, or a "
                     "built-in book")
    for folder in parser.parse_args(arguments).folder:
        try:
            print(compared(folder), flush=True)
        except Contradiction as error:
            return _failed(error, 1)
        except Damaged as error:
            return _failed(error, 3)
        except Unsupported as error:
            return _failed(error, 7)
        except DatabaseError as error:
            return _failed(error, 2)
        except OSError as error:
            return _failed(error, 4)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            return _failed(f"{folder}: {error!r}", 3)
    return 0


def _failed(error: object, code: int) -> int:
    print(f"error: {error}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
