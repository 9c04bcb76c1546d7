"""Czech."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.readers.languages.language import Language

LANGUAGE = Language(
    code="cs",
    papers={
        DocumentType.DUNNING_LETTER: (r"(?:\d\. )?upominka", "vyzva k (?:uhrade|zaplaceni)", "predzalobni vyzva"),
        DocumentType.STATEMENT: ("vypis z uctu", "odsouhlaseni zavazku"),
        DocumentType.PURCHASE_ORDER: ("objednavka",),
        DocumentType.QUOTE: ("(?:cenova )?nabidka",),
        DocumentType.DELIVERY_NOTE: ("dodaci list",),
        DocumentType.REMITTANCE_ADVICE: ("avizo o platbe", "platebni avizo"),
        DocumentType.CONTRACT: (r"(?:kupni |ramcova |najemni )?smlouva(?: o \w+)?",),
    },
)
