"""A name is found whole and alone: abbreviated above and spelt out below, after its trading name, before a remark."""

from dataclasses import replace

import pytest

from docrail.invoices.readers.layout.labels import Finder
from docrail.invoices.readers.layout.page import Word, lay_out
from docrail.invoices.readers.parties.vendor import find_vendor_name
from docrail.invoices.readers.read import read_text
from tests.invoices.documents import Line
from tests.invoices.layouts import page

ADDRESS: list[Line] = [(50, 90, "Hafenstraße 9"), (50, 103, "20457 Hamburg"), (50, 300, "Invoice 07/26")]


def vendor(*pages: list[Line]) -> str | None:
    return read_text([page(lines, number) for number, lines in enumerate(pages, 1)]).vendor_name.value


def under(brand: str, lines: list[Line]) -> str | None:
    """Return the vendor of a page with a brand in large print above the lines."""
    drawn = page(lines)
    return read_text([replace(drawn, words=(Word(brand, 50, 30, 250, 58), *drawn.words))]).vendor_name.value


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Kröger is a trading name of Kröger Plumbing Ltd. Registered in England no. 09911827.", "Kröger Plumbing Ltd"),
        ("Kröger ist ein Geschäftsbereich der Nordlicht Handels GmbH, HRB 1234", "Nordlicht Handels GmbH"),
        ("Kröger est un nom commercial de Lumière SAS au capital de 10 000 €", "Lumière SAS"),
        ("Kröger es un nombre comercial de Olmedillo, S.L.", "Olmedillo, S.L."),
        ("Krögerist eine Marke der Baustoff Union Handels GmbH, HRB 22118", "Baustoff Union Handels GmbH"),
        ("Kröger è un marchio di Arredi Toscani S.r.l. - Firenze - P.IVA 01177440185", "Arredi Toscani S.r.l."),
        ("Kröger es la marca comercial de Energía Libre, S.L. CIF B82846825", "Energía Libre, S.L."),
        ("Kröger is onderdeel van Broodhuis B.V., KvK 30123456", "Broodhuis B.V."),
        ("Kröger is a service of Lumière Ltd, London", "Lumière Ltd"),
        ("Kröger is operated by Lumière Ltd, London", "Lumière Ltd"),
        ("Kröger services are sold by Lumière Ltd, London", "Lumière Ltd"),
        ("Kröger House Hotel is a trading name of Lumière Hospitality Ltd", "Lumière Hospitality Ltd"),
        ("Kröger wird betrieben von der Nordlicht Handels GmbH, Kiel", "Nordlicht Handels GmbH"),
        ("Kröger maakt deel uit van Broodhuis B.V.", "Broodhuis B.V."),
        ("A division of Lumière Ltd, London", "Lumière Ltd"),
        ("Ein Unternehmen der Nordlicht Handels GmbH, Kiel", "Nordlicht Handels GmbH"),
        ("NV Broodhuis De Waal, KvK 30123456", "NV Broodhuis De Waal"),
        ("Nordlicht UG (haftungsbeschränkt) & Co. KG, HRA 1234", "Nordlicht UG (haftungsbeschränkt) & Co. KG"),
        ("Lumière (Pty) Ltd, registered no. 2011/1234", "Lumière (Pty) Ltd"),
        ("Kröger ist ein Angebot der Nordlicht Handels GmbH, Kiel", "Nordlicht Handels GmbH"),
        ("Kröger est un service édité par Lumière SAS, au capital de 10 000 €", "Lumière SAS"),
        ("Kröger is een label van Broodhuis B.V., Utrecht", "Broodhuis B.V."),
        ("Kröger es un servicio de Olmedillo, S.L.", "Olmedillo, S.L."),
        ("Kröger è un servizio di Arredi Toscani S.r.l. - Firenze", "Arredi Toscani S.r.l."),
        ("Kröger and Kröger Pro are trading names of Lumière Ltd. Registered in England no. 0991.", "Lumière Ltd"),
        ("Kröger, un site édité par Lumière SAS, RCS Lyon 823 719 406", "Lumière SAS"),
        ("PayHere is a service of Bluecorn Payments Ltd.", "Kröger"),
        ("PayHere is a trading name of Bluecorn Payments Ltd.", "Kröger"),
        ("Kröger is a brand of Franchise IP Ltd. Each shop is operated by its franchisee alone.", "Kröger"),
        ("Kröger is a trade mark of Franchise IP Ltd. Each shop is operated by its franchisee alone.", "Kröger"),
    ],
)
def test_a_company_that_trades_under_the_heading_is_the_seller(line: str, name: str) -> None:
    assert vendor([(50, 50, "Kröger"), *ADDRESS, (50, 780, line)]) == name


