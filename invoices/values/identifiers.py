"""Normalize and check identifiers with check digits: IBAN and VAT ids."""

import re

from stdnum import iban as stdnum_iban
from stdnum.ch import uid as stdnum_swiss
from stdnum.eu import vat as stdnum_vat
from stdnum.exceptions import ValidationError
from stdnum.gb import vat as stdnum_british
from stdnum.no import mva as stdnum_norwegian

from docrail.invoices.facts import Evidence

SWISS_TAX = re.compile(r"(?:MWST|TVA|IVA)$")
"""Suffix of a Swiss company number that is registered for VAT."""


def warm_up() -> None:
    """Load the country modules, which stdnum otherwise imports on first use, and compile the patterns of IBANs."""
    for country in stdnum_vat.MEMBER_STATES:
        stdnum_vat.is_valid(f"{country}0")
    for country in (*stdnum_vat.MEMBER_STATES, "gb", "ch", "no"):
        iban_valid(f"{country}{stdnum_iban.calc_check_digits(f'{country}000')}0")


def compact(words: str | None) -> str | None:
    """Return an identifier in uppercase without spaces, dots and dashes; None if nothing is left."""
    return re.sub(r"[\s.\-/]", "", words or "").upper() or None


def iban_valid(iban: str) -> bool:
    """Return whether the check digits and the country's length are valid. National rules are left to the bank."""
    try:
        stdnum_iban.validate(iban, check_country=False)
    except ValidationError:
        return False
    return True


def iban_evidence(iban: str) -> tuple[Evidence, ...]:
    """Return the result of the IBAN's check digits as evidence."""
    return (Evidence.CHECKSUM_VALID,) if iban_valid(iban) else (Evidence.CHECKSUM_INVALID,)


def vat_evidence(vat_id: str) -> tuple[Evidence, ...]:
    """Return the result of the VAT id's check digits as evidence; empty if the country's rule is unknown."""
    country = vat_id[:2].lower()
    if country == "gb":
        valid = stdnum_british.is_valid(vat_id)
    elif country == "ch":
        valid = stdnum_swiss.is_valid(SWISS_TAX.sub("", vat_id))
    elif country == "no":
        valid = stdnum_norwegian.is_valid(vat_id)
    elif country in stdnum_vat.MEMBER_STATES or country in ("gr", "el"):
        valid = stdnum_vat.is_valid(vat_id)
    else:
        return ()
    return (Evidence.CHECKSUM_VALID,) if valid else (Evidence.CHECKSUM_INVALID,)
