"""Which currencies there are, and how far rounding may carry the amounts of one document apart in each."""

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
"""ISO 4217, with HRK kept for older Croatian documents."""
CENT = Decimal("0.01")
_NO_MINOR_UNIT = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF"
WHOLE = frozenset({*_NO_MINOR_UNIT.split(), "HUF"})
"""Currencies whose amounts are written without a fraction: those without a minor unit in ISO 4217 (list one, "minor
unit 0"), and the forint, whose fillér ceased to be coins in 1999."""
THOUSANDTHS = frozenset({"BHD", "JOD", "KWD", "LYD", "OMR", "TND"})
"""Currencies written with three decimals: ISO 4217's "minor unit 3", but for Iraq's, whose fils is out of use."""
COMMA_DECIMALS = frozenset({"LYD", "TND"})
"""Of these, the ones written as in French; invoices in the others are English: there, commas group thousands."""
CASH_STEPS: Mapping[str, Decimal] = {
    "CHF": Decimal("0.05"),
    "CZK": Decimal(1),
    "HUF": Decimal(5),
    "NOK": Decimal(1),
    "SEK": Decimal(1),
}
"""What a total is rounded to, often without a line that says so.

CHF: no coin below five centimes. CZK: whole korunas, which the VAT Act (235/2004 Sb., § 36) leaves out of the tax base.
HUF: Act III of 2008, after the coins of 1 and 2. NOK: no coin below a krone since 2012. SEK: Act 1970:1029, whole
kronor since the coin of 50 öre is gone (2010)."""


def unit(currency: str | None) -> Decimal:
    """Return the smallest amount that documents in the currency are written in; a cent where it is unknown."""
    if currency in WHOLE:
        return Decimal(1)
    return CENT / 10 if currency in THOUSANDTHS else CENT


def tolerance(currency: str | None, *, roundings: int = 2) -> Decimal:
    """Return how far apart amounts may be that were rounded so often, each to the smallest amount.

    A whole unit for each: taxes may be rounded up, down or to the nearest, as Japan's National Tax Agency says of
    invoices (its questions and answers on the invoice system: once for each rate, in whatever direction).
    """
    return roundings * unit(currency)


def total_agrees(expected: Decimal, total: Decimal, currency: str | None) -> bool:
    """Tell whether `total` is what was `expected`, or that rounded to the currency's smallest coin."""
    apart, step = abs(expected - total), CASH_STEPS.get(currency or "")
    if apart <= tolerance(currency):
        return True
    return step is not None and total % step == 0 and apart <= step / 2 + CENT
