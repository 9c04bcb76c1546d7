"""Keep the log bounded: an error that repeats a thousand times a second is written a few times a minute."""

import logging
import time
from collections import Counter

WINDOW_SECONDS = 60.0
MOST_ALIKE = 10
"""Lines of one message in a window."""
MOST = 300
"""Lines in a window, of all messages."""


class LogLimit:
    """A filter for a handler. The first line of a message in the next window says how many were left out."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._written = 0
        self._seen: Counter[object] = Counter()
        self._left_out: Counter[object] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a line is written."""
        if time.monotonic() - self._began > WINDOW_SECONDS:
            self._left_out = Counter({key: count - MOST_ALIKE for key, count in self._seen.items()})
            self._began, self._written, self._seen = time.monotonic(), 0, Counter()
        key = (record.name, record.levelno, str(record.msg)[:80], record.exc_info and record.exc_info[0])
        if self._written >= MOST:
            return False
        self._seen[key] += 1
        if self._seen[key] == 1 and (more := self._left_out[key]) > 0:
            record.msg, record.args = f"{record.getMessage()} (and {more} more in the minute before)", ()
        if self._seen[key] > MOST_ALIKE:
            return False
        self._written += 1
        return True
