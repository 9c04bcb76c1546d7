"""Polish."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import Language

LANGUAGE = Language(
    code="pl",
    titles=(
        "faktura(?: vat| korygujaca| zaliczkowa| koncowa| vat marza| pro forma)*",
        r"rachunek(?= nr|\W*$)",
    ),
    months=(
        "styczen stycznia sty",
        "luty lutego lut",
        "marzec marca mar",
        "kwiecien kwietnia kwi",
        "maj maja",
        "czerwiec czerwca cze",
        "lipiec lipca lip",
        "sierpien sierpnia sie",
        "wrzesien wrzesnia wrz",
        "pazdziernik pazdziernika paz",
        "listopad listopada lis",
        "grudzien grudnia gru",
    ),
    common=(
        "i do na z w dla faktura data sprzedawca nabywca razem netto brutto kwota ilosc cena wartosc "
        "platnosci termin zaplaty konto dni nazwa nip slownie przelew"
    ),
    days="dni",
    paying=r"platno\w+|zaplat\w+|przelew\w*",
    papers={
        DocumentType.DUNNING_LETTER: (
            "(?:(?:pierwsze|drugie|ostateczne) )?(?:wezwanie do zaplaty|przypomnienie o platnosci|ponaglenie)",
        ),
        DocumentType.STATEMENT: ("wyciag z konta", "zestawienie rozrachunkow", "potwierdzenie sald"),
        DocumentType.PURCHASE_ORDER: ("zamowienie",),
        DocumentType.QUOTE: ("oferta(?: cenowa| handlowa)?", "wycena"),
        DocumentType.DELIVERY_NOTE: ("list przewozowy", "dowod dostawy", "dokument wz", "wydanie zewnetrzne"),
        DocumentType.REMITTANCE_ADVICE: ("awizo platnosci",),
        DocumentType.CONTRACT: (r"umowa(?: \w+)?",),
    },
)
