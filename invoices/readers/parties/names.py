"""Decide whether a text can be the name of a company or a person, and where a name ends in it."""

import re
from collections.abc import Sequence
from functools import lru_cache

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.all import PAPERS
from docrail.invoices.readers.layout import vocabulary
from docrail.invoices.readers.layout.page import Cell, Layout
from docrail.invoices.values.currencies import CURRENCIES
from docrail.invoices.values.dates import find_dates
from docrail.invoices.values.folding import fold, squeeze
from docrail.invoices.values.numbers import find_amounts

_BODY = (
    r"(?<!.)(?:stichting|vereniging|cooperat(?:ie|iva|ive)|fondation|fundac(?:ion|io|ao)|fondazione|stiftung|"
    r"(?:forder)?verein|asociacion|as+ocia(?:zione|cao)|(?:azienda|societa|impresa) agricola|"
    r"association(?! (?:loi|regie|sans|a but|non|declare|exonere|agree|reconnue)))(?= [a-z'\"][^,:.]{2,60}$)|"
    r"(?<=[a-z] )(?:stiftung|foundation|trust|(?:forder)?verein|society|co-?operative|aps|odv|ets)(?=\W*$)"
)
"""Foundations, associations, cooperatives and farms, whose kind begins or ends the name."""
LEGAL_BODY = re.compile(_BODY)
LEGAL_FORM = re.compile(
    rf"{_BODY}|"
    r"\b(?:(?:g?gmbh|ag|se|ug(?: \(haftungsbeschrankt\))?|ltd\.?|ges\. ?m\. ?b\. ?h\.) & co\.?,? (?:kgaa|kg|ohg)|"
    r"ag(?! [a-z. ()-]{3,30} (?:hr ?[ab]|[gpv]n?r)\b)|"
    r"g?gmbh|kg|kgaa|ohg|g?ug(?: \(haftungsbeschrankt\))?|e\. ?k(?:fm|fr)?\.?|ek|e?gbr|mbh|g\.m\.b\.h|se|"
    r"(?:\(?(?:pty|pvt|pte|p)\.?\)? )?(?:ltd|limited)|inc|l\.l\.c|p?llc|ll?lp|plc|corp|corporation|lt[e]e|cyf|"
    r"incorporated|co(?!-op)(?!(?<=^co)\.? [a-z]{4,}\W*$)(?:\.?,? (?:ltd|limited|kg))?|(?:sdn\.? )?bhd|berhad|s/b|pte|"
    r"cic|c\.i\.c|clg|d\.a\.c|ulc|teo(?:ranta)?|npc|scio|l\.p\.|(?<=, )p\.?[ac]\.?(?=\W*(?:$|,))|"
    r"kdor|aor|flexco|gesnbr|aktiengesellschaft|kommanditgesellschaft|genossenschaft|egen|vvag|"
    r"v\.?z\.?w|c\.v\.|e?bvba|b\.v\.b\.a|c\.v\.b\.a|comm\.? ?va?(?![a-z])|gcv|maatschap(?=\W*(?:$|,))|"
    r"(?:(?:sociedade )?unipessoal,? )?(?:ld\.?a|limitada)|s\.?g\.?p\.?s\.?,? s\.?a|"
    r"s\.?a\.?(?:p\.?i\.?|b\.?|s\.?)? de c\.?v|s\.? de r\.?l\.?(?: de c\.?v)?|"
    r"b\.?v\.?(?:/srl)?|n\.?v\.?(?:/sa)?|v\.?o\.?f\.?|s\.?a\.? ?r\.?l\.?|s\.?a\.?s\.?u?|s\.?a\.?(?:u\.?)?|s\.s\.|"
    r"eurl|selarl|selas|selafa|selurl|scea|gaec|cuma|sc(?:op|ic)(?: s\.?a(?:\.?r\.?l)?)?|asbl|aisbl|s\.?c\.?r\.?l|"
    r"scarl|s\.?a\.?g\.?l|sccl|slne|"
    r"s\.?l\.?u?|s\. l|s\.?r\.?l\.?s?|s\.?n\.?c\.?|s\.?p\.?a\.?|eirl|eireli|ltda|c\.?r\.?l|"
    r"(?<!.)(?:earl(?! (?:grey|of|street))|sc[ipm]|sat|gie)(?= [a-z][^,]*$)|(?<=[a-z] )"
    r"(?:earl|sc[ip]|sal|aie|gie|stp|onlus|epe|asd|ssd|[oe]g|lp|cv|cc|k[ml]g)(?= *(?:[,;|\u2022\u00b7\u2013-]|$))|"
    r"soc(?:\.|ieta) (?:coop(?:\.|erativa)|(?:semplice )?agr(?:\.|icola))|"
    r"sociedad (?:limitada|anonima|cooperativa|civil)|comunidad de bienes|s\.c\.(?:p|c\.l)?|a\.i\.e|a\.s\.b\.l|"
    r"company(?: limited)?|a/s|as(?! [a-z])|aps|(?<!\b\d{4} )ab|oy|ou$|u\.a|e\. ?u\.|"
    r"ges(?:ellschaft|\.)? ?m\. ?b\. ?h\.?|gesmbh|part(?:g|nerschaft\w*)(?: ?mbb)?|"
    r"s\.c\.a\.?|s\.? ?coop\.?|s\.?l\.?[lp]\.?|c\.b\.|"
    r"dac|cio(?! [a-z])|sprl|cvba|a\.g|e\.g\.|sp\. z o\.?o\.?|s\.r\.o|kft|pvt|pty|e\. ?v)(?![a-z])\.?"
)
"""Legal forms of companies. An Irish county, `Co. Mayo`, is not one, nor is a court, `AG Bonn HRB 1`."""
WHOLE_FORM = re.compile(
    r"(?i:[\s,](?:limited|company|incorporated|corporation|gmbh|ag|kg|llc|llp|plc|sarl|sas|sa|sl|srl|spa|bv|nv)\.$)"
)
"""A legal form at the end, with a full stop that does not belong to an abbreviation."""
STATUS = re.compile(
    r"\s+[-\u2013\u2014|\u00b7\u2022]\s+(?:entrepreneure? individuel(?:le)?|etablissement public|eenmanszaak|"
    r"einzelunternehme(?:n|r(?:in)?)|(?:ditta|impresa) individuale|sole trader|empresari[ao] individual)(?![a-z])"
)
"""The legal status of a person or a public body, after the name: a legal form for those that have none."""
REGISTER_ENTRY = re.compile(
    r"\s*(?:\((?:\w[\w.]{0,9}[\s:.]{1,3}){0,2}(?:\d ?){5,}\W?[A-Z]\)|\s\d{5,}-[A-Z]\b\)?)(?:\s*\([^)]*\))?\s*$"
    r"|\s*\((?:registered|reg\.)[^)]*\)\s*$"
)
"""Registration number after a name on the same line: `(126926-H)`."""
FREE_MAIL = frozenset({"gmail", "gmx", "web", "yahoo", "hotmail", "outlook", "icloud", "aol", "t-online", "example"})
DOMAIN = re.compile(r"(?:@|www\.|https?://(?:www\.)?)([a-z0-9-]+(?:\.[a-z0-9-]+)*)\.[a-z]{2,14}\b")
SITE = re.compile(r"(?:www\.)?([\w-]+)(?:\.[a-z]{2,3})?\.[a-z]{2,14}")
"""A domain as the name of a site: `muster.co.uk`."""
NUMBERED_COMPANY = re.compile(
    r"\d{4}-\d{4} quebec inc|\d{6,10} (?:canada|ontario|alberta|manitoba|saskatchewan|b\.?c\.?|n\.?[bs]\.?) "
    r"(?:inc(?:orporated)?|ltd|limited|limitee|lte+|corp(?:oration)?|ulc)"
)
"""Canadian companies whose name is their number, on folded text."""
NO_NAME = re.compile(
    r"^\W*(?:page|seite|pagina|pag|tel|fax|phone|e-?mail|date|datum|gln|nummer|number|no(?=\W*(?:\d|$)|[.:])|nr|iban|bic|"
    r"vat|ust|btw|tva|tax|www|http|logo|original|copy|kopie|copie|duplicate|herrn?|frau|mr|mrs|to|from|bill|bank|swift|"
    r"kvk|siret|invoice|receipt|payment|globale|summary|total|amount|account|email|dear|terms|po|p\.o|order|your|ihre?|"
    r"uw|votre|afdeling|abteilung|departa?ment[o]?|dept|ufficio|"
    r"thank|merci (?:de|pour)|(?:vielen )?dank|gracias|grazie|bedankt|obrigad[oa]|dziekujemy|dekujeme|tack|tak for|"
    r"takk|kiitos|tesekkur|posted|paid|received|statement|estimate|quotation|inh|inhaber(?:in)?|gerante?|propietari[ao]|titolare|"
    r"c\.f\. [a-z]{6}\d\d[a-z]\d\w+)\b"  # an Italian tax number
)
NUMBER_OF = re.compile(r"\b(?:no|nr|n[o°º]|nummer|number)$")
LABELS = (
    vocabulary.INVOICE_NUMBER,
    vocabulary.ISSUE_DATE,
    vocabulary.DUE_DATE,
    vocabulary.VAT_LABEL,
    vocabulary.REGISTRATION,
    vocabulary.CURRENCY_LABEL,
)
RECEIPT_TITLE = vocabulary.any_of(*PAPERS[DocumentType.RECEIPT])
"""Titles of receipts, which stand where the name is looked for."""
COUNTRY = re.compile(
    r"deutschland|germany|austria|osterreich|schweiz|switzerland|suisse|france|frankreich|nederland|netherlands|"
    r"belgie|belgique|belgium|luxembourg|italia|italy|espana|spain|portugal|united kingdom|united states|usa|uk|india"
)
STREET_NAME = re.compile(
    r"(?:c/ ?|(?:avda|pza|ctra|pol|bd|loc)\.? |(?:rue|chemin|impasse|quai|allee|viale|calle) |"
    r"z\.?[ai]\.? (?:de|du|des|la|les) )"
    r"|.*[a-z] \d{1,4}[a-z]?, "
)
"""Street names; checked only for lines without a legal form."""
STREET = re.compile(r"^\d|\d{4,}|\b\d{1,4} ?[a-z]?$")
STREET_NUMBER = re.compile(r"\d{1,4} ?[a-zA-Z]?")
"""The part after a street, rather than after a name."""
GOES_ON = re.compile(r"(?:di|by|of|c/o|t/a|(?:a )?trading (?:name|style|as))\s")
"""Lowercase words with which a line continues the name above it."""
END_OF_SENTENCE = re.compile(r"[a-z\u00df-\u00ff]+\.")
"""A single word with a full stop, alone on a line: the end of running text."""
GOES_ON_AFTER = re.compile(r"\W*\s(?:[-\u2013\u2014|]\s|[\u00b7\u2022]|\w)")
"""Text after a name with its legal form."""
FORM_FIRST = re.compile(
    r"(?:sarl|sasu?|eurl|earl|gaec|scea|scop|selarl|selas|srl|sprl|asbl|s\.?a\.?|sc[ipm]|snc|[bn]\.?v\.?|v\.?o\.?f\.?|"
    r"c?vba|bvba|vzw|gcv|comm\.?v\.?|maatschap|stichting|vereniging|cooperati(?:e|eve?)|firma|fa\.) "
    r".{3,60}?(?=,| (?:[-\u2013\u2014|\u00b7\u2022]|au capital) )"
)
"""With the legal form first, as in French and Dutch: `SARL Dupont, capital 10 000 €, RCS Nantes`."""
_OF = r"(?:(?:\w+ )?(?:by|par|por|da|door)|of|for|der|von|des|de|du|d[ao]s?|van|del(?:la)?|di)"
_A = (
    r"(?:\b(?:an?|eine?|une?|een|una?|uma?|the|die|der|las?|le|il|el|o|het|de) ?|\b(?:l|un)'|[,(] ?)"
    r"(?:(?:registered|eingetragene|geregistreerde) ?)?"
)
_NAME = (
    r"(?:trad(?:e|ing)|business) (?:name|style)s?|handelsname|geschaftsbezeichnung|handelsnaam|nom commercial|"
    r"nombre comercial|nome com\w+|denomina\w+ commerciale|denominacion comercial|enseigne|insegna|rotulo"
)
_BRANCH = (
    r"(?:operating |trading )?divis(?:ion|ione|ie|ao)|(?:geschafts|unternehmens)bereich|servi(?:ce|cio|zio|co)|"
    r"produ[ck]to?|produit|prodotto|angebot|dienst|label|branch|department|business unit|unternehmen|betrieb|filiale|"
    r"abteilung|einrichtung|projekt|(?:online)?shop|dienstleistung|afdeling|vestiging|filiaal|initiatief|bedrijf|concept|"
    r"uitgave|(?:etablisse|departe)ment|estable(?:cimiento|imento)|departamento|reparto|suc+ursale?|branche|"
    r"ramo(?: d'azienda)?|activite|attivita|linea(?: de negocio)?|progetto|unidad de negocio"
)
_BRAND = r"brand|(?:handels)?marke|(?:handels)?merk|(?:marque|marca|marchio)(?: (?:com+ercial\w*|deposee|regist\w+))?"
_PART = (
    r"part|parte|teil|onderdeel|deel|propiedad|propriedade|explo[tr]ad[oa]|gestit[oa]|gestionad[oa]|"
    r"operad[oa]|(?:site (?:web |internet )?)?(?:edite|exploite)e?"
)
TRADES_UNDER = re.compile(
    rf"(.{{2,60}}?)\W*(?:(?:is|are|ist|est|es|e|e'|wird|wordt) ?)?(?:(?:{_A})?(?P<name>{_NAME}) ?{_OF}|"
    rf"{_A}(?:{_BRANCH}|(?P<brand>{_BRAND})) ?{_OF}|(?:{_A})?(?:(?P<part>{_PART})|(?:zweig)?niederlassung) ?{_OF}|"
    r"(?:owned and )?(?:operated|run|managed|provided|sold) by|betrieben (?:von|durch)(?: der| die)?|"
    r"(?:uitgebaat|geexploiteerd|aangeboden) door|maakt deel uit van) (?=\w)"
)
"""Text before the owner of a trading name: `Smith's is a trading name of ...`; folded. Spaces are lost in some PDFs."""
OWNED_BY = re.compile(
    r"(?:(?:an?|eine?|een|the) )?[a-z ]{4,25} (?:of|der|van|von) \w|"
    r"(?:operated|betrieben|uitgebaat) (?:by|von|durch|door) "
)
"""Begins a line of its own that may name an owner: `A division of ...`."""
TRADES_AS = re.compile(
    r"\W+(?:also |which |tevens |ook )*(?:trad(?:ing|es) (?:as|under)|t/a|d/?b/?a|d\.b\.a\.|doing business as|o/a|"
    r"operating as|(?:t\.?)?h\.?o\.?d\.?n\.?|handelend (?:als|onder)|(?:met )?(?:als )?handels(?:naam|benaming)|"
    r"onder de (?:handelsna|bena)(?:am|ming)|handelnd (?:als|unter)|firmierend|unter der marke|"
    r"(?:geschaftsbereich|(?:zweig)?niederlassung|abteilung|afdeling)(?= [a-z]))(?![a-z])"
)
"""After a company, before the name under which it trades; folded."""
LEAST_SPACES = 5
"""Fewest spaces in such a sentence: `X, a division of Y Ltd`."""
REMARK_AFTER = re.compile(
    r"\s+[-\u2013\u2014|\u00b7\u2022]\s+[^\W\d_]|"
    r"\s+(?i:tel|telefon|telephone|t[\u00e9e]l|fon|phone|fax|mobil)\b[.:]?\s*[+(]?\d[\d ()/+-]{4}"
)
"""A remark after a name with its legal form, or the telephone number in the next column of a foot."""
PARTNER = re.compile(
    r"\b(?:pers(?:\.|onlich) ?haft(?:\.|ende[rn]?) ?ges(?:\.|ellschafter(?:in)?)|komplementar(?:in)?|phg|"
    r"general partner|beherend vennoot|associee? commanditee?|socio accomandatario|socio colectivo)\b"
)
"""A label of the partner who is liable for a company, often a company too; on folded text."""
OF_A_PARTNER = re.compile(r"(?:verwaltungs|beteiligungs|geschaftsfuhrungs|betriebs|management|holding)\W")
"""The last word before the legal form in the name of such a company; on folded text."""
TRADING_AS = re.compile(
    r"[\s,(\u2013-]+(?:[a-z\u00df-\u00ff]+[ ']){0,6}?"
    r"(?:l')?(?:enseigne|insegna|r[\u00f3o]tulo|marque|marca|marchio|nom(?:e|bre)?|"
    r"d[\u00e9e]nomina\w+)\b(?! (?:de|di|du) )"
)
"""A trading name after a name with its legal form: `Dupont SARL, exer\u00e7ant sous l'enseigne ...`."""
SENTENCE_AFTER = re.compile(r"\W+(?:[a-z\u00df-\u00ff]{3}|(?:IBAN|BIC)\b)")
"""The rest of a sentence, or an account, after a name with its legal form."""
LEAST_LETTERS = 3
"""Fewest characters before a legal form: `AG Bonn HRB 1` is a court, and `SARL Dupont` starts with its form."""
MEMBER = re.compile(
    r"(?:(?:an?|eine?|een|une?|una) )?(?:\w+ )?(?:member|mitglied|membre|lid|miembro|membro) "
    r"(?:of|de[rsl]?|du|von|van|d[ei]l+a)(?![a-z])"
)
"""A remark about a group or an association that the vendor is in: `A member of the Muster Group plc`."""
FOUNDED = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
"""A founding year in the name of a company or a club."""
POSTAL_CODE = re.compile(
    r"(?<!\d-)\b\d{4,6}\b(?!-[a-z]\b)|\b[a-z]{1,2}\d[a-z\d]? ?\d[a-z]{2}\b|\b[a-z]\d[\dw] [a-z\d]{4}\b"
    r"|\b(?:se|cz|sk|gr)-?\d{3} \d{2}\b|\b\d{3} \d{2} [a-z]{3}|(?<![\d-])\d{2}-\d{3} [a-z]{3}"
)
"""Postal codes on folded text: most of Europe; British; Irish; in two parts, with the country or the city next to them.
"""
CODE = re.compile(r"(?=(?:\D*\d){4})[a-z\d]{8,}|[a-z]{1,4}-?\d{3,}")
"""One word with many digits: `MNGLCU71D55D548R`, a tax number; `LAR004`, a reference."""
WORDS = re.compile(r"[^\W\d_]{4,}")
TWO_LETTERS = re.compile(r"[^\W\d_]{2}")
_DRAWN = r"\u25a0-\u27bf\ufe0f\U0001f300-\U0001faff"
AROUND = re.compile(rf"^[\s:;#*\-\u2013{_DRAWN}]+|[\s:;,*\-\u2013{_DRAWN}]+$")
"""Punctuation and drawn signs around a name."""
COMMA = re.compile(r",\s+")
BETWEEN_PARTS = re.compile(r"\s+[-\u2013\u2014|](?:\s+|(?=\d))|\s*[\u2022\u25cf|\u00b7]\s*")
"""Separators of an address. OCR may lose the space between a dash and a street number."""
ADDRESS_PARTS = 3
"""Fewest parts of a one-line address: name, street, city."""
SLOGAN = re.compile(r"\b(?!(?:and|und|van|von|des|del|der|den|med|dent|vet|jur|phil|ing)\b)[a-z\u00df-\u00ff]{3}")
"""A lowercase word that names seldom have."""
MAX_NAME_WORDS, MAX_NAME_LENGTH = 8, 70
MAX_LEGAL_WORDS, MAX_LEGAL_LENGTH = 16, 120
"""Limits for a name with a legal form, which a sentence does not contain."""
OF_A_LOGO = 0.5
"""Relative extra height from which a name without a legal form may be a logo that is spelt out below."""
MAX_MENTIONS = 3
"""Further mentions of a name that are counted."""


