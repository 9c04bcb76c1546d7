"""Numbers, dates, lines and taxes in layouts that readers of labels alone get wrong."""

import datetime as dt
from decimal import Decimal

import pytest

from bench.extraction import INVENTED_FOLDER
from docrail.invoices.facts import Evidence, Source
from docrail.invoices.readers.amounts.money import Role, find_money, role_of
from docrail.invoices.readers.amounts.totals import solve_totals
from docrail.invoices.readers.header.dates import find_due_date, find_issue_date
from docrail.invoices.readers.header.number import find_invoice_number
from docrail.invoices.readers.layout.page import lay_out
from docrail.invoices.readers.lines.line_items import find_line_items
from docrail.invoices.readers.parties.accounts import Parties, find_iban
from docrail.invoices.readers.parties.blocks import buyer_cells
from docrail.invoices.readers.pdf.pages import PdfPages
from docrail.invoices.readers.pdf.words import read_pages
from tests.invoices.documents import Line
from tests.invoices.layouts import finder, layout, table, to_the_right

ISSUED, DUE = dt.date(2026, 5, 12), dt.date(2026, 6, 11)


def lines_of(*rows: str, edges: tuple[float, ...] = (50, 300, 380, 480)) -> int:
    drawn = layout(table(*rows, edges=edges))
    return len(find_line_items(drawn, find_money(drawn)))


def listed(*rows: str) -> list[Line]:
    """Return a title at the left, and a list of labels with their values at the right."""
    return [(50, 40, "Invoice"), *table(*rows, top=90, edges=(300, 420))]


@pytest.mark.parametrize(
    "rows",
    [
        ("No. | A-5331", "Date | 12/05/2026"),
        ("Date: | 12/05/2026", "Customer No.: | 72094", "No.: | A-5331"),
        ("Nº | A-5331", "Fecha de emisión | 12/05/2026"),
    ],
)
def test_a_bare_number_in_a_list_with_the_date_is_the_documents(rows: tuple[str, ...]) -> None:
    assert find_invoice_number(finder(listed(*rows))).value == "A-5331"


def test_a_bare_number_in_a_list_set_to_the_right_is_the_documents() -> None:
    listed = to_the_right(540, 60, "NÚMERO 2026-019", "FECHA 4 de mayo de 2026")
    assert find_invoice_number(finder([(50, 62, "factura"), *listed])).value == "2026-019"


def test_the_heading_of_line_numbers_is_no_label_of_the_document() -> None:
    rows = ("# | Description | Qty | Amount", "01 | Oak shelf | 1 | 20,00")
    assert find_invoice_number(finder([(50, 280, "Invoice"), *table(*rows)])).value is None


def test_a_title_is_not_the_label_of_several_values_below_it() -> None:
    rows = ("450062768 | 57589 | 13-Jul-2026", "Order No. | Customer No. | Invoice dated")
    assert find_invoice_number(finder([(50, 286, "Invoice"), *table(*rows, edges=(50, 175, 300))])).value is None


def test_a_title_is_not_the_label_of_an_orders_number_next_to_it() -> None:
    page = [
        (300, 50, "Your order"),
        (50, 64, "Invoice"),
        (300, 64, "450029925"),
        (300, 90, "No."),
        (300, 104, "A-5331"),
    ]
    found = find_invoice_number(finder([*page, (300, 130, "Date"), (300, 144, "12/05/2026")]))
    assert found.value == "A-5331"


@pytest.mark.parametrize(
    "text", ["Final invoice A-5331 | 12/05/2026 | Your account number 1272", "Facture de vente A-5331"]
)
def test_a_title_of_several_words_precedes_its_number(text: str) -> None:
    assert find_invoice_number(finder([(50, 50, text)])).value == "A-5331"


@pytest.mark.parametrize(
    ("text", "number"),
    [("FATTURA N. 9 del 30.04.2026", "9"), ("Invoice no. 7 - May", "7"), ("Invoice no. 2 copies", None)],
)
def test_a_number_of_one_digit_ends_its_line_or_is_before_a_date(text: str, number: str | None) -> None:
    assert find_invoice_number(finder([(50, 50, text)])).value == number