@pytest.mark.parametrize(
    "phrase",
    [
        *("trading as", "t/a", "(t/a", "d/b/a", "doing business as", "h.o.d.n.", "handelend onder de naam"),
        *("tevens handelend onder de naam", "met handelsnaam", "handelnd als", "unter der Marke"),
    ],
)
def test_a_company_ends_before_the_name_it_trades_under(phrase: str) -> None:
    assert vendor([(50, 50, f"Haller Ltd {phrase} Kröger"), *ADDRESS]) == "Haller Ltd"


@pytest.mark.parametrize(
    ("first", "second", "name"),
    [
        ("De Smet & Maes", "Advocaten BV", "De Smet & Maes Advocaten BV"),
        ("Haller, Baumann und", "Söhne Stahlbau GmbH", "Haller, Baumann und Söhne Stahlbau GmbH"),
        ("COLORIFICIO BRENTA", "di Sartori Mauro & C. S.n.c.", "COLORIFICIO BRENTA di Sartori Mauro & C. S.n.c."),
        ("FALEGNAMERIA RIZZI", "di Rizzi Paolo", "FALEGNAMERIA RIZZI di Rizzi Paolo"),
        ("Stamperia Antica di Carlo", "Danesin & C. S.n.c.", "Stamperia Antica di Carlo Danesin & C. S.n.c."),
        ("Consulenza di impresa", "Danesin S.r.l.", "Danesin S.r.l."),
        ("Impresa di pulizie", "Fratelli Danesin & C. S.n.c.", "Fratelli Danesin & C. S.n.c."),
        ("Lavori di idraulica", "Danesin & C. S.n.c.", "Danesin & C. S.n.c."),
        ("Lavori di Carlo", "Termo Servizi di Danesin Luca S.a.s.", "Termo Servizi di Danesin Luca S.a.s."),
        ("Frisch vor dem Tor", "Kornblum GmbH", "Kornblum GmbH"),
        ("Ihre Schreinerei", "Holz Zurbriggen AG", "Holz Zurbriggen AG"),
    ],
)
def test_a_name_goes_on_below_also_next_to_the_buyers_column(first: str, second: str, name: str) -> None:
    head: list[Line] = [(50, 50, first), (50, 62, second), *ADDRESS]
    buyers: list[Line] = [(320, 55, "Bill to"), (320, 68, "Harlow Fittings"), (320, 81, "Leeds LS1 4AB")]
    assert vendor([*head, *buyers]) == name


@pytest.mark.parametrize(
    ("name", "rest"),
    [
        ("Andrés Miró", " · N.I.F. 28844190M · Avda. de la Paz, 8 · 18006 Granada"),
        ("Azienda Agricola di Neri Fabiola", " — Via Cerreto 4, 52037 Sansepolcro (AR) — P.IVA 01884400514"),
    ],
)
def test_the_name_with_the_register_details_is_the_sellers_under_a_brand(name: str, rest: str) -> None:
    assert under("Bellavista", [(50, 60, name + rest), (50, 300, "Factura 07/26")]) == name


@pytest.mark.parametrize(
    ("brand", "name"),
    [
        ("Tekstbureau Halverhout", "Tekstbureau Halverhout"),
        ("Halverhout", "Femke Halverhout"),
        ("inktvlek", "Femke Halverhout"),
    ],
)
def test_a_person_trades_under_a_large_name_with_the_surname(brand: str, name: str) -> None:
    foot = (50, 780, "Femke Halverhout · Polstraat 77 · 7411 KR Deventer · KvK 61880417")
    assert under(brand, [(50, 300, "Factuur 07/26"), foot]) == name


@pytest.mark.parametrize("other", ["Kundenservice", "Dr. Julia Winter", "Hafenstraße 9 b"])
def test_register_details_in_another_column_do_not_name_the_seller(other: str) -> None:
    details: list[Line] = [(400, 60, other), (400, 73, "20457 Hamburg"), (400, 86, "USt-IdNr. DE136695976")]
    assert under("Sommergarten", [*details, (50, 300, "Rechnung 07/26")]) == "Sommergarten"


def test_a_person_with_register_details_in_another_column_may_be_the_seller() -> None:
    drawn = page([(400, 60, "Dr. Julia Winter"), (400, 73, "20457 Hamburg"), (400, 86, "USt-IdNr. DE136695976")])
    lines = Finder(lay_out([replace(drawn, words=(Word("Sommergarten", 50, 30, 250, 58), *drawn.words))]))
    _, is_unsure = find_vendor_name(lines, [])
    assert is_unsure