@lru_cache(maxsize=4096)
def legal_form(folded: str) -> re.Match[str] | None:
    """Return the first legal form in a folded text; cached, because several rules ask for each line."""
    return LEGAL_FORM.search(folded)


@lru_cache(maxsize=1024)  # several rules ask for each line
def is_name(text: str) -> bool:
    """Return whether a line can be a name: not a label, an address, a date, an amount or a sentence."""
    folded = fold(clean(text))
    if not folded or text in CURRENCIES or text.startswith("(") or not TWO_LETTERS.search(text):
        return False
    legal, words = bool(legal_form(folded)), text.split()
    longest, most = (MAX_LEGAL_LENGTH, MAX_LEGAL_WORDS) if legal else (MAX_NAME_LENGTH, MAX_NAME_WORDS)
    if len(words) > most or len(text) > longest or (not legal and vocabulary.INVOICES.search(folded)):
        return False
    if (
        _goes_on_from_heading(folded)
        or MEMBER.match(folded)
        or (folded.count(" ") >= LEAST_SPACES and TRADES_UNDER.match(folded))
    ):
        return False
    if ":" in text or "@" in text or CODE.fullmatch(folded.rstrip(".")):
        return False
    if GOES_ON.match(text) or END_OF_SENTENCE.fullmatch(text) or (not legal and RECEIPT_TITLE.match(folded)):
        return False
    place = FOUNDED.sub("", folded) if legal else folded
    street = not legal and STREET_NAME.match(folded)
    address = street or (_is_address(place) and not NUMBERED_COMPANY.fullmatch(folded.rstrip(".")))
    return not (address or _has_figures(text) or _is_label(folded, legal=legal))


