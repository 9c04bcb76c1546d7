"""Define quotas: their names, and a value as it is set and shown."""

import datetime as dt
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass as pydantic_dataclass

from docrail.dag.values.suggestions import closest
from docrail.services.model_config import SHOWN

LARGEST = 2**53


class Quota(StrEnum):
    """What is limited."""

    REQUESTS = "requests_per_second"
    """Requests, in each process of the API."""
    BODY = "body_bytes"
    """Size of one request's body."""
    DOCUMENTS = "documents_per_day"
    """Uploaded documents, from midnight to midnight UTC."""
    RUNS = "open_runs"
    """Runs that have not ended, those inside others included."""
    BUDGET = "model_budget_per_day"
    """Cost of models' answers from midnight to midnight UTC, in the price table's currency."""
    PRIORITY = "highest_priority"
    """Most urgent priority of its runs and steps, from 1, the first, to 5; those that ask for more get this one."""


OF_TENANTS = frozenset({Quota.PRIORITY})
"""Quotas that a key cannot have: what it bounds is the order among tenants."""

NOT_IN_SETTINGS = Quota.BUDGET
"""Its default is DOCRAIL_GEMINI_BUDGET_PER_TENANT."""

PRIORITIES = (1.0, 2.0, 3.0, 4.0, 5.0)
A_PRIORITY = "a priority from 1, the first, to 5"
OF_OTHERS = 3.0
"""The highest priority of tenants other than the operator's, without a default in the settings: the usual one, so that
no tenant's runs go before all of another's."""

Value = Annotated[float, Field(ge=0, le=LARGEST, allow_inf_nan=False, examples=[1000])]


@pydantic_dataclass(frozen=True, slots=True, config=SHOWN)
class SetQuota:
    """A quota of a tenant, or of one of its keys."""

    quota: Quota
    """Name of the quota."""
    value: Value
    """How much may be used."""
    tenant: str
    """The tenant."""
    key_id: str | None
    """Id of the key; null for the whole tenant."""
    changed_by: str | None
    """Who set it; null for the default of the settings."""
    changed_at: dt.datetime | None


def parse_quotas(text: object) -> Mapping[Quota, float]:
    """Return the quotas of a setting: `requests_per_second=50, documents_per_day=10000`. Raises: ValueError."""
    if not isinstance(text, str):
        return dict(text)  # type: ignore[call-overload, no-any-return]  # the default
    found: dict[Quota, float] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, value = map(str.strip, part.partition("="))
        found[_named(name)] = _number(name, value)
    return found


def _named(name: str) -> Quota:
    known = [quota for quota in Quota if quota is not NOT_IN_SETTINGS]
    if name == NOT_IN_SETTINGS:
        raise ValueError(f"{name}: its default is DOCRAIL_GEMINI_BUDGET_PER_TENANT")
    if name not in known:
        meant = closest(name, known)
        raise ValueError(f"there is no quota {name!r}" + (f": did you mean {meant!r}?" if meant else ""))
    return Quota(name)


def _number(name: str, value: str) -> float:
    if not (value.isascii() and value.isdecimal() and int(value[:20]) <= LARGEST):
        raise ValueError(f"{name}: expected a whole number, found {value[:40]!r}")
    if name == Quota.PRIORITY and float(value) not in PRIORITIES:
        raise ValueError(f"{name}: expected {A_PRIORITY}, found {value!r}")
    return float(value)