@pytest.mark.parametrize(
    ("payment", "name"),
    [
        ("Graag betalen op NL91 ABNA 0417 1643 00 t.n.v. Wielen B.V. onder vermelding van het nummer", "Wielen B.V."),
        ("Kontoinhaber: Frischwerk GmbH  IBAN DE02120300000000202051", "Frischwerk GmbH"),
    ],
)
def test_the_holder_of_the_account_is_the_seller(payment: str, name: str) -> None:
    assert vendor([(50, 50, "Kröger"), *ADDRESS, (50, 700, payment)]) == name


def test_the_holder_of_the_account_is_named_over_two_lines_of_a_sentence() -> None:
    first = "Gelieve binnen 14 dagen te betalen, ten name van Kröger Containers &"
    lines: list[Line] = [(50, 700, first), (50, 712, "Recycling B.V. Reclames binnen 8 dagen na factuurdatum.")]
    assert vendor([(50, 50, "Kröger"), *ADDRESS, *lines]) == "Kröger Containers & Recycling B.V."


@pytest.mark.parametrize("second", ["Sparkasse Hamburg AG", "Partner bei der Hamburger Bank AG, Hamburg"])
def test_the_bank_on_the_next_line_is_no_end_of_the_holders_name(second: str) -> None:
    lines: list[Line] = [(50, 700, "Kontoinhaber: Kröger Bau und"), (50, 712, second)]
    assert "AG" not in (vendor([(50, 50, "Kröger"), *ADDRESS, *lines]) or "")


@pytest.mark.parametrize(
    "name",
    ["Cooperativa Sociale Bellavista a r.l. ONLUS", "Azienda Agricola Bellavista di Neri Fabiola"],
)
def test_a_logo_is_spelt_out_at_the_register_details(name: str) -> None:
    assert under("Bellavista", [(50, 60, name), (50, 73, "Via Po 17, 46029 Suzzara (MN) - P.IVA 01774200206")]) == name


@pytest.mark.parametrize(
    ("details", "name"),
    [
        ("Veerdam 1 · 6612 AB Nederasselt · KvK 41055218", "Stichting Podium Het Veerhuis"),
        ("Veerdam 1 · 6612 AB Nederasselt", "Stichting Podium Het Veerhuis"),
    ],
)
def test_a_logo_is_no_trade_of_the_name_that_has_it(details: str, name: str) -> None:
    foot: Line = (50, 780, f"{name} · {details}")
    assert under("Het Veerhuis", [(50, 300, "Factuur 07/26"), foot]) == name


@pytest.mark.parametrize(("mail", "name"), [("kroger.example", "Lumière Labs, Inc."), ("lumiere.example", "kroger")])
def test_the_company_at_the_domain_of_a_brand_is_the_seller(mail: str, name: str) -> None:
    address: list[Line] = [
        (50, 90, "Lumière Labs, Inc."),
        (50, 103, "2118 Guadalupe Street"),
        (50, 116, "Austin 78705"),
    ]
    assert under("kroger", [*address, (50, 129, f"billing@{mail}"), (320, 780, "www.kroger.example")]) == name


def test_a_name_ends_at_its_legal_form_as_elsewhere_on_the_page() -> None:
    sender: Line = (50, 90, "Brügge & Thöle KG, Postfach 1230, 27783 Wildeshausen")
    foot: list[Line] = [(50, 780, "Brügge & Thöle KG Sanitär-Großhandel"), (320, 780, "USt-IdNr. DE206618447")]
    assert under("BRÜGGE & THÖLE", [sender, (50, 300, "Rechnung 07/26"), *foot]) == "Brügge & Thöle KG"


def test_a_name_goes_on_below_also_if_set_to_the_right() -> None:
    head = page(
        [(400, 50, "FALEGNAMERIA BELLAVISTA"), (400, 62, "di Rizzi Paolo"), (400, 74, "00155 Roma Part. IVA 0961")]
    )
    ends = {row: max(word.right for word in head.words if word.top == row) for row in {word.top for word in head.words}}
    shifted = (replace(w, left=w.left + 560 - ends[w.top], right=w.right + 560 - ends[w.top]) for w in head.words)
    words = (Word("Bellavista", 50, 40, 250, 68), *shifted)
    assert read_text([replace(head, words=words)]).vendor_name.value == "FALEGNAMERIA BELLAVISTA di Rizzi Paolo"


