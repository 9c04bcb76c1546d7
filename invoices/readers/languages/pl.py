"""Polish."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.readers.languages.language import Language

LANGUAGE = Language(
    code="pl",
    papers={
        DocumentType.DUNNING_LETTER: (
            "(?:(?:pierwsze|drugie|ostateczne) )?(?:wezwanie do zap[lł]aty|przypomnienie o p[lł]atnosci|ponaglenie)",
        ),
        DocumentType.STATEMENT: ("wyciag z konta", "zestawienie rozrachunkow", "potwierdzenie sald"),
        DocumentType.PURCHASE_ORDER: ("zamowienie",),
        DocumentType.QUOTE: ("oferta(?: cenowa| handlowa)?", "wycena"),
        DocumentType.DELIVERY_NOTE: ("list przewozowy", "dowod dostawy", "dokument wz", "wydanie zewnetrzne"),
        DocumentType.REMITTANCE_ADVICE: ("awizo p[lł]atnosci",),
        DocumentType.CONTRACT: (r"umowa(?: \w+)?",),
    },
)
