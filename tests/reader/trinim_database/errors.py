"""What can go wrong with a database."""


class DatabaseError(Exception):
    """A database cannot be read."""


class Damaged(DatabaseError):
    """The bytes of a file are wrong."""


class Unsupported(DatabaseError):
    """The database is of a version or a board that this package does not know."""


class NotKept(DatabaseError):
    """The folder is sound, but does not keep the value that was asked for."""


class Contradiction(DatabaseError):
    """The bytes of a database are those that were written, but a value is wrong."""
