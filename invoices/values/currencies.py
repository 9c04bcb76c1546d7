"""Known currencies, and the rounding tolerance between amounts in each of them."""

from collections.abc import Mapping
from decimal import Decimal

_CURRENCY_CODES = """
    AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF
    CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HRK
    HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL
    MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON
    RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH
    UGX USD UYU UZS VED VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWL
"""
CURRENCIES = frozenset(_CURRENCY_CODES.split())
"""ISO 4217, plus HRK for older Croatian documents."""
CENT = Decimal("0.01")
_NO_MINOR_UNIT = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF"
WHOLE = frozenset({*_NO_MINOR_UNIT.split(), "HUF"})
"""Currencies written without decimals: those with "minor unit 0" in ISO 4217 (list one), and the forint, whose fillér
coins were withdrawn in 1999."""
THOUSANDTHS = frozenset({"BHD", "JOD", "KWD", "LYD", "OMR", "TND"})
"""Currencies written with three decimals: "minor unit 3" in ISO 4217, except Iraq's, whose fils is no longer used."""
COMMA_DECIMALS = frozenset({"LYD", "TND"})
"""Three-decimal currencies that use a decimal comma, as in French. Invoices in the others are in English and group
thousands with commas."""
CASH_STEPS: Mapping[str, Decimal] = {
    "CHF": Decimal("0.05"),
    "CZK": Decimal(1),
    "HUF": Decimal(5),
    "NOK": Decimal(1),
    "SEK": Decimal(1),
}
"""Steps to which a total is rounded, often without a line that says so.
CHF: the smallest coin is five centimes. CZK: whole korunas, excluded from the tax base by the VAT Act (235/2004 Sb., §
36).
HUF: Act III of 2008, after the withdrawal of the 1 and 2 forint coins. NOK: no coin below one krone since 2012.
SEK: Act 1970:1029; whole kronor since the 50 öre coin was withdrawn (2010)."""


def unit(currency: str | None) -> Decimal:
    """Return the smallest unit in which amounts of the currency are written; a cent if the currency is unknown."""
    if currency in WHOLE:
        return Decimal(1)
    return CENT / 10 if currency in THOUSANDTHS else CENT


def tolerance(currency: str | None, *, roundings: int = 2) -> Decimal:
    """Return the largest accepted difference between amounts after this many roundings.

    Each rounding may add a whole unit: taxes may be rounded up, down or to the nearest, as Japan's National Tax Agency
    states for invoices (its Q&A on the invoice system: once per rate, in any direction).
    """
    return roundings * unit(currency)


def total_agrees(expected: Decimal, total: Decimal, currency: str | None) -> bool:
    """Return whether `total` equals `expected`, or `expected` rounded to the currency's smallest coin."""
    apart, step = abs(expected - total), CASH_STEPS.get(currency or "")
    if apart <= tolerance(currency):
        return True
    return step is not None and total % step == 0 and apart <= step / 2 + CENT
