"""Polish."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import Label, Language

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
    printed=(
        "brutto faktura faktury ilosc kwota nabywca netto numer platnosci podatek razem sprzedawca sprzedaz "
        "termin wartosc wystawienia zaplaty"
    ),
    days="dni",
    paying=r"platno\w+|zaplat\w+|przelew\w*",
    labels={
        Label.INVOICE: ("faktur[ay]",),
        Label.PLAIN_DATE: ("data",),
        Label.NUMBER: ("(?:numer|nr) faktury", "numer dokumentu", "nr dokumentu"),
        Label.CORRECTION: ("korygujac",),
        Label.ISSUE_DATE: ("data (?:wystawienia|faktury|dokumentu)", "wystawion[oay](?: dnia)?"),
        Label.DUE_DATE: ("termin (?:platnosci|zaplaty)", "platne do", "data platnosci", "zaplata do"),
        Label.DELIVERY_DATE: ("data (?:sprzedazy|dostawy|wykonania(?: uslugi)?|zakonczenia dostawy)",),
        Label.TOTAL: (
            "(?:razem |kwota |suma |naleznosc )?do zaplaty",
            "(?:razem|wartosc|kwota|suma) brutto",
            "kwota naleznosci",
        ),
        Label.NET: ("(?:razem|wartosc|kwota|suma) netto", "wartosc sprzedazy netto"),
        Label.TAX: ("(?:kwota|wartosc|podatek|suma) vat", "podatek"),
        Label.SELLER: ("sprzedawca", "wystawca", "sprzedajacy"),
        Label.BUYER: ("nabywca", "odbiorca", "kupujacy", "platnik"),
        Label.VAT_ID: ("nip",),
        Label.CURRENCY: ("waluta",),
        Label.DESCRIPTION: (
            "nazwa(?: towaru| uslugi)?(?:(?: lub|[ /,]+)? ?(?:uslugi|towaru))?",
            "opis",
            "wyszczegolnienie",
        ),
        Label.QUANTITY: ("ilosc", "liczba"),
        Label.PRICE: (r"cena(?: jedn\w*\.?)?(?: netto)?",),
        Label.AMOUNT: ("wartosc(?: netto| brutto)?", "kwota(?! vat)"),
    },
    papers={
        DocumentType.CREDIT_NOTE: ("nota kredytowa",),
        DocumentType.RECEIPT: ("paragon(?: fiskalny)?",),
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
