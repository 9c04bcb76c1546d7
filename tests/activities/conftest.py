"""The database that tests of handlers share, and the tools of a worker without a key."""

from tests.activities.asking import keyless, reader
from tests.postgres import db, dsn, pool

__all__ = ["db", "dsn", "keyless", "pool", "reader"]
