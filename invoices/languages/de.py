"""German."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import Language

LANGUAGE = Language(
    code="de",
    titles=(
        r"\w*rechnung(?:skorrektur)?",
        "gutschrift",
        "(?:honorar|kosten|gebuhren)note",
    ),
    months=(
        "januar janner jan",
        "februar feb febr",
        "marz mrz mar",
        "april apr",
        "mai",
        "juni jun",
        "juli jul",
        "august aug",
        "september sept sep",
        "oktober okt",
        "november nov",
        "dezember dez",
    ),
    common=(
        "und der die das von fur mit bitte rechnung datum betrag gesamt zahlung menge preis steuer mwst ust "
        "bank innerhalb tage nummer ihre wir netto brutto kunde zzgl"
    ),
    days="tagen?",
    paying=r"netto|zahl\w+|fallig|rein netto|ohne abzug|begleich\w+|uberweis\w+|ausgleich",
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
