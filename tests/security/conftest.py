"""The database that these tests share."""

from tests.postgres import dsn

__all__ = ["dsn"]
