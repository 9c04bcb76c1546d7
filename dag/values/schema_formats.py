"""Check the text formats that a JSON Schema may require. Formats not listed here are refused."""

import re
from collections.abc import Callable, Mapping
from ipaddress import AddressValueError, IPv4Address, IPv6Address

_DATE = r"(?P<year>[0-9]{4})-(?P<month>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12][0-9]|3[01])"
_TIME = (
    r"(?P<hour>[01][0-9]|2[0-3]):(?P<minute>[0-5][0-9]):(?P<second>[0-5][0-9]|60)(?:\.[0-9]+)?"
    r"(?:[Zz]|(?P<sign>[+-])(?P<hours>[01][0-9]|2[0-3]):(?P<minutes>[0-5][0-9]))"
)
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_MINUTES_OF_A_DAY = 24 * 60
_LAST_MINUTE = _MINUTES_OF_A_DAY - 1
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_LONGEST_HOST = 253
_LONGEST_ADDRESS = 254
_URI = r"[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*"
_UUID = r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"
_DURATION = r"P(?!\Z)(?:[0-9]+W|(?:[0-9]+Y)?(?:[0-9]+M)?(?:[0-9]+D)?(?:T(?!\Z)(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+S)?)?)"
_POINTER = r"(?:/(?:[^~/]|~[01])*)*"


def _like(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.DOTALL)
    return lambda text: compiled.fullmatch(text) is not None


def _is_date(text: str) -> bool:
    found = re.fullmatch(_DATE, text)
    return found is not None and _is_day(found)


def _is_date_time(text: str) -> bool:
    found = re.fullmatch(f"{_DATE}[Tt]{_TIME}", text)
    return found is not None and _is_day(found) and _is_moment(found)


def _is_time(text: str) -> bool:
    found = re.fullmatch(_TIME, text)
    return found is not None and _is_moment(found)


def _is_day(found: re.Match[str]) -> bool:
    year, month, day = (int(found[part]) for part in ("year", "month", "day"))
    is_leap_year = not year % 4 and (bool(year % 100) or not year % 400)
    return day <= _DAYS[month - 1] + (month == 2 and is_leap_year)  # noqa: PLR2004 - February


def _is_moment(found: re.Match[str]) -> bool:
    """Return whether a leap second, if it is one, is the last of a day in UTC (RFC 3339, 5.7)."""
    if found["second"] != "60":
        return True
    offset = int(found["hours"] or 0) * 60 + int(found["minutes"] or 0)
    minute = int(found["hour"]) * 60 + int(found["minute"]) - (-offset if found["sign"] == "-" else offset)
    return minute % _MINUTES_OF_A_DAY == _LAST_MINUTE


def _is_host(text: str) -> bool:
    return len(text) <= _LONGEST_HOST and re.fullmatch(rf"{_LABEL}(?:\.{_LABEL})*", text) is not None


def _is_email(text: str) -> bool:
    """Return whether the text has one @, no spaces and a host, to catch typos. Delivery is not checked."""
    name, at, host = text.rpartition("@")
    return len(text) <= _LONGEST_ADDRESS and bool(at) and re.fullmatch(r"[^\s@]+", name) is not None and _is_host(host)


def _is_address(kind: type[IPv4Address | IPv6Address]) -> Callable[[str], bool]:
    def is_address(text: str) -> bool:
        try:
            kind(text)
        except AddressValueError:
            return False
        return "%" not in text  # a scope ID names a network interface

    return is_address


FORMATS: Mapping[str, Callable[[str], bool]] = {
    "date": _is_date,
    "date-time": _is_date_time,
    "time": _is_time,
    "duration": _like(_DURATION),
    "email": _is_email,
    "hostname": _is_host,
    "ipv4": _is_address(IPv4Address),
    "ipv6": _is_address(IPv6Address),
    "uri": _like(_URI),
    "uuid": _like(_UUID),
    "json-pointer": _like(_POINTER),
}
"""Check by format name in JSON Schema (draft 2020-12, 7.3). Each takes time linear in the text."""
