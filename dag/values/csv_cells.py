"""Make text safe in a cell of a CSV file that people open in a spreadsheet."""

import re

from docrail.dag.values.printable import printable

_FORMULA = re.compile(r"\s*(?![+-]?\d+(\.\d+)?\Z)[=+\-@\uff1d\uff0b\uff0d\uff20]")
"""The start of a formula in a spreadsheet, also in full width; a plain number is none."""


def text_cell(text: str) -> str:
    """Return a text as a cell that neither commands a terminal nor is a formula in a spreadsheet.

    A text that begins like a formula gets an apostrophe, as OWASP advises. Numbers need none of this: as text they
    would be no numbers any more.
    """
    safe = printable(text, lines=True)
    return f"'{safe}" if _FORMULA.match(safe) else safe
