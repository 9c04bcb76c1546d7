"""Checksummed identifiers: IBAN and VAT ids, as written and as checked."""

import re

from stdnum import iban as stdnum_iban
from stdnum.ch import uid as stdnum_swiss
from stdnum.eu import vat as stdnum_vat
from stdnum.exceptions import ValidationError
from stdnum.gb import vat as stdnum_british
from stdnum.no import mva as stdnum_norwegian

from docrail.invoices.facts import Evidence

SWISS_TAX = re.compile(r"(?:MWST|TVA|IVA)$")
"""Behind a Swiss company's number: it is registered for the tax."""


def warm_up() -> None:
    """Load the country modules, which stdnum puts off until a country is met."""
    for country in stdnum_vat.MEMBER_STATES:
        stdnum_vat.is_valid(f"{country}0")


def compact(words: str | None) -> str | None:
    """Return an identifier without spaces, dots and dashes, in capitals; None if nothing is left."""
    return re.sub(r"[\s.\-/]", "", words or "").upper() or None


def iban_valid(iban: str) -> bool:
    """Tell whether the check digits and the country's length are right. National rules are left to the bank."""
    try:
        stdnum_iban.validate(iban, check_country=False)
    except ValidationError:
        return False
    return True


def iban_evidence(iban: str) -> tuple[Evidence, ...]:
    """Return what the IBAN's checksum says."""
    return (Evidence.CHECKSUM_VALID,) if iban_valid(iban) else (Evidence.CHECKSUM_INVALID,)


def vat_evidence(vat_id: str) -> tuple[Evidence, ...]:
    """Return what the VAT id's checksum says; nothing for a country whose rule is unknown."""
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
