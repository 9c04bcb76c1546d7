"""The database that tests of handlers share."""

from tests.postgres import db, dsn, pool

__all__ = ["db", "dsn", "pool"]
