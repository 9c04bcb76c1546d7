"""The database and the S3 server that tests of adapters share."""

from tests.postgres import db, dsn, pool
from tests.s3 import bucket, s3_server

__all__ = ["bucket", "db", "dsn", "pool", "s3_server"]
