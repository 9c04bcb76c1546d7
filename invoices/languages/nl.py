"""Dutch."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import Language

LANGUAGE = Language(
    code="nl",
    titles=(
        r"\w*factuur",
        "creditnota",
        "creditfactuur",
        "(?:ereloon|honorarium)nota",
        "staat van (?:kosten en )?ereloon",
    ),
    months=(
        "januari jan",
        "februari feb febr",
        "maart mrt",
        "april apr",
        "mei",
        "juni jun",
        "juli jul",
        "augustus aug",
        "september sept sep",
        "oktober okt",
        "november nov",
        "december dec",
    ),
    common=(
        "en de het van voor met uw factuur datum bedrag totaal betaling aantal prijs btw klant omschrijving "
        "rekening binnen dagen wij excl graag nummer vervaldatum"
    ),
    days="dagen",
    paying=r"netto|beta\w+|voldoen|overma\w+|te voldoen",
    papers={
        DocumentType.DUNNING_LETTER: (
            r"(?:(?:eerste|tweede|derde|laatste|\d\w*) )?(?:betalings)?(?:herinnering|aanmaning)",
            "ingebrekestelling",
        ),
        DocumentType.STATEMENT: ("rekening(?:overzicht|uittreksel|afschrift)", "openstaande posten"),
        DocumentType.PURCHASE_ORDER: ("(?:in|aan)koop(?:order|opdracht)", "bestelbon", "(?:bestel|order)formulier"),
        DocumentType.QUOTE: ("offerte", "prijsopgave"),
        DocumentType.DELIVERY_NOTE: ("pakbon", "(?:af)?leverbon"),
        DocumentType.REMITTANCE_ADVICE: ("beta(?:al|lings)(?:advies|specificatie)",),
        DocumentType.CONTRACT: (r"\w*(?:overeenkomst|contract)",),
    },
)
