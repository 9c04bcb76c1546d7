"""The database that storage tests share."""

from tests.postgres import db, dsn, pool

__all__ = ["db", "dsn", "pool"]
