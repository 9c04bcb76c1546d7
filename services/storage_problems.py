"""Say what is wrong with a disk, S3 or PostgreSQL in the words of an operator, not in the names of Python's errors."""

import errno

import asyncpg

from docrail.adapters.store.folders import StoreUnavailable

_OF_DISK = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the disk is read-only",
    errno.EACCES: "the folder is not writable",
    errno.EPERM: "the folder is not writable",
    errno.EIO: "the disk has errors",
    errno.ENOENT: "the folder is missing",
    errno.ESTALE: "the mounted volume is gone",
    errno.EMFILE: "too many files are open",
    errno.ENFILE: "too many files are open",
}


_OF_SERVICES: dict[type[Exception], str] = {
    StoreUnavailable: "S3 does not answer, or refuses requests",
    asyncpg.DiskFullError: "the disk of PostgreSQL is full",
    asyncpg.TooManyConnectionsError: "PostgreSQL has too many connections",
    asyncpg.PostgresError: "PostgreSQL is starting, stopping or unreachable",
    asyncpg.InterfaceError: "PostgreSQL is starting, stopping or unreachable",
    asyncpg.InternalClientError: "PostgreSQL is starting, stopping or unreachable",
    ConnectionError: "PostgreSQL or the store refuses connections",
    TimeoutError: "PostgreSQL or the store does not answer in time",
}


def storage_problem(error: Exception) -> str:
    """Return the problem in one clause, without paths and addresses: callers over the network read it too."""
    for kind, problem in _OF_SERVICES.items():
        if isinstance(error, kind):
            return problem
    return _OF_DISK.get(getattr(error, "errno", None) or 0, type(error).__name__)
