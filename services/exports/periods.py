"""Find where a period begins and ends."""

import datetime as dt

from docrail.dag.language.inputs import InputProblem
from docrail.services.documents.models import PeriodOf
from docrail.services.errors import InvalidInput
from docrail.services.exports.models import Period

End = dt.date | dt.datetime | None

LAST = dt.date.max - dt.timedelta(days=2)
"""The last day whose end is a time in every zone."""
FIRST = dt.date.min + dt.timedelta(days=2)


def ends_of(period: Period) -> tuple[End, End]:
    """Return when a period begins, and the first moment after it: times, for dates of invoices days.

    Raises: InvalidInput.
    """
    for name, day in (("since", period.since), ("until", period.until)):
        if day is not None and not FIRST <= day <= LAST:
            raise InvalidInput([InputProblem(f"period.{name}", f"expected a day from {FIRST} to {LAST}, found {day}")])
    if period.since is not None and period.until is not None and period.since > period.until:
        raise InvalidInput([InputProblem("period.until", "must not be earlier than `since`")])
    after = None if period.until is None else period.until + dt.timedelta(days=1)
    if period.of is PeriodOf.INVOICE_DATE:
        return period.since, after
    return _begin(period, period.since), _begin(period, after)


def _begin(period: Period, day: dt.date | None) -> dt.datetime | None:
    return None if day is None else dt.datetime.combine(day, dt.time(), period.zone).astimezone(dt.UTC)
