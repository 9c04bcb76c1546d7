"""Finnish."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import Language

LANGUAGE = Language(
    code="fi",
    titles=(
        r"lasku(?=\W*$|\W*(?:nro|nr|no|numero)?\W*\d)",
        "hyvityslasku",
    ),
    months=(
        "tammikuuta tammikuu",
        "helmikuuta helmikuu",
        "maaliskuuta maaliskuu",
        "huhtikuuta huhtikuu",
        "toukokuuta toukokuu",
        "kesakuuta kesakuu",
        "heinakuuta heinakuu",
        "elokuuta elokuu",
        "syyskuuta syyskuu",
        "lokakuuta lokakuu",
        "marraskuuta marraskuu",
        "joulukuuta joulukuu",
    ),
    common=(
        "ja on lasku paivays paivamaara summa yhteensa maksu maara hinta alv asiakas kuvaus erapaiva "
        "tilinumero paivaa veroton viitenumero laskun maksettava viite kpl netto"
    ),
    days="paivaa|pv",
    paying=r"maks\w+|netto",
    papers={
        DocumentType.DUNNING_LETTER: ("maksu(?:muistutus|kehotus)", "perintakirje"),
        DocumentType.STATEMENT: ("tiliote", "saldoilmoitus"),
        DocumentType.PURCHASE_ORDER: ("ostotilaus",),
        DocumentType.QUOTE: ("tarjous",),
        DocumentType.DELIVERY_NOTE: ("lahetyslista", "pakkausluettelo", "rahtikirja"),
        DocumentType.REMITTANCE_ADVICE: ("maksuerittely",),
        DocumentType.CONTRACT: (r"\w*sopimus",),
    },
)
