"""Italian."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.readers.languages.language import Language

LANGUAGE = Language(
    code="it",
    papers={
        DocumentType.DUNNING_LETTER: (
            "(?:(?:primo|secondo|terzo|ultimo) )?sollecito(?: di pagamento)?",
            "(?:costituzione|messa) in mora",
        ),
        DocumentType.STATEMENT: ("estratto conto", "partite aperte"),
        DocumentType.PURCHASE_ORDER: ("ordine (?:di acquisto|d'acquisto|fornitore)",),
        DocumentType.QUOTE: ("preventivo", "offerta"),
        DocumentType.DELIVERY_NOTE: ("documento di trasporto", r"d\.?d\.?t\.?", "bolla(?: di consegna)?"),
        DocumentType.REMITTANCE_ADVICE: ("avviso di (?:bonifico|pagamento)",),
        DocumentType.CONTRACT: (r"contratto(?: di \w+(?: di \w+)?)?",),
    },
)
