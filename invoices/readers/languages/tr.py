"""Turkish."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.readers.languages.language import Language

LANGUAGE = Language(
    code="tr",
    papers={
        DocumentType.DUNNING_LETTER: (r"odeme hat\w?rlatma(?:si)?", "ihtarname", "borc ihtari"),
        DocumentType.STATEMENT: ("hesap (?:ekstresi|ozeti)", "cari hesap ekstresi"),
        DocumentType.PURCHASE_ORDER: (r"sat\w?n alma siparisi", "siparis formu"),
        DocumentType.QUOTE: ("(?:fiyat )?teklif(?:i)?", "proforma teklif"),
        DocumentType.DELIVERY_NOTE: ("(?:sevk )?irsaliye(?:si)?",),
        DocumentType.REMITTANCE_ADVICE: ("odeme bildirimi",),
        DocumentType.CONTRACT: (r"\w*\s?sozlesme(?:si)?",),
    },
)
