"""Keep the memory of a long-lived process small, and what it has loaded out of the garbage collector's rounds."""

import ctypes
import gc
import sys

_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
"""Parameters of mallopt(3)."""
MAPPED_BYTES = 128 * 1024
"""Larger blocks are mapped, and so returned when they are freed. By default glibc raises this limit, up to 32 MB, when
such a block is freed: the next ones are then kept, between others."""
YOUNG_OBJECTS = 10_000
"""New objects after which garbage is collected, by default 700: a workflow of several runs makes thousands in a task,
and most children that read a document end before."""
MOST_ARENAS = 2
"""Each arena keeps some free memory of its own; by default there are eight for each core."""


def _libc() -> ctypes.CDLL | None:
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    return libc if hasattr(libc, "mallopt") and hasattr(libc, "malloc_trim") else None  # musl has neither


_LIBC = _libc()


def keep_little() -> None:
    """Make the C library of this process keep little of what is freed. Threads that run already keep their arenas."""
    if _LIBC is not None:
        _LIBC.mallopt(_M_MMAP_THRESHOLD, MAPPED_BYTES)
        _LIBC.mallopt(_M_ARENA_MAX, MOST_ARENAS)


def settle() -> None:
    """Exclude all objects loaded so far from garbage collection, and collect new ones less often than by default.

    What is loaded stays forever, and is most of the heap. In a worker a collection took 90 ms, several times in a run
    of 2,000 steps, which is 8 % slower then (ADR 4). Processes that are forked later go on sharing these objects.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS)


def return_memory() -> None:
    """Return all memory that is not needed any longer to the operating system."""
    gc.collect()  # errors and their tracebacks refer to each other, and hold what was parsed
    if _LIBC is not None:
        _LIBC.malloc_trim(0)
