"""Turkish."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import Label, Language

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
    printed="fatura matrah numarasi odenecek tarihi toplam tutar tutari vadesi",
    days="gun(?:dur)?",
    paying=r"ode\w+|vade\w*",
    labels={
        Label.INVOICE: ("fatura",),
        Label.NUMBER: ("(?:e-?)?fatura (?:no|numarasi|nosu)",),
        Label.ISSUE_DATE: ("(?:fatura|duzenlenme|duzenleme) tarihi", "tarih"),
        Label.DUE_DATE: ("(?:son )?odeme tarihi", "vade(?: tarihi)?"),
        Label.DELIVERY_DATE: ("(?:teslim|sevk|irsaliye) tarihi",),
        Label.TOTAL: (
            "odenecek (?:tutar|toplam)(?: tutar)?",
            "genel toplam",
            "vergiler dahil toplam(?: tutar)?",
            "kdv dahil(?: toplam)?",
        ),
        Label.NET: (
            "ara toplam",
            "mal ?(?:/|ve)? ?hizmet toplam(?: tutari?)?",
            "kdv haric(?: toplam)?",
            "(?:kdv )?matrah(?:i)?",
            r"toplam(?: tutar)?(?=\W*$)",
        ),
        Label.TAX: ("(?:hesaplanan |toplam )?kdv(?: tutari?| toplami?)?",),
        Label.SELLER: ("satici", "tedarikci", "gonderen"),
        Label.BUYER: ("alici", "musteri", "sayin"),
        Label.VAT_ID: ("vkn", "vergi (?:kimlik )?(?:no|numarasi)", "vergi dairesi ve no"),
        Label.CURRENCY: ("para birimi", "doviz cinsi"),
        Label.DESCRIPTION: ("aciklama", "mal ?/? ?hizmet", "urun(?: adi)?", "cinsi"),
        Label.QUANTITY: ("miktar", "adet"),
        Label.PRICE: ("birim fiyati?", "fiyat"),
        Label.AMOUNT: ("tutar", "toplam"),
    },
    papers={
        DocumentType.CREDIT_NOTE: ("iade faturasi",),
        DocumentType.RECEIPT: ("(?:satis )?fisi",),
        DocumentType.DUNNING_LETTER: (r"odeme hat\w?rlatma(?:si)?", "ihtarname", "borc ihtari"),
        DocumentType.STATEMENT: ("hesap (?:ekstresi|ozeti)", "cari hesap ekstresi"),
        DocumentType.PURCHASE_ORDER: (r"sat\w?n alma siparisi", "siparis formu"),
        DocumentType.QUOTE: ("(?:fiyat )?teklif(?:i)?", "proforma teklif"),
        DocumentType.DELIVERY_NOTE: ("(?:sevk )?irsaliye(?:si)?",),
        DocumentType.REMITTANCE_ADVICE: ("odeme bildirimi",),
        DocumentType.CONTRACT: (r"\w*\s?sozlesme(?:si)?",),
    },
)