def _goes_on_from_heading(folded: str) -> bool:
    """Return whether a line says that the name in the heading belongs to a company: `A division of Muster Ltd`."""
    return bool(OWNED_BY.match(folded) and TRADES_UNDER.match(f"--{folded}"))


def _is_label(folded: str, *, legal: bool) -> bool:
    bare = folded.rstrip(". ")
    if (
        (NO_NAME.match(folded) and not legal)
        or vocabulary.BUYER.match(folded)
        or vocabulary.SELLER.fullmatch(folded)
        or NUMBER_OF.search(bare)
    ):
        return True
    return any(label.fullmatch(bare) for label in (*LABELS, vocabulary.INVOICE_TITLE, *vocabulary.LINE_COLUMNS))


def _is_address(folded: str) -> bool:
    return bool(STREET.search(folded) or POSTAL_CODE.search(folded) or COUNTRY.fullmatch(folded))


def _has_figures(text: str) -> bool:
    return next(find_dates(text), None) is not None or any(amount.exact for amount in find_amounts(text))


def before_address(text: str) -> str:
    """Return the name from `Name, Street 1, 12345 City`, with commas or other separators; other texts unchanged."""
    parts = [part for comma in COMMA.split(text) for part in BETWEEN_PARTS.split(comma)]
    if len(parts) > 1 and LEGAL_FORM.fullmatch(fold(parts[1])):
        parts[:2] = [", ".join(parts[:2])]
    if len(parts) < ADDRESS_PARTS or not STREET.search(fold(parts[1])) or STREET_NUMBER.fullmatch(parts[1]):
        return text
    return parts[0] if any(POSTAL_CODE.search(fold(part)) for part in parts[2:]) else text