@pytest.mark.parametrize(
    "label", ["Data ordine:", "Data consegna:", "Date de livraison", "Fecha pedido", "Fecha de vencimiento"]
)
def test_a_date_of_something_else_is_not_the_date(label: str) -> None:
    plain = label.partition(" ")[0]
    found = find_issue_date(finder(listed(f"{label} | 02/05/2026", f"{plain} | 12/05/2026")), month_first=False)
    assert found.value == ISSUED


@pytest.mark.parametrize("label", ["Le :", "Del", "vom", "Rennes, le :", "Opgemaakt op", "Rech.-Dat."])
def test_a_short_label_of_the_date(label: str) -> None:
    assert find_issue_date(finder(listed(f"{label} | 12/05/2026")), month_first=False).value == ISSUED


@pytest.mark.parametrize("text", ["Invoice date (tax point): 12/05/2026", "Facture n° 118 · Facture du: 12/05/2026"])
def test_a_remark_or_a_colon_before_the_date(text: str) -> None:
    assert find_issue_date(finder([(50, 50, text), (50, 64, "Pay by: 11/06/2026")]), month_first=False).value == ISSUED


def test_days_are_counted_from_the_date_that_a_term_names() -> None:
    page = [(50, 50, "Fattura n. 118 del 12/05/2026"), (50, 700, "Pagamento a 30 giorni data fattura: 11/06/2026")]
    assert find_issue_date(finder(page), month_first=False).value == ISSUED
    assert find_due_date(finder(page), month_first=False).value == DUE


@pytest.mark.parametrize(
    "text",
    [
        "2 % discount if paid by 19/05/2026, net by 11/06/2026",
        "Bei Zahlung bis 19.05.2026 2 % Skonto, bis 11.06.2026 netto.",
        "Escompte de 2 % si paiement avant le 19/05/2026, net au 11/06/2026",
        "Bij betaling voor 19-05-2026 2 % korting, netto uiterlijk 11-06-2026",
        "2 % dto. pago antes del 19/05/2026, neto vencimiento 11/06/2026",
        "Sconto 2 % entro il 19/05/2026, netto entro il 11/06/2026",
        "Der Einzug erfolgt am 11.06.2026.",
        "Ich bitte, den Gesamtbetrag unter Angabe der Nummer bis zum 11. Juni 2026 auf mein Konto zu überweisen.",
        "Der Rechnungsbetrag von 524,50 € ist bis zum 11.06.2026 zu überweisen.",
        "Ich bitte um Ausgleich bis zum 11.06.2026 auf mein Geschäftskonto",
        "Pagabile entro il 11.06.2026 senza sconto.",
        "Graag ontvangen wij € 1.210,00 vóór 11-06-2026 op onze rekening.",
        "Le cobraremos 1.210,00 € el 11/06/2026 por domiciliación.",
        "Votre compte sera débité de 1 210,00 € le 11/06/2026.",
        "Addebiteremo € 1.210,00 il 11/06/2026 sul Vostro conto.",
    ],
)
def test_the_last_day_without_a_discount_or_of_a_debit_is_due(text: str) -> None:
    assert find_due_date(finder([(50, 700, text)]), month_first=False).value == DUE


@pytest.mark.parametrize(
    "text",
    [
        "Der Gesamtbetrag umfasst alle Einsätze bis zum 11. Juni 2026 auf Ihrer Baustelle.",
        "Im Rechnungsbetrag sind alle Leistungen bis zum 11.06.2026 auf Stundenbasis enthalten",
        "Rechnungsbetrag abzüglich 3 % Skonto bis zum 11.06.2026 auf unser Konto oder netto innerhalb von 30 Tagen",
    ],
)
def test_the_last_day_of_work_or_of_a_discount_is_not_due(text: str) -> None:
    assert find_due_date(finder([(50, 700, text)]), month_first=False).value is None


