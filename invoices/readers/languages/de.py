"""German."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.readers.languages.language import Language

LANGUAGE = Language(
    code="de",
    papers={
        DocumentType.DUNNING_LETTER: (
            r"(?:(?:erste|zweite|dritte|letzte|\d)\.? )?(?:zahlungs|rechnungs)?(?:mahnung|erinnerung)",
            "mahnschreiben",
            "letzte aufforderung",
        ),
        DocumentType.STATEMENT: (
            "konto(?:auszug|blatt)",
            "offene[- ]posten(?:[- ]?liste)?",
            "saldenbestatigung",
            "saldenliste",
        ),
        DocumentType.PURCHASE_ORDER: ("(?:einkaufs)?bestellung", "bestellschein", "auftragserteilung"),
        DocumentType.QUOTE: (r"\w*angebot", "offerte", "kosten(?:vor)?anschlag"),
        DocumentType.DELIVERY_NOTE: ("(?:waren)?lieferschein", "packliste", "packzettel", "warenbegleitschein"),
        DocumentType.REMITTANCE_ADVICE: ("zahlungsavis", "zahlungsanzeige", "uberweisungsavis"),
        DocumentType.CONTRACT: (r"\w*vertrag", "vereinbarung"),
    },
)
