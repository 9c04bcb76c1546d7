"""Finnish."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import Label, Language

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
    printed="erapaiva lasku laskun laskunumero maksettava numero paivays summa verollinen veroton yhteensa",
    days="paivaa|pv",
    paying=r"maks\w+|netto",
    labels={
        Label.NUMBER: (r"laskun? ?(?:numero|nro|nr)\.?", "laskunumero"),
        Label.ISSUE_DATE: ("laskun (?:paivays|pvm|paivamaara)", "laskupaiva", "paivays", "laskutuspaiva"),
        Label.DUE_DATE: ("erapaiva", "eraantyy", "maksettava viimeistaan", "maksupaiva"),
        Label.DELIVERY_DATE: ("toimitus(?:paiva|pvm)",),
        Label.TOTAL: (
            "(?:yhteensa |laskun )?maksettava(?:a)?(?: yhteensa)?",
            "laskun (?:loppu)?summa",
            "loppusumma",
            r"yhteensa(?: eur)?(?=\W*$)",
            "verollinen(?: summa| yhteensa)?",
            r"yhteensa sis\.? alv",
        ),
        Label.NET: ("veroton(?: summa| yhteensa| hinta)?", "yhteensa (?:ilman alv|veroton)", "valisumma", "alv 0 ?%"),
        Label.TAX: ("alv(?: yhteensa)?", "arvonlisavero(?:n maara)?", "veron maara"),
        Label.SELLER: ("myyja", "toimittaja", "laskuttaja", "lahettaja"),
        Label.BUYER: ("asiakas", "ostaja", "laskutusosoite", "vastaanottaja", "maksaja"),
        Label.VAT_ID: ("y-?tunnus", r"alv-?(?:tunnus|numero|nro|rek\w*)", "vat-?tunnus"),
        Label.CURRENCY: ("valuutta",),
        Label.DESCRIPTION: ("kuvaus", "tuote", "nimike", "selite"),
        Label.QUANTITY: ("maara", "kpl", "lkm"),
        Label.PRICE: ("(?:yksikko|a-?)?hinta",),
        Label.AMOUNT: ("summa", "yhteensa", "rivisumma"),
    },
    papers={
        DocumentType.CREDIT_NOTE: ("hyvityslasku",),
        DocumentType.RECEIPT: ("(?:kassa)?kuitti",),
        DocumentType.DUNNING_LETTER: ("maksu(?:muistutus|kehotus)", "perintakirje"),
        DocumentType.STATEMENT: ("tiliote", "saldoilmoitus"),
        DocumentType.PURCHASE_ORDER: ("ostotilaus",),
        DocumentType.QUOTE: ("tarjous",),
        DocumentType.DELIVERY_NOTE: ("lahetyslista", "pakkausluettelo", "rahtikirja"),
        DocumentType.REMITTANCE_ADVICE: ("maksuerittely",),
        DocumentType.CONTRACT: (r"\w*sopimus",),
    },
)