def before_register(text: str) -> str:
    """Return the name from `Muster AG, Sitz Bonn, HRB 1234`, if register details follow it; other texts unchanged."""
    folded = fold(text)
    first = FORM_FIRST.match(folded)
    if first and is_name(text[: first.end()]) and vocabulary.REGISTRATION.search(folded[first.end() :]):
        return text[: first.end()]
    form = legal_form(folded)
    if form is None or form.start() < LEAST_LETTERS or not is_name(text[: form.end()]):
        return text
    rest = folded[form.end() :]
    goes_on = GOES_ON_AFTER.match(rest) or TRADES_AS.match(rest)
    return text[: form.end()] if goes_on and vocabulary.REGISTRATION.search(rest) else text


def before_remark(text: str, follows: re.Pattern[str] = REMARK_AFTER) -> str:
    """Return the name from `Muster AG - delivered by us`, if such a remark or a trading name follows; else the text."""
    form = legal_form(fold(text))
    if form and any(
        pattern.match(words, form.end())
        for pattern, words in ((follows, text), (TRADING_AS, text), (TRADES_AS, fold(text)))
    ):
        return text[: form.end()]
    return text


def owner_of_name(text: str, above: str = "", below: str = "") -> tuple[str, str] | None:
    """Return a trading name and the company that owns it, up to its legal form; None if the line names none.

    A brand may be a franchiser's, so its owner counts only with register details, as issuers must state them, in the
    line or in the one `below` on which its address goes on. `above`
    is a name in the head that the line goes on: a firm invoices under its trading name, but not under a division's.
    """
    begun = above or ("--" if _goes_on_from_heading(fold(text)) else "")
    text = f"{begun}, {text}" if begun else text
    folded = fold(text)
    trading = TRADES_UNDER.match(folded) if folded.count(" ") >= LEAST_SPACES else None
    if trading is None or (above and trading["name"]):
        return None
    form = LEGAL_FORM.search(folded, trading.end())
    first = BETWEEN_PARTS.split(folded[trading.end() :])[0]
    body = trading.end() + len(first) if LEGAL_BODY.match(first) else 0  # the whole name: its kind begins it
    end = body or (form.end() if form else 0)
    if not end:
        return None
    rest = folded[end:]
    rest += f" {fold(below)}" if rest.strip(" .") and before_register(below) == below else ""
    if (trading["brand"] or trading["part"]) and not vocabulary.REGISTRATION.search(rest):
        return None
    owner = text[trading.end() : end]
    owner = owner[:-1] if form and form.end() == end and form.group().count(".") == 1 else owner  # of the sentence
    return (text[: trading.end(1)], owner) if is_name(owner) else None


