"""Turkish."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import Language

LANGUAGE = Language(
    code="tr",
    titles=(
        "(?:e-?(?:arsiv )?)?fatura(?:si)?",
        "iade faturasi",
    ),
    months=(
        "ocak oca",
        "subat sub",
        "mart mar",
        "nisan nis",
        "mayis may",
        "haziran haz",
        "temmuz tem",
        "agustos agu",
        "eylul eyl",
        "ekim eki",
        "kasim kas",
        "aralik ara",
    ),
    common=(
        "ve ile icin fatura tarihi tutar toplam odeme miktar fiyat kdv musteri aciklama vade hesap gun sayin "
        "vergi no adet birim genel satici alici"
    ),
    days="gun(?:dur)?",
    paying=r"ode\w+|vade\w*",
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
