"""A title, the buyer, a salesperson, a charged line, a sidebar or a remark is never the vendor; no name is better."""

import pytest

from docrail.invoices.facts import Evidence
from docrail.invoices.readers.parties.accounts import Parties, find_vat_id
from docrail.invoices.readers.read import read_layout
from tests.invoices.documents import Line
from tests.invoices.layouts import layout, table

LINES = table("Description|Qty|Price|Amount", "Chairs|2|50.00|100.00", top=400)
SUMS = table("Subtotal|100.00", "VAT 20%|20.00", "Total|120.00", top=470, edges=(300, 480))


def vendor(*lines: Line, table: list[Line] = LINES) -> str | None:
    """Return the vendor of a page with these lines above its table."""
    return read_layout(layout([*lines, *table, *SUMS])).vendor_name.value


@pytest.mark.parametrize(
    ("title", "number", "name", "street", "city"),
    [
        ("FAKTURA VAT", "nr 12/2026", "Meble Kowalski", "ul. Polna 1", "00-001 Warszawa"),
        ("FATURA", "n.º 12/2026", "Casa Silva", "Rua Nova 1", "1000-001 Lisboa"),
        ("FAKTURA", "č. 12/2026", "Nábytek Novák", "Dlouhá 1", "110 00 Praha"),
        ("Rechnung", "Nr. 12", "Möbel Nord", "Hauptstr. 3", "20095 Hamburg"),
    ],
)
def test_a_title_is_not(title: str, number: str, name: str, street: str, city: str) -> None:
    assert vendor((50, 50, title), (50, 64, number), (50, 100, name), (50, 114, street), (50, 128, city)) == name


@pytest.mark.parametrize("label", ["Vendeur : Jean Dupont", "Verkäufer: Jean Dupont", "Salesperson: Jean Dupont"])
def test_a_salesperson_is_not(label: str) -> None:
    head: list[Line] = [(50, 50, "Mobilier Durand"), (50, 64, "3 rue Haute, 75001 Paris")]
    assert vendor(*head, (300, 100, "Invoice 12"), (300, 114, label), (300, 128, "Date: 3/3/2026")) == "Mobilier Durand"


def test_a_salesperson_in_a_row_of_heads_is_not() -> None:
    head: list[Line] = [(50, 50, "Mobilier Durand"), (50, 64, "3 rue Haute, 75001 Paris")]
    heads = table("Facture|Date|Vendeur|Client", "F12|03/03/2026|Jean Dupont|C77", top=120)
    assert vendor(*head, *heads) == "Mobilier Durand"


@pytest.mark.parametrize("label", ["Vendeur :", "Verkäufer:", "Seller:"])
def test_the_word_for_both_is_the_sellers_above_an_address(label: str) -> None:
    block: list[Line] = [
        (50, 100, label),
        (50, 114, "Mobilier Durand"),
        (50, 128, "3 rue Haute"),
        (50, 142, "75001 Paris"),
    ]
    assert vendor((300, 50, "Facture n° 12"), *block) == "Mobilier Durand"


def test_the_buyer_is_not() -> None:
    buyer: list[Line] = [
        (50, 90, "Bill to:"),
        (50, 104, "Big Buyer Ltd"),
        (300, 90, "Ship to:"),
        (300, 104, "Big Buyer Ltd"),
    ]
    assert vendor((50, 50, "INVOICE 12"), *buyer) is None


@pytest.mark.parametrize("item", ["Microsoft Ltd licence|2|50.00|100.00", "Work for Acme GmbH|1|100.00|100.00"])
def test_a_charged_line_is_not(item: str) -> None:
    lines = table("Description|Qty|Price|Amount", item, top=150)
    assert vendor((50, 50, "INVOICE"), (50, 64, "No 12"), table=lines) is None


def test_a_sidebar_is_not() -> None:
    aside: list[Line] = [(20, 50, "About us"), (20, 64, "Opening hours"), (20, 78, "News")]
    head: list[Line] = [(200, 50, "Furniture World"), (200, 64, "3 High St, London SW1A 1AA"), (200, 100, "Invoice 12")]
    assert vendor(*aside, *head) == "Furniture World"


@pytest.mark.parametrize("remark", ["Thank you for your business", "Merci de votre confiance", "Vielen Dank"])
def test_a_remark_is_not(remark: str) -> None:
    assert vendor((50, 50, "INVOICE 12"), (50, 90, remark)) is None


def test_a_reference_at_the_end_of_a_sentence_is_not() -> None:
    sentence: list[Line] = [(50, 600, "Please send funds to Mendip Bank, account name"), (50, 614, "LAR004.")]
    assert vendor((50, 50, "Harcombe Wyld"), (50, 64, "4 Minster Yard, BA5 9QT"), *sentence) == "Harcombe Wyld"


