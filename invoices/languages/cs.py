"""Czech."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import Language

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
    days="dni|dnu",
    paying=r"splat\w+|uhrad\w+|plat\w+",
    papers={
        DocumentType.DUNNING_LETTER: (r"(?:\d\. )?upominka", "vyzva k (?:uhrade|zaplaceni)", "predzalobni vyzva"),
        DocumentType.STATEMENT: ("vypis z uctu", "odsouhlaseni zavazku"),
        DocumentType.PURCHASE_ORDER: ("objednavka",),
        DocumentType.QUOTE: ("(?:cenova )?nabidka",),
        DocumentType.DELIVERY_NOTE: ("dodaci list",),
        DocumentType.REMITTANCE_ADVICE: ("avizo o platbe", "platebni avizo"),
        DocumentType.CONTRACT: (r"(?:kupni |ramcova |najemni )?smlouva(?: o \w+)?",),
    },
)