@pytest.mark.parametrize(
    "rows",
    [
        ("Goods / services | | | Net amount", "Repair | | | 100,00", "Travel | | | 50,00", "Total net | | | 150,00"),
        ("Date | Libellé | Débit | Crédit", "12/05 | Parking | 100,00", "13/05 | Dîner | 50,00", "Total HT | | 150,00"),
        ("Repair | | | 100,00", "Travel | | | 50,00", "Sum of it all | | | 150,00", "VAT 20 % | | | 30,00"),
        (
            "Repair | | | EUR 100,00",
            "Travel | | | EUR 50,00",
            "Net | VAT 20 % | Total",
            "EUR 150,00 | EUR 30,00 | EUR 180,00",
        ),
        ("Repair | | | 100,00", "Colour RAL | | | included", "Travel | | | 50,00", "Subtotal | | | 150,00"),
        (
            "Repair | | | 100,00",
            "Travel | | | 50,00",
            "Rate | Net | VAT | Gross",
            "20 % | 100,00 | 20,00 | 120,00",
            "5 % | 50,00 | 2,50 | 52,50",
            "Subtotal | | | 150,00",
        ),
    ],
    ids=[
        "short headings",
        "credits",
        "a sum of any name",
        "a currency first",
        "included",
        "a tax table before the sum",
    ],
)
def test_two_lines(rows: tuple[str, ...]) -> None:
    assert lines_of(*rows) == 2


HEAD = "Description | Qty | Price | Amount"


@pytest.mark.parametrize(
    "rows",
    [
        (
            HEAD,
            "Ground floor",
            "Tile | 2 | 10,00 | 18,00",
            "Lime | 1 | 5,00 | 4,50",
            "Section total | | | 22,50",
            "Roof",
            "Nail",
            "with head",
            "and tip",
            "blue | 2 | 10,00 | 18,00",
            "Hook | 1 | 9,00 | 9,00",
            "Section total | | | 27,00",
            "Net total | | | 49,50",
        ),
        (
            "Description | | Amount | Subtotal",
            "Tile | | 18,00",
            "Lime | | 4,50 | 22,50",
            "Nail | | 18,00",
            "Hook | | 9,00 | 27,00",
            "Net total | | | 49,50",
        ),
    ],
    ids=["sums between groups", "sums of groups in their own column"],
)
def test_sums_of_groups_are_no_lines(rows: tuple[str, ...]) -> None:
    assert lines_of(*rows) == 4


def test_sums_of_groups_may_have_any_name() -> None:
    groups = ("Tile | 2 | 10,00 | 20,00", "Lime | 1 | 5,00 | 5,00", "Parcel | | | 25,00")
    others = ("Nail | 3 | 2,00 | 6,00", "Hook | 1 | 9,00 | 9,00", "Parcel | | | 15,00")
    assert lines_of(HEAD, *groups, *others, "Net total | | | 40,00") == 4


def test_a_table_without_headings_ends_at_a_table_of_taxes() -> None:
    lines = ("Tile | 2 | 10,00 | 20,00", "Lime | 1 | 5,00 | 5,00")
    assert lines_of(*lines, "Rate | Net | VAT | Goods 25,00", "20 % | 25,00 | 5,00 | Odd sum 30,00") == 2


def test_an_accountant_charges_for_tax_returns() -> None:
    assert (
        lines_of(
            HEAD,
            "Annual accounts | | | 900,00",
            "VAT return Q1 | | | 100,00",
            "Net | | | 1.000,00",
            "VAT 20 % | | | 200,00",
        )
        == 2
    )


@pytest.mark.parametrize("text", ["nettoyage des vitres", "produit nettoyant"])
def test_cleaning_is_no_net(text: str) -> None:
    assert role_of(text) is Role.OTHER


def test_taxes_at_two_rates_under_their_headings_are_summed() -> None:
    rows = ("Netto | MwSt. 19 % | MwSt. 7 % | Gesamtbetrag", "300,00 | 38,00 | 7,00 | 345,00")
    totals = solve_totals(find_money(layout(table(*rows, edges=(50, 180, 310, 440)))))
    assert totals.tax
    assert (totals.tax.value, totals.tax.cell) == (Decimal(45), None)


@pytest.mark.parametrize(
    "subject", ["Objet : atelier (convention du 15 septembre 2025)", "Objet : convention du 15 septembre 2025"]
)
def test_a_date_in_the_subject_below_the_title_is_not_the_date(subject: str) -> None:
    page = [(400, 40, "Autun, le 12 mai 2026"), (50, 60, "Facture n° 2026-018"), (50, 74, subject)]
    assert find_issue_date(finder(page), month_first=False).value == ISSUED