OWN = ("Ferretería Zaldívar, S.L.", "Calle Mayor 4", "50016 ZARAGOZA", "NIF: B50771849")
OTHER = ("Calderería Ebro, S.A.L.", "Calle Nueva 6", "50720 ZARAGOZA")


def block(left: float, top: float, *texts: str) -> list[Line]:
    return [(left, top + 13 * row, text) for row, text in enumerate(texts)]


@pytest.mark.parametrize("top", [46, 52, 58])
def test_the_company_in_the_right_one_of_two_boxes_is_not(top: int) -> None:
    assert vendor(*block(50, 50, *OWN), *block(320, top, *OTHER, "NIF: A50441880")) == OWN[0]


@pytest.mark.parametrize(("tax_id", "is_sure"), [("NIF: A50441880", False), ("Tel. 976 44 18 80", True)])
def test_a_vat_id_next_to_another_companys_is_unsure(tax_id: str, *, is_sure: bool) -> None:
    boxes = [*block(50, 50, *OWN), *block(320, 46, *OTHER, tax_id)]
    vat_id = read_layout(layout([*boxes, *LINES, *SUMS])).vendor_vat_id
    assert (vat_id.value, Evidence.VENDOR_UNSURE not in vat_id.evidence) == ("ESB50771849", is_sure)


@pytest.mark.parametrize("unsure", [True, False])
def test_where_the_vendor_is_unsure_the_id_in_a_buyers_block_may_be_the_vendors(*, unsure: bool) -> None:
    boxes = layout([*block(50, 50, *OWN), *block(320, 46, *OTHER, "NIF: A50441880")])
    buyers = [cell for cell in boxes.cells if cell.left > 300]
    vat_id = find_vat_id(boxes, Parties(buyers, unsure=unsure))
    assert (vat_id.value, Evidence.VENDOR_UNSURE in vat_id.evidence) == ("ESB50771849", unsure)


def test_a_labelled_name_goes_on_in_its_box() -> None:
    name = ("Denominazione: Consulenza e Lavoro tra", "Professionisti S.r.l.", "CAP: 20900")
    found = vendor(*block(50, 50, "Fornitore", "P.IVA: 03114200961", *name))
    assert found == "Consulenza e Lavoro tra Professionisti S.r.l."


def test_a_company_with_its_address_and_register_in_the_foot_is_before_the_buyer() -> None:
    foot = ("Alza Rental, S.A. · Domicilio social: Paseo 177, 28046 Madrid", "CIF A41772088 · R.M. de Madrid, tomo 20")
    buyer = block(330, 98, *OTHER, "CIF: B50771849")
    assert vendor((45, 38, "ALZA"), (45, 99, "Valencia"), *buyer, *block(45, 784, *foot)) == "Alza Rental, S.A."


@pytest.mark.parametrize("left", [283, 325])
def test_an_address_below_the_customer_number_is_not(left: int) -> None:
    seller: list[Line] = [
        (43, 45, "GRAFICAS HERMANOS BUSTILLO Y HERNANDEZ MADRAZO, S.C."),
        (43, 66, "Imprenta Digital"),
    ]
    street: list[Line] = [(43, 81, "C/ Valdenoja, 8"), (210, 81, "39300 TORRELAVEGA"), (338, 81, "NIF J39044177")]
    numbers: list[Line] = [
        (43, 97, "Factura: 2026/0533"),
        (187, 97, "Fecha: 13/03/2026"),
        (left, 97, "Cliente: 281"),
    ]
    buyer = block(283, 115, "Asociación de Comerciantes", "Plaza Mayor 2", "39300 Torrelavega", "NIF G39118203")
    read = read_layout(layout([*seller, *street, *numbers, *buyer, *LINES, *SUMS]))
    assert (read.vendor_vat_id.value, read.buyer_name.value) == ("ESJ39044177", "Asociación de Comerciantes")


@pytest.mark.parametrize(
    ("brand", "details", "name"),
    [
        ("Rikamb è un marchio di Laziale S.p.A. - Sede Via Tor 4, 00155 Roma", "P.IVA 09611770018", "Laziale S.p.A."),
        ("Rikamb è un marchio di Laziale S.p.A.", "P.IVA 09611770018", "RIKAMB"),
    ],
)
def test_a_brands_owner_is_with_register_details_that_go_on(brand: str, details: str, name: str) -> None:
    assert vendor((50, 50, "RIKAMB"), (50, 64, "tutto per l'officina"), *block(50, 780, brand, details)) == name
