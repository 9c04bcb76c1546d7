"""Norwegian."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import Label, Language

LANGUAGE = Language(
    code="no",
    titles=(
        "faktura",
        "kreditnota",
    ),
    months=(
        "januar jan",
        "februar feb",
        "mars mar",
        "april apr",
        "mai",
        "juni jun",
        "juli jul",
        "august aug",
        "september sep",
        "oktober okt",
        "november nov",
        "desember des",
    ),
    common=(
        "og av for med deres faktura dato belop totalt betaling antall pris mva kunde beskrivelse "
        "forfallsdato dager org sum kontonummer vi vennligst ved"
    ),
    printed="belop betale faktura fakturadato fakturanr fakturanummer forfallsdato netto total",
    days="dager",
    paying=r"betal\w+|netto|forfall\w*",
    labels={
        Label.INVOICE: ("faktura",),
        Label.PLAIN_DATE: ("dato",),
        Label.NUMBER: (r"faktura(?:nummer|nr)\.?", "faktura nr"),
        Label.ISSUE_DATE: ("fakturadato", "utstedt"),
        Label.DUE_DATE: ("forfall(?:sdato|er)?", "betalingsfrist", "betales innen", "betal innen"),
        Label.DELIVERY_DATE: ("levering(?:sdato|sdag)", "levert"),
        Label.TOTAL: (
            "(?:sum |belop |totalt? )?a betale",
            r"(?:totalt?|sum|belop) inkl\.? (?:mva|moms)",
            "totalbelop",
            "fakturabelop",
            "til betaling",
        ),
        Label.NET: (
            r"(?:sum|belop|totalt?|netto) (?:eks|ekskl|ex)\.? ?mva",
            r"(?:eks|ekskl)\.? mva",
            "nettobelop",
            "delsum",
            "avgiftsgrunnlag",
            "mva-?grunnlag",
        ),
        Label.TAX: ("mva(?:-?belop)?", "merverdiavgift", "herav mva"),
        Label.SELLER: ("selger", "leverandor", "avsender"),
        Label.BUYER: ("kunde", "kjoper", "mottaker", "fakturamottaker", "fakturaadresse", "leveringsadresse"),
        Label.VAT_ID: (r"org\.?[ -]?(?:nr|nummer)\.?", "organisasjonsnummer", "foretaksregisteret", r"mva[ -]?nr\.?"),
        Label.CURRENCY: ("valuta",),
        Label.DESCRIPTION: ("beskrivelse", "vare(?:navn)?", "tekst", "produkt"),
        Label.QUANTITY: ("antall", "mengde"),
        Label.PRICE: ("(?:enhets|stk)?-?pris",),
        Label.AMOUNT: ("belop", "sum", "linjesum"),
    },
    papers={
        DocumentType.CREDIT_NOTE: ("kreditnota",),
        DocumentType.RECEIPT: ("(?:kasse|salgs)?kvittering",),
        DocumentType.DUNNING_LETTER: ("(?:betalings)?paminnelse", "purring", "inkassovarsel"),
        DocumentType.STATEMENT: ("kontoutskrift", "kontoutdrag"),
        DocumentType.PURCHASE_ORDER: ("innkjopsordre", "bestilling"),
        DocumentType.QUOTE: ("tilbud",),
        DocumentType.DELIVERY_NOTE: ("pakkseddel", "folgeseddel"),
        DocumentType.REMITTANCE_ADVICE: ("betalingsavis", "remitteringsavis"),
        DocumentType.CONTRACT: (r"\w*(?:avtale|kontrakt)",),
    },
)
