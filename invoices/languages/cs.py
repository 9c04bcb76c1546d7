"""Czech."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import Label, Language

LANGUAGE = Language(
    code="cs",
    titles=(
        "faktura(?: -? ?danovy doklad)?",
        "danovy doklad",
        "dobropis",
        "opravny danovy doklad",
    ),
    months=(
        "ledna leden",
        "unora unor",
        "brezna brezen",
        "dubna duben",
        "kvetna kveten",
        "cervna cerven",
        "cervence cervenec",
        "srpna srpen",
        "zari",
        "rijna rijen",
        "listopadu listopad",
        "prosince prosinec",
    ),
    common=(
        "a na pro faktura datum castka celkem platba mnozstvi cena dph odberatel dodavatel popis splatnosti "
        "ucet dni ico dic variabilni symbol vystaveni uhrade kc"
    ),
    printed="castka celkem cislo datum faktura faktury mezisoucet splatnost splatnosti uhrade vystaveni zaklad",
    days="dni|dnu",
    paying=r"splat\w+|uhrad\w+|plat\w+",
    labels={
        Label.INVOICE: ("faktur[ay]", "danovy doklad"),
        Label.PLAIN_DATE: ("datum",),
        Label.NUMBER: (
            r"(?:cislo|c\.) (?:faktury|dokladu)",
            r"(?:faktura|doklad)(?: -? ?danovy doklad)? (?:c(?:islo|\.)?)",
            "variabilni symbol",
        ),
        Label.CORRECTION: ("opravn",),
        Label.ISSUE_DATE: ("datum (?:vystaveni|vyhotoveni|faktury)", "vystaveno(?: dne)?"),
        Label.DUE_DATE: ("(?:datum )?splatnost(?:i)?", "splatno (?:do|dne)"),
        Label.DELIVERY_DATE: ("datum (?:uskutecneni )?(?:zdanitelneho )?plneni", "duzp", "datum dodani"),
        Label.TOTAL: (
            "(?:celkem |castka |celkova castka )?k uhrade",
            "celkem (?:s dph|k zaplaceni|vcetne dph)",
            "k zaplaceni",
            "cena celkem(?: s dph)?",
            "celkova castka",
        ),
        Label.NET: ("(?:celkem |castka |cena )?bez dph", "zaklad(?: dane)?", "mezisoucet"),
        Label.TAX: ("(?:castka |vyse |celkem )?dph", "dan"),
        Label.SELLER: ("dodavatel", "prodavajici", "prodejce"),
        Label.BUYER: ("odberatel", "kupujici", "zakaznik", "prijemce"),
        Label.VAT_ID: ("dic", "ic dph"),
        Label.CURRENCY: ("mena",),
        Label.DESCRIPTION: ("popis", "nazev", "polozka", "oznaceni dodavky", "predmet"),
        Label.QUANTITY: ("mnozstvi", "pocet", "ks"),
        Label.PRICE: (r"(?:jedn\w*\.? )?cena(?: za (?:mj|ks|jednotku))?", "cena/(?:mj|ks)"),
        Label.AMOUNT: ("castka", "celkem", "cena celkem"),
    },
    papers={
        DocumentType.CREDIT_NOTE: ("dobropis",),
        DocumentType.RECEIPT: ("uctenka", "paragon"),
        DocumentType.DUNNING_LETTER: (r"(?:\d\. )?upominka", "vyzva k (?:uhrade|zaplaceni)", "predzalobni vyzva"),
        DocumentType.STATEMENT: ("vypis z uctu", "odsouhlaseni zavazku"),
        DocumentType.PURCHASE_ORDER: ("objednavka",),
        DocumentType.QUOTE: ("(?:cenova )?nabidka",),
        DocumentType.DELIVERY_NOTE: ("dodaci list",),
        DocumentType.REMITTANCE_ADVICE: ("avizo o platbe", "platebni avizo"),
        DocumentType.CONTRACT: (r"(?:kupni |ramcova |najemni )?smlouva(?: o \w+)?",),
    },
)