def test_a_name_in_large_print_has_the_register_details_below_it() -> None:
    """They are not those of the trade above it."""
    drawn = page([(50, 60, "Anselmo Rueda"), (50, 82, "Calle Mayor 14, 44003 Teruel"), (50, 95, "N.I.F.: 28844190M")])
    words = (Word("Fontanería", 50, 42, 120, 54), *drawn.words)
    large = [replace(word, bottom=word.top + 20) if word.text in {"Anselmo", "Rueda"} else word for word in words]
    assert read_text([replace(drawn, words=tuple(large))]).vendor_name.value == "Anselmo Rueda"


def test_a_name_ends_before_its_registered_office() -> None:
    foot: Line = (50, 780, "Établissements Kervella SA - siège social : 3 rue Foch, 35300 Fougères")
    assert under("Kervella", [(50, 300, "Facture 07/26"), foot]) == "Établissements Kervella SA"


def test_a_logo_with_co_is_spelt_out_below() -> None:
    lines: list[Line] = [(50, 40, "Zilver&Co"), (50, 77, "Zilver & Co Ontwerp BV"), *ADDRESS]
    assert vendor(lines) == "Zilver & Co Ontwerp BV"


def test_two_lines_in_different_print_are_one_name_if_another_line_is_all_of_it() -> None:
    under_it: list[Line] = [(50, 60, "Architekturmodellbau"), (50, 75, "Hafenstraße 9"), (50, 90, "20457 Hamburg")]
    foot: Line = (50, 790, "Jette Kröger Architekturmodellbau")
    assert under("Jette Kröger", [*under_it, foot]) == "Jette Kröger Architekturmodellbau"
    assert under("Jette Kröger", under_it) == "Jette Kröger"


def test_a_remark_after_a_name_is_not_part_of_it() -> None:
    foot: Line = (50, 780, "Van der Weelde Bloemen V.O.F. - leveringsvoorwaarden VGB van toepassing")
    assert vendor([(50, 50, "Factuur 07/26"), foot]) == "Van der Weelde Bloemen V.O.F."


@pytest.mark.parametrize(
    "line",
    ["Viessmann Werke GmbH - wandhängend", "Sparkasse Bonn AG - bitte Nummer angeben", "Bank plc - sort code 20-00-00"],
)
@pytest.mark.parametrize("top", [400, 780])
def test_a_remark_makes_no_seller_of_another(line: str, top: float) -> None:
    assert vendor([(50, 50, "Kröger GmbH"), *ADDRESS, (50, top, line)]) == "Kröger GmbH"


def test_a_name_goes_on_below_after_an_article() -> None:
    head: list[Line] = [(50, 50, "Hoveniersbedrijf Van der"), (50, 62, "Meulen B.V."), (50, 74, "3762 EN Soest")]
    assert vendor(head) == "Hoveniersbedrijf Van der Meulen B.V."


def test_the_foot_of_the_last_page_spells_a_logo_out() -> None:
    first: list[Line] = [
        (50, 50, "Fernlow Nurseries"),
        (50, 63, "www.fernlownurseries.example"),
        (50, 300, "Invoice 7"),
    ]
    foot = "Fernlow Nurseries (Wholesale) Limited, Hollow Lane, Dorset. Company no. 01277310."
    assert vendor(first, [(50, 780, foot)]) == "Fernlow Nurseries (Wholesale) Limited"
    assert vendor(first, [(50, 400, foot)]) == "Fernlow Nurseries"
    bank = "Westmere Bank plc, High Street, Dorset. Company no. 01277310."
    assert vendor(first, [(50, 780, bank)]) == "Fernlow Nurseries"


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("Camille Rostaing", "- Entrepreneur individuel"),
        ("Ines Vollmer", "· Einzelunternehmerin"),
        ("Marit Oosterwegel", "| eenmanszaak"),
        ("Régie des Eaux du Pays", "- établissement public industriel"),
    ],
)
def test_a_legal_status_after_a_name_in_the_foot_makes_it_the_issuers(name: str, status: str) -> None:
    head: list[Line] = [(50, 50, "Facture n° 26-018"), (50, 120, "Commune de Saint-Gerlin")]
    address: list[Line] = [(50, 133, "Hôtel de Ville, 1 place de la Mairie, 17780 Saint-Gerlin")]
    foot: list[Line] = [(50, 560, f"{name} {status}"), (50, 573, "7 venelle du Puits, 17600 Le Gua")]
    assert vendor([*head, *address, *foot, (50, 586, "SIRET 83320441500214")]) == name


@pytest.mark.parametrize("sign", ["⚡", "★ ", "■ ", "\N{WRENCH}"])
def test_a_sign_before_a_name_is_not_part_of_it(sign: str) -> None:
    assert vendor([(50, 40, f"{sign}Nordlicht Elektro GmbH"), *ADDRESS]) == "Nordlicht Elektro GmbH"