def test_a_number_in_a_line_is_another_papers() -> None:
    rows = ("Descrizione | Q.tà | Prezzo | Valore", "Differenza prezzo ns. ft. 2/3318 | 30 | 0,85 | 25,50")
    heading = [(50, 40, "NOTA DI ACCREDITO"), (50, 60, "Numero documento"), (150, 60, "R2-00418")]
    assert find_invoice_number(finder([*heading, *table(*rows)])).value == "R2-00418"


def test_rates_without_a_percent_sign_are_in_a_table_of_bases_and_taxes() -> None:
    rows = ("Aliquota | Totale imponibile | Totale imposta", "22,00 | 734,50 | 161,59", "N1 | 32,00 | 0,00")
    last = table(" | | Totale documento", " | | 928,09", top=360, edges=(50, 250, 400))
    solved = solve_totals(find_money(layout([*table(*rows, edges=(50, 250, 400)), *last])))
    assert solved.tax
    assert solved.total
    assert (solved.tax.value, solved.total.value) == (Decimal("161.59"), Decimal("928.09"))


@pytest.mark.parametrize(
    ("rows", "charged"),
    [
        (("Discount 10 % on chairs | | | -6.00", "Net | | | 134.00"), 2),
        (("Profit costs | | | 140.00", "Transfer fee | | | 6.00", "Net | | | 146.00"), 3),
        (("CODE 1 = 20% | | GOODS TOTAL | 140.00", "GOODS 140.00 | VAT 28.00 | VAT | 28.00"), 2),
    ],
)
def test_discounts_and_sums_among_counted_lines_are_no_lines(rows: tuple[str, ...], charged: int) -> None:
    counted = ("Chairs | 2 | 30.00 | 60.00", "Table | 1 | 80.00 | 80.00")
    assert lines_of("Description | Qty | Price | Amount", *counted, *rows) == charged


def test_a_count_and_one_word_after_an_article_are_a_line() -> None:
    rows = ("20114 | Tarwemeel | 18,40 | 110,40", "20377 | 1 Maisgries | 14,25 | 14,25")
    assert lines_of("Art. | Omschrijving | Prijs | Bedrag", *rows, edges=(50, 100, 380, 480)) == len(rows)


@pytest.mark.parametrize(("rival", "is_sure"), [("Date | 04/05/2026", False), ("Order date | 04/05/2026", True)])
def test_a_value_at_a_label_that_is_nearly_as_good_makes_one_unsure(rival: str, *, is_sure: bool) -> None:
    found = find_issue_date(finder(listed("Invoice date | 12/05/2026", rival)), month_first=False)
    assert (found.value, Evidence.SEVERAL_CANDIDATES not in found.evidence) == (ISSUED, is_sure)


@pytest.mark.parametrize(("rival", "is_sure"), [("Invoice A-77102", False), ("Your order: A-77102", True)])
def test_another_number_at_a_label_makes_one_unsure(rival: str, *, is_sure: bool) -> None:
    page = [(50, 40, "Receipt no. A-5331"), (50, 90, rival)]
    found = find_invoice_number(finder(page))
    assert (Evidence.SEVERAL_CANDIDATES not in found.evidence) == is_sure


def test_values_of_other_papers_are_guesses() -> None:
    subject, original = finder([(50, 50, "Rechnung 7 zum Gutachten vom 12.05.2026")]), "Original invoice no. A-5331"
    assert find_issue_date(subject, month_first=False).source is Source.TEXT_PATTERN
    assert find_invoice_number(finder([(50, 50, original)])).source is not Source.TEXT_LABEL


@pytest.mark.parametrize(
    ("line", "date"),
    [
        ("En La Almunia, a 12 de mayo de 2026.", ISSUED),
        ("Fait à Lyon, le 12 mai 2026", ISSUED),
        ("en un seul versement, le 12 mai 2026", None),
        ("En garantía de lo anterior, el 12 de mayo de 2026 se revisa", None),
    ],
)
def test_a_date_after_the_place_of_signing_is_the_invoices(line: str, date: dt.date | None) -> None:
    assert find_issue_date(finder([(50, 40, "Factura"), (50, 600, line)]), month_first=False).value == date


