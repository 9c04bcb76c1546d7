"""Finnish."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.readers.languages.language import Language

LANGUAGE = Language(
    code="fi",
    papers={
        DocumentType.DUNNING_LETTER: ("maksu(?:muistutus|kehotus)", "perintakirje"),
        DocumentType.STATEMENT: ("tiliote", "saldoilmoitus"),
        DocumentType.PURCHASE_ORDER: ("ostotilaus",),
        DocumentType.QUOTE: ("tarjous",),
        DocumentType.DELIVERY_NOTE: ("lahetyslista", "pakkausluettelo", "rahtikirja"),
        DocumentType.REMITTANCE_ADVICE: ("maksuerittely",),
        DocumentType.CONTRACT: (r"\w*sopimus",),
    },
)