def clean(text: str) -> str:
    """Return a name without surrounding punctuation and without the full stop of its sentence."""
    text = text[:-1] if WHOLE_FORM.search(text) else text
    return AROUND.sub("", text)


def are_unlike(one: str, other: str) -> bool:
    """Return whether two names have no word in common, apart from their legal forms."""
    words, others = ({*WORDS.findall(LEGAL_FORM.sub("", fold(name)))} for name in (one, other))
    return bool(words and others) and not words & others and squeeze(one) not in squeeze(other)


def domains(layout: Layout) -> list[str]:
    """Return the squeezed parts of web and mail domains, without those of mail providers."""
    return domains_in(layout.text)


def domains_in(text: str) -> list[str]:
    """Return the squeezed parts of the web and mail domains in a text, without those of mail providers."""
    names = DOMAIN.findall(text.lower())
    return [squeeze(part) for name in names for part in name.split(".") if part not in FREE_MAIL]


def of_domain(name: str) -> str:
    """Return the name in a domain, `muster` of `muster.com`; other names unchanged."""
    domain = SITE.fullmatch(name)
    return domain[1] if domain else name


def is_on_the_net(name: str, domains: Sequence[str]) -> bool:
    """Return whether one of the domains is like the name: it contains it, or is part of it."""
    stem = squeeze(LEGAL_FORM.sub("", name.lower())) or squeeze(name)
    return any(stem and (domain.startswith(stem) or (len(domain) > 3 and domain in stem)) for domain in domains)  # noqa: PLR2004


def is_legal_form(cell: Cell) -> bool:
    """Return whether the cell contains only a legal form: `Co. (UK) Ltd`."""
    if not legal_form(cell.folded):
        return False
    return not re.search(r"[a-z\d]", LEGAL_FORM.sub("", re.sub(r"\([^)]*\)", "", cell.folded)))


def has_legal_form(cell: Cell) -> bool:
    """Return whether the cell contains a name with a legal form."""
    return bool(legal_form(cell.folded)) and not is_legal_form(cell)


def aligned(one: Cell, other: Cell) -> bool:
    """Return whether two lines are aligned to the left or to the right, or centred on each other."""
    offset = min(abs(one.left - other.left), abs(one.centre - other.centre), abs(one.right - other.right))
    return offset <= other.height