def test_a_caption_names_what_is_below_it() -> None:
    rows = (
        "Commande | Facture | Livraison",
        "#1188-204 | FAC-318 | Point relais",
        "du 10/05/2026 | du 12/05/2026 | Lyon",
    )
    page = finder([(300, 40, "Merci, voici votre facture !"), *table(*rows, top=90, edges=(50, 200, 350))])
    assert find_invoice_number(page).value == "FAC-318"
    assert find_issue_date(page, month_first=False).value == ISSUED


@pytest.mark.parametrize("above", ["Customer: 4711", "Ihr Auftrag: 4711", "Devis : D-11"])
def test_a_label_with_its_own_value_is_no_caption(above: str) -> None:
    page = finder([(50, 40, "Invoice"), (300, 90, above), (300, 104, "No. 2026-118"), (300, 118, "Date: 12/05/2026")])
    assert find_invoice_number(page).value == "2026-118"


def test_lines_of_groups_are_those_of_all_groups() -> None:
    first = ("Cleaning | 1 | 100,00 | 100,00", "Windows | 2 | 10,00 | 20,00", "Subtotal | | | 120,00")
    second = ("Cleaning | 1 | 50,00 | 50,00", "Floors | 1 | 20,00 | 20,00", "Doors | 1 | 10,00 | 10,00")
    assert lines_of(HEAD, *first, *second, "Subtotal | | | 80,00", "Net total | | | 200,00", "VAT | | | 40,00") == 5


def test_a_service_named_like_a_tax_is_a_line_if_the_net_below_its_caption_has_it() -> None:
    head, lines = (
        "Omschrijving | Bedrag",
        ("Boekhouding en btw-aangiften | 645,00", "Advies | 216,00", "Kosten | 92,30"),
    )
    captions, sums = "Maatstaf van heffing | Btw 21 % | Te betalen", "953,30 | 200,19 | 1.153,49"
    below = table(captions, sums, top=400, edges=(50, 250, 450))
    drawn = layout([*table(head, *lines, edges=(50, 480)), *below])
    assert len(find_line_items(drawn, find_money(drawn))) == len(lines)


@pytest.mark.parametrize(
    ("label", "role"),
    [
        ("total chf, tva comprise", Role.TOTAL),
        ("montant de la tva comprise", Role.TAX),
        ("total ohne tva", Role.NET),
        ("less: restocking fee", Role.ADJUSTMENT),
        ("less: vat", Role.TAX),
        ("restocking shelves", Role.OTHER),
    ],
)
def test_words_around_a_sum_decide_its_role(label: str, role: Role) -> None:
    assert role_of(label) is role


COLUMNS = (50, 200, 260, 320, 420)


def test_a_unit_in_a_line_is_no_label_of_the_number() -> None:
    head = [(50, 40, "FATTURA DIFFERITA"), *table("Numero | Data", "1402/A | 31/05/2026", top=60)]
    lines = table("Descrizione | UM | Qtà | Importo | IVA", "Rubinetto | NR | 30 | 143,64 | 22", top=110, edges=COLUMNS)
    assert find_invoice_number(finder([*head, *lines])).value == "1402/A"


@pytest.mark.parametrize(
    ("sentence", "iban"),
    [
        ("Graag ontvangen wij uw betaling voor 6 maart op NL23 INGB 0004 1826 34 o.v.v. 7", "NL23INGB0004182634"),
        ("Uw rekening NL23 INGB 0004 1826 34", None),
    ],
)
def test_your_payment_names_no_account_of_yours(sentence: str, iban: str | None) -> None:
    assert find_iban(layout([(50, 40, "Factuur 7"), (50, 300, sentence)]), Parties()).value == iban


def test_an_address_may_be_set_to_the_right_like_its_label() -> None:
    lines = (
        "Committente",
        "Agrumi Vesuvio Soc. Coop. Agr.",
        "Via Casone 4, 80058 Torre Annunziata",
        "P. IVA 05193220638",
    )
    cells = buyer_cells(finder([(50, 40, "Fattura n. 7"), *to_the_right(540, 100, *lines)]))
    assert [*dict.fromkeys(cell.text for cell in cells)] == [*lines]


def test_primes_separate_thousands() -> None:
    with PdfPages((INVENTED_FOLDER / "twentysecond" / "it-06.pdf").read_bytes()) as pdf:
        assert "4\u2019640.22" in lay_out(read_pages(pdf)).text
