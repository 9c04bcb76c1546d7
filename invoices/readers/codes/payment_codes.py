"""Read payment QR codes: the European Credit Transfer code (EPC069-12) and the Swiss QR-bill (SPC).

Both contain the payee and the amount as data. A code that violates its standard is reported as broken and not used.
"""

import datetime as dt
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, TypeVar

from docrail.invoices.facts import Evidence, Source
from docrail.invoices.model import FieldValue, InvoiceData
from docrail.invoices.values.identifiers import compact, iban_valid, vat_evidence

EPC_LINES, SWISS_LINES = 12, 34
"""Most lines: EPC069-12 table 1; Swiss Implementation Guidelines QR-bill 2.3, chapter 4."""
CHARSETS = ("utf-8", "latin-1", "iso8859-2", "iso8859-4", "iso8859-5", "iso8859-7", "iso8859-10", "iso8859-15")
"""Character sets 1 to 8 of EPC069-12."""
MOST = Decimal("999999999.99")
"""Largest amount in both standards; the smallest is a cent."""
AMOUNT = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,2})?")
SWISS_CURRENCIES = frozenset({"CHF", "EUR"})
SWISS_COUNTRIES = ("CH", "LI")
LONGEST_NAME = 70
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
BILLING = re.compile(r"/(\d\d)/((?:\\.|[^/\\])*)")
"""One part of Swico's billing information: /11/190512. A slash in a value is written \\/."""
UID = re.compile(r"[0-9]{9}")

T = TypeVar("T")


class BrokenCode(ValueError):  # noqa: N818  # reported to people as a fact about the code
    """The code starts like a payment code, but violates its standard."""


def read_payment_code(data: bytes, text: str) -> InvoiceData | None:
    """Return the contents of a payment code; None for other QR codes, such as a link to a web page.

    `data` is the raw content of the code, `text` the decoder's guess at it. Raises: BrokenCode.
    """
    lines = _lines_of(text)
    kind = lines[0].strip("\ufeff \t")
    if kind not in ("BCD", "SPC"):
        return None
    if CONTROL.search(text):
        raise BrokenCode("it holds control characters")
    return _epc(_decoded(data, lines)) if kind == "BCD" else _swiss(lines)


def _decoded(data: bytes, lines: Sequence[str]) -> list[str]:
    """Return the lines in the character set given on the third line; as the decoder guessed if that fails."""
    number = _line(lines, 2)
    if re.fullmatch(r"[0-9]", number) and 0 < int(number) <= len(CHARSETS):
        try:
            return _lines_of(data.decode(CHARSETS[int(number) - 1]))
        except UnicodeDecodeError:
            pass  # many writers declare UTF-8 and write Latin-1
    return list(lines)


def _lines_of(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _epc(lines: Sequence[str]) -> InvoiceData:
    if len([line for line in lines if line.strip()]) > EPC_LINES or _line(lines, 3) != "SCT":
        raise BrokenCode(f"it has {len(lines)} lines and identification '{_line(lines, 3)[:9]}', not SCT")
    amount = _line(lines, 7)
    if amount and not amount.startswith("EUR"):
        raise BrokenCode(f"its amount '{amount[:20]}' is not in euros")
    return InvoiceData(
        vendor_name=_field(_name(_line(lines, 5))),
        iban=_iban(_line(lines, 6)),
        total=_field(_amount(amount.removeprefix("EUR"))),
        currency=_field("EUR"),
        payment_reference=_line(lines, 9) or _line(lines, 10) or None,
        reader="qr",
    )


def _swiss(lines: Sequence[str]) -> InvoiceData:
    if len(lines) > SWISS_LINES or _line(lines, 30) != "EPD":
        raise BrokenCode(f"it has {len(lines)} lines and ends in '{_line(lines, 30)[:9]}', not EPD")
    iban, currency = _line(lines, 3), _line(lines, 19)
    if not iban.startswith(SWISS_COUNTRIES):
        raise BrokenCode(f"its account '{iban[:34]}' is not of Switzerland or Liechtenstein")
    if currency not in SWISS_CURRENCIES:
        raise BrokenCode(f"its currency '{currency[:9]}' is neither CHF nor EUR")
    code = InvoiceData(
        vendor_name=_field(_name(_line(lines, 5))),
        vendor_country=_line(lines, 10) or None,
        buyer_name=_field(_line(lines, 21)[:LONGEST_NAME] or None),
        iban=_iban(iban),
        total=_field(_amount(_line(lines, 18))),
        currency=_field(currency),
        payment_reference=_line(lines, 28) or _line(lines, 29) or None,
        reader="qr",
    )
    return code.model_copy(update=_billing(_line(lines, 31)))


def _billing(information: str) -> dict[str, FieldValue[Any]]:
    """Return the fields in Swico's billing information, S1: number, dates, VAT id and the last date to pay.

    Tag 31 is the date of the service; a period has twice as many digits and is ignored.
    """
    if not information.startswith("//S1/"):
        return {}
    parts = {tag: re.sub(r"\\(.)", r"\1", value) for tag, value in BILLING.findall(information.removeprefix("//S1"))}
    date, uid = _short_date(parts.get("11", "")), parts.get("30", "")
    vat_id = f"CHE{uid}" if UID.fullmatch(uid) else None  # the code has only the digits
    # The whole amount is due under the condition without a discount, as in 2:10;0:30.
    whole = re.search(r"(?:^|;)0(?:\.0*)?:([0-9]{1,3})(?:;|$)", parts.get("40", ""))
    found: dict[str, FieldValue[Any]] = {
        "invoice_number": _field(parts.get("10") or None),
        "date": _field(date),
        "delivery_date": _field(_short_date(parts.get("31", ""))),
        "vendor_vat_id": _field(vat_id, vat_evidence(vat_id) if vat_id else ()),
        "due_date": _field(date + dt.timedelta(days=int(whole[1])) if date and whole else None),
    }
    return {name: field for name, field in found.items() if field.value is not None}


def _short_date(digits: str) -> dt.date | None:
    """Parse a date such as 190512; return None if it is not one."""
    try:
        return dt.date.fromisoformat(f"20{digits}") if re.fullmatch(r"[0-9]{6}", digits) else None
    except ValueError:
        return None


def _line(lines: Sequence[str], index: int) -> str:
    return lines[index].strip() if index < len(lines) else ""


def _field(value: T | None, evidence: tuple[Evidence, ...] = ()) -> FieldValue[T]:
    return FieldValue[T]() if value is None else FieldValue[T](value=value, source=Source.QR, evidence=evidence)


def _name(words: str) -> str:
    if not 0 < len(words) <= LONGEST_NAME:
        raise BrokenCode(f"its payee's name has {len(words)} characters, not 1 to {LONGEST_NAME}")
    return words


def _iban(words: str) -> FieldValue[str]:
    iban = compact(words) or ""
    if not iban_valid(iban):
        raise BrokenCode(f"its IBAN '{words[:40]}' has wrong check digits")
    return _field(iban, (Evidence.CHECKSUM_VALID,))


def _amount(words: str) -> Decimal | None:
    """Return the amount; None if the payer fills it in."""
    if not words:
        return None
    if not AMOUNT.fullmatch(words) or not 0 < Decimal(words) <= MOST:
        raise BrokenCode(f"its amount '{words[:20]}' is not from 0.01 to {MOST}")
    return Decimal(words).quantize(Decimal("0.01"))
