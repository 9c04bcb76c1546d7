"""Read the dates of a document, and decide by its own evidence whether the day or the month comes first in them.

An address decides nothing: Canadians write both, and Americans invoice Europeans. It only chooses which of two possible
readings is shown first.
"""

import datetime as dt
import re
from dataclasses import dataclass, replace

from docrail.invoices.facts import Evidence, Source
from docrail.invoices.model import FieldValue
from docrail.invoices.readers.header.dates import find_delivery_date, find_due_date, find_issue_date
from docrail.invoices.readers.header.language import language_of
from docrail.invoices.readers.header.terms import payment_term
from docrail.invoices.readers.layout.labels import Finder
from docrail.invoices.readers.layout.page import Layout
from docrail.invoices.readers.layout.places import found
from docrail.invoices.values.dates import find_dates, month_comes_first, swapped

STATES = (
    "AL AK AZ AR CA CO CT FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA "
    "RI SC SD TN TX UT VT VA WA WV WI WY DC"
).replace(" ", "|")
"""US state codes without Delaware: DE usually means Germany."""
AMERICAN = re.compile(rf"\b(?:united states|usa|u\.s\.a?)\b|\b(?-i:{STATES}) \d{{5}}(?:-\d{{4}})?\b", re.IGNORECASE)
"""Signs of an American document: the country, or a state code with a ZIP code."""
LONGEST_TERM = dt.timedelta(days=190)
ENGLISH = "en"


@dataclass(frozen=True, slots=True)
class Dates:
    """The dates of a document."""

    issue: FieldValue[dt.date]
    due: FieldValue[dt.date]
    delivery: FieldValue[dt.date]

    def all(self) -> tuple[FieldValue[dt.date], ...]:
        """Return the dates with a value."""
        return tuple(each for each in (self.issue, self.due, self.delivery) if each.value is not None)


def read_dates(finder: Finder) -> Dates:
    """Return the dates. If day and month of one may be swapped and nothing decides it, both readings are candidates."""
    return _with_term(finder.layout, _in_order(finder))


def _in_order(finder: Finder) -> Dates:
    layout = finder.layout
    by_days = month_comes_first(row.text for row in layout.rows)
    american = bool(AMERICAN.search(layout.text)) if by_days is None else by_days
    likely = _read(finder, month_first=american)
    if by_days is not None:
        return _sure(likely)
    if not any(_is_ambiguous(date) for date in likely.all()):
        return likely
    other = _read(finder, month_first=not american)
    stated = _stated_order(layout)
    if stated is not None:
        return _sure(likely if stated is american else other)
    term = payment_term(layout)
    for days in (term[0] if term else None, None):
        fitting = [dates for dates in (likely, other) if _fits(dates, days)]
        if len(fitting) == 1:
            return _sure(fitting[0])
    return Dates(*map(_both, (likely.issue, likely.due, likely.delivery)))


def _read(finder: Finder, *, month_first: bool) -> Dates:
    return Dates(
        issue=find_issue_date(finder, month_first=month_first),
        due=find_due_date(finder, month_first=month_first),
        delivery=find_delivery_date(finder, month_first=month_first),
    )


def _stated_order(layout: Layout) -> bool | None:
    """Return whether the month comes first; None if nothing shows it.

    Shown by a date that is also written with the month's name, or by a language other than English, in all of which the
    day comes first.
    """
    dates = [date for row in layout.rows for date in find_dates(row.text)]
    sure = {date.value for date in dates if not date.ambiguous}
    readings = [(date.value in sure, swapped(date.value) in sure) for date in dates if date.ambiguous]
    votes = {month_first for day_first, month_first in readings if day_first != month_first}
    if len(votes) == 1:
        return votes.pop()
    language = language_of(layout)
    return None if language is None or language.code == ENGLISH else False


def _fits(dates: Dates, days: int | None) -> bool:
    """Return whether payment is due on or after the date of issue, and by the payment term if there is one."""
    issued, due = dates.issue.value, dates.due.value
    if issued is None or due is None:
        return True
    return due - issued == dt.timedelta(days=days) if days else dt.timedelta(0) <= due - issued <= LONGEST_TERM


def _is_ambiguous(date: FieldValue[dt.date]) -> bool:
    return Evidence.AMBIGUOUS_DATE in date.evidence


def _sure(dates: Dates) -> Dates:
    fields = [
        each.model_copy(update={"evidence": tuple(e for e in each.evidence if e is not Evidence.AMBIGUOUS_DATE)})
        for each in (dates.issue, dates.due, dates.delivery)
    ]
    return Dates(*fields)


def _both(date: FieldValue[dt.date]) -> FieldValue[dt.date]:
    """Return a date that may be read in two ways with both as candidates."""
    if date.value is None or not _is_ambiguous(date):
        return date
    own = date.as_candidate()
    return date.model_copy(update={"candidates": (own, own.model_copy(update={"value": swapped(date.value)}))})


def _with_term(layout: Layout, dates: Dates) -> Dates:
    """Return the dates with the due date that follows from the payment term, if none is printed."""
    term = payment_term(layout) if dates.issue.value and dates.due.value is None else None
    if term is None or dates.issue.value is None:
        return dates
    days, cell = term
    facts = (Evidence.FROM_PAYMENT_TERM, *(e for e in dates.issue.evidence if e is Evidence.AMBIGUOUS_DATE))
    due = found(layout, dates.issue.value + dt.timedelta(days=days), cell, Source.TEXT_PATTERN, facts)
    return replace(dates, due=due)
