"""Net, tax and total are distinguished by their labels and by arithmetic, in six languages."""

from decimal import Decimal

import pytest

from docrail.invoices.facts import Source
from docrail.invoices.readers.amounts.currency import find_currency
from docrail.invoices.readers.amounts.money import Role, find_money, role_of
from docrail.invoices.readers.amounts.sums import Totals
from docrail.invoices.readers.amounts.totals import solve_totals
from docrail.invoices.readers.layout.labels import Finder
from docrail.invoices.readers.read import read_text
from tests.invoices.documents import Line
from tests.invoices.layouts import layout, page, table

SUMS = (300.0, 480.0)
ROW = (50.0, 200.0, 320.0, 440.0)


def solve(lines: list[Line], lines_total: str | None = None) -> Totals:
    return solve_totals(find_money(layout(lines)), Decimal(lines_total) if lines_total else None)


def values(totals: Totals) -> tuple[str | None, ...]:
    parts = (totals.net, totals.tax, totals.total)
    return tuple(str(part.value) if part else None for part in parts)


@pytest.mark.parametrize(
    ("labels", "language"),
    [
        (("Subtotal", "VAT 19%", "Amount due"), "en"),
        (("Net total", "VAT total", "Due payable"), "en"),
        (("Rechnungssumme netto", "zuzüglich 19% MwSt.", "Rechnungssumme brutto"), "de"),
        (("Rechnungssumme ohne USt.", "Steuerbetrag", "Bruttosumme"), "de"),
        (("Total HT", "Total TVA", "Total TTC"), "fr"),
        (("Montant total net", "Taxe sur la valeur ajoutée (19,00 %)", "Montant total brut"), "fr"),
        (("Subtotaal (excl. btw)", "Btw", "Totaal te betalen"), "nl"),
        (("Base imponible", "IVA 19%", "Total a pagar"), "es"),
        (("Imponibile", "Imposta", "Totale fattura"), "it"),
        (("Goods total", "VAT 19%", "Total credit"), "en"),
        (("Goods total", "VAT 19%", "Credit amount"), "en"),
        (("Goods total", "VAT 19%", "Total refund"), "en"),
        (("Charges", "VAT 19%", "PAY THIS AMOUNT"), "en"),
        (("Summe netto", "19% MwSt.", "Gutschriftsbetrag"), "de"),
        (("Total HTVA", "TVA 19%", "Total de l'avoir"), "fr"),
        (("Bedrag ex btw", "Btw hoog 19%", "Te crediteren"), "nl"),
        (("Voorschot excl. btw", "Btw 19%", "Totaal voorschot"), "nl"),
        (("Total bruto", "I.V.A. 19 %", "TOTAL EUROS"), "es"),
        (("Importe neto", "IVA 19 %", "Total a abonar"), "es"),
        (("Imponibile", "IVA 19%", "Totale nota di credito"), "it"),
    ],
)
def test_sums_are_known_by_their_names(labels: tuple[str, str, str], language: str) -> None:
    rows = [f"{label} | {amount}" for label, amount in zip(labels, ("100,00", "19,00", "119,00"), strict=True)]
    assert values(solve(table(*rows, edges=SUMS))) == ("100.00", "19.00", "119.00"), language


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (("Net | 100.00", "Local levy (18%) | 18.00", "Total | 118.00"), ("100.00", "18.00", "118.00")),
        (("Work | 500.00", "VAT | 50.00", "Total (incl. tax) | 550.00"), ("500.00", "50.00", "550.00")),
        (("Net | 100.00", "VAT | 20.00", "To be remitted | 120.00"), ("100.00", "20.00", "120.00")),
        (("Subtotal | 50.00", "VAT 10% | 5.00", "Total | 55.00", "Deposit | 15.00", "To pay | 40.00"), None),
        (("Total | 703.15", "Part | 20.00", "Total | 281.71"), (None, None, "703.15")),
        (("Tax | 0.00", "Total | 4.11"), ("4.11", "0.00", "4.11")),
        (("Total | 45.00", "Amount paid with cash | 50.00", "Change | 5.00"), (None, None, "45.00")),
        (("Summe | 45,00", "Betrag mit EC-Karte bezahlt | 50,00"), (None, None, "45.00")),
        (("Total | 45,00", "Importe pagado con tarjeta | 50,00"), (None, None, "45.00")),
    ],
    ids=[
        "a tax of another name is known by its rate",
        "a net without a name is what the tax leaves",
        "a total without a name is net and tax",
        "what was paid before does not change the total",
        "of two plain totals the larger counts",
        "without tax the total is the net",
        "cash that was handed over is not a total",
        "what a card paid is not a total",
        "what was paid by card is none in Spanish either",
    ],
)
def test_arithmetic_finds_sums_without_labels(rows: tuple[str, ...], expected: tuple[str | None, ...] | None) -> None:
    assert values(solve(table(*rows, edges=SUMS))) == (expected or ("50.00", "5.00", "55.00"))


def test_without_a_tax_the_total_is_the_net_if_the_lines_add_up_to_it() -> None:
    sums = table("Total EUR | 34.73", edges=SUMS)
    assert values(solve(sums, "34.73")) == ("34.73", None, "34.73")
    assert values(solve(sums, "30.00")) == (None, None, "34.73")


def test_a_rates_share_is_no_total_where_the_lines_add_up_to_another() -> None:
    """Of a hotel: 26.25 and 5.25 are one rate's, and make by chance what the bar charged."""
    lines = table("Room | 333.36", "Bar | 31.50", "Total TTC | 364.86", edges=SUMS)
    rates = table("Dont TVA 10 % (base 294.55) | 29.45", "Dont TVA 20 % (base 26.25) | 5.25", top=400, edges=(50, 480))
    assert values(solve([*lines, *rates], "364.86"))[2] == "364.86"


def test_a_rates_row_is_no_total_where_the_lines_add_up_to_another() -> None:
    lines = table("Gesamtbetrag | 600.00", edges=SUMS)
    rates = table("Rate | Net | Tax | Gross", "7 % | 499.07 | 34.93 | 534.00", "19 % | 55.46 | 10.54 | 66.00", top=400)
    assert values(solve([*lines, *rates], "600.00"))[2] == "600.00"


def test_a_row_under_three_heads_is_net_tax_and_total() -> None:
    """Below it stands what is left to pay after a deposit, which with the net looks like an invoice without tax."""
    rows = ("| TOTAL HT | TOTAL TVA | TOTAL TTC", "| 100,00 | 10,00 | 110,00", "||Acompte : | 10,00")
    totals = solve([*table(*rows, edges=ROW), *table("||NET A PAYER | 100,00 EUR", edges=ROW, top=360)])
    assert values(totals) == ("100.00", "10.00", "110.00")


@pytest.mark.parametrize(
    ("withheld", "asked"),
    [
        ("IRPF (-15%) | -15,00", "Total a pagar"),
        ("I.R.P.F. 15% | -15,00", "Líquido a percibir"),
        ("IRPF (-15 %) | -15,00", "Total a percibir"),
        ("Retención 15% | 15,00", "Total factura"),
        ("Ritenuta d'acconto 15% | -15,00", "Netto a pagare"),
        ("Withholding tax 15% | (15,00)", "Amount payable"),
    ],
)
def test_a_tax_that_is_withheld_is_taken_off(withheld: str, asked: str) -> None:
    rows = ("Subtotal | 100,00", "IVA (21%) | 21,00", withheld, f"{asked} | 106,00")
    assert values(solve(table(*rows, edges=SUMS))) == ("100.00", "21.00", "106.00")


def test_a_tax_inside_the_total_leaves_the_net() -> None:
    rows = ("Subtotal price | 118.00", "Discount | -8.00", "Shipping | 10.00", "Includes VAT (20%) | 20.00")
    assert values(solve(table(*rows, "Total price | 120.00", edges=SUMS))) == ("100.00", "20.00", "120.00")


def test_amounts_in_brackets_are_negative() -> None:
    rows = table("Merchandise | (299.00)", "Sales tax 7.25% | (21.68)", "Total credit | ($320.68)", edges=SUMS)
    assert values(solve(rows)) == ("-299.00", "-21.68", "-320.68")


def test_brackets_around_a_tax_that_the_total_includes_are_a_remark() -> None:
    rows = table("Gesamtbetrag | 220,00 €", "darin enthaltene MwSt. | (35,13 €)", edges=SUMS)
    assert values(solve(rows)) == (None, "35.13", "220.00")


def test_in_ruled_boxes_a_head_stands_left_of_its_amount() -> None:
    heads: list[Line] = [(50, 300, "%IVA"), (200, 300, "Totale imponibile"), (400, 300, "Totale imposta")]
    amounts: list[Line] = [(330, 314, "100,00"), (510, 314, "22,00")]
    total: list[Line] = [(50, 330, "Bollo"), (200, 330, "Arr."), (400, 330, "Totale documento"), (510, 344, "122,00")]
    assert values(solve([*heads, *amounts, *total])) == ("100.00", "22.00", "122.00")


def test_a_total_under_its_head_counts_where_nothing_adds_up_to_it() -> None:
    heads = "Base imponible | Cuota IVA | Cuota R.E. | Total factura"
    totals = solve(table(heads, "100,00 | 21,00 | 5,20 | 126,20", edges=ROW))
    assert values(totals)[2] == "126.20"


@pytest.mark.parametrize(
    ("tax", "total"), [("I.V.A.", "Total con I.V.A."), ("T.V.A.", "Total T.V.A. incluse"), ("M.w.St.", "Gesamtbetrag")]
)
def test_what_is_left_after_a_withheld_tax_is_not_the_total(tax: str, total: str) -> None:
    rows = ("Honorarios | 350,50", f"{tax} 21 % | 73,61", f"{total} | 424,11", "Retención I.R.P.F. 15 % | -52,58")
    solved = solve(table(*rows, "Líquido a percibir | 371,53", edges=SUMS))
    assert values(solved) == ("350.50", "73.61", "424.11")


def test_withholding_does_not_change_a_total_printed_before_it() -> None:
    rows = ("Imponibile | 100,00", "IVA 22% | 22,00", "Totale documento | 122,00", "Ritenuta 20% | -20,00")
    assert values(solve(table(*rows, "Netto a pagare | 102,00", edges=SUMS))) == ("100.00", "22.00", "122.00")


def test_sums_in_a_paragraph_have_their_names_before_them() -> None:
    lines: list[Line] = [(300, 300, "Base: 218,00"), (300, 314, "I.V.A. 21 %: 45,78"), (300, 328, "TOTAL: 263,78")]
    assert values(solve(lines)) == ("218.00", "45.78", "263.78")


def test_a_subtotal_of_taxes_is_a_tax() -> None:
    rows = ("| Taux | Sous-total HT | Sous-total TVA", "| 20 % | 53,00 | 10,60")
    totals = solve([*table(*rows, edges=ROW), *table("Total à payer | 63,60", edges=SUMS, top=340)])
    assert values(totals) == ("53.00", "10.60", "63.60")


def test_a_label_may_be_half_a_line_from_an_amount_on_two_lines() -> None:
    """A narrow column sets `119,00` and `€` under each other, and the name between them."""
    rows: list[Line] = [
        (480, 300, "100,00"),
        (300, 310, "Zwischensumme"),
        (480, 311, "€"),
        (300, 340, "MwSt."),
        (480, 340, "19,00"),
        (480, 370, "119,00"),
        (300, 380, "Zu zahlen"),
        (480, 381, "€"),
    ]
    assert values(solve(rows)) == ("100.00", "19.00", "119.00")


def test_an_amount_between_the_two_lines_of_its_label_has_the_role_of_the_first() -> None:
    rows: list[Line] = [
        *table("Subtotal | 100.00", edges=SUMS, top=300),
        *[(300, 316, "Sales tax (19%)"), (480, 322, "19.00"), (300, 328, "OH seller's use permit 25-104388")],
        *table("Total | 119.00", edges=SUMS, top=350),
    ]
    assert values(solve(rows)) == ("100.00", "19.00", "119.00")


def test_the_sum_before_a_withheld_tax_is_the_total() -> None:
    rows = ("Subtotal | 35,258.63", "IVA trasladado 16% | 5,641.38", "Suma | 40,900.01")
    paid = ("IVA retenido 4% | -1,198.00", "Neto a pagar | 39,702.01")
    assert values(solve(table(*rows, *paid, edges=SUMS))) == ("35258.63", "5641.38", "40900.01")


def test_a_surcharge_in_a_column_of_its_own_is_a_tax_too() -> None:
    heads = "Base imponible | % IVA | Cuota IVA | % R.E. | Cuota R.E."
    rows = ("100,00 | 21,00 | 21,00 | 5,20 | 5,20", "50,00 | 10,00 | 5,00 | 1,40 | 0,70")
    sums = table("TOTAL FACTURA | 181,90", edges=SUMS, top=400)
    taxes = table(heads, *rows, "150,00 || 26,00 || 5,90", edges=(50, 150, 210, 300, 360))
    assert values(solve([*taxes, *sums])) == ("150.00", "31.90", "181.90")


def test_taxes_at_several_rates_are_added_from_their_column() -> None:
    rows = ("Kind | Base | VAT % | Tax amount", "VAT | -4,85 | 19 | -0,92", "VAT | -2,82 | 7 | -0,20")
    sums = table("Net | -7,67", "Gross total | -8,79", edges=SUMS, top=400)
    assert values(solve([*table(*rows, edges=ROW), *sums])) == ("-7.67", "-1.12", "-8.79")


def test_two_equal_taxes_are_added_although_a_table_repeats_them() -> None:
    sums = table("| 909,50", "CGST 9% | 81,86", "SGST 9% | 81,86", "Total | 1.073,22", edges=SUMS)
    heads = "HSN | Taxable value | CGST amount | SGST amount"
    rows = ("9973 | 824,50 | 74,21 | 74,21", "9965 | 85,00 | 7,65 | 7,65", "Total | 909,50 | 81,86 | 81,86")
    assert values(solve([*sums, *table(heads, *rows, edges=ROW, top=400)])) == ("909.50", "163.72", "1073.22")


def test_a_tax_number_is_no_tax() -> None:
    assert role_of("steuer-nr.") is Role.NOT_A_SUM
    assert role_of("vat no") is Role.NOT_A_SUM
    assert role_of("administratie en btw-aangifte derde kwartaal") is Role.OTHER
    assert role_of("umsatzsteuervoranmeldung mai") is Role.OTHER
    assert role_of("quarterly vat return") is Role.OTHER
    assert role_of("vat on returns") is Role.TAX
    assert values(solve(table("Steuer-Nr. | 044 241 601", "Total | 100,00", edges=SUMS))) == (None, None, "100.00")


@pytest.mark.parametrize("text", ["Total due on August 3 , 2014", "Invoice amount under § 19 UStG"])
def test_dates_and_paragraphs_are_no_amounts(text: str) -> None:
    totals = solve(table(f"{text} | 4.11", edges=(50, 480)))
    assert values(totals)[2] == "4.11"


def test_a_count_is_no_sum_where_amounts_have_cents() -> None:
    rows = ("Pens | 1.00", "Paper | 2.00", "Ink | 3.00", "TOTAL CASES | 10")
    assert values(solve(table(*rows, edges=SUMS))) == (None, None, None)


def test_nothing_is_called_the_total_because_it_is_large() -> None:
    assert values(solve(table("Pens | 1.00", "Capital | 50000.00", edges=SUMS))) == (None, None, None)


@pytest.mark.parametrize(
    ("lines", "currency"),
    [
        (["Total 100.00 CHF", "IBAN at a EUR account"], "CHF"),
        (["Invoice currency: GBP", "Total 100.00", "Tax in EUR 3.00"], "GBP"),
        (["Under $4 of the law", "Currency: EUR", "Total 1.00"], "EUR"),
        (["Total € Incl. VAT", "100.00"], "EUR"),
        (["Total $100.00", "All prices in CAD"], "CAD"),
        (["Total $100.00", "ABN 62 118 447 209"], "AUD"),
        (["Total $100.00", "ABN 62 118 447 209", "All prices in USD"], "USD"),
        (["Total US$ 100.00", "ABN 62 118 447 209"], "USD"),
        (["Total $100.00", "GST/HST 12345 6789 RT0001"], "CAD"),
        (["Total $100.00", "RFC: XAX010101000"], "MXN"),
        (["Total $100.00", "See RFC 2822"], "USD"),
        (["Total $333.700,00", "R.U.T.: 76.204.418-8"], "CLP"),
        (["Total $100.00", "NIT 901.418.827-3"], "COP"),
        (["Total $100.00", "CUIT 30-71234567-8"], "ARS"),
        (["Total $100.00", "CUIT 30-71234567-8", "Austin, TX 78701, USA"], "USD"),
        (["Total $100.00", "ABN 62 118 447 209", "Austin, TX 78701, USA"], "AUD"),
        (["GST (10%) $9.09", "Total $100.00"], "AUD"),
        (["15% GST $13.04", "Total $100.00"], "NZD"),
        (["GST 5% $4.76", "Total $100.00"], "CAD"),
        (["GST 12% $4.76", "Total $100.00"], "USD"),
        (["Ik vraag 703.15 euro"], "EUR"),
        (["Total TTC en euros", "222,20"], "EUR"),
        (["TOTAL EUROS: 263,78"], "EUR"),
        (["Alle Beträge in Schweizer Franken", "Total 100.00"], "CHF"),
        (["Total 100.00"], None),
        (["Mozzarella di bufala DOP 250 g", "Totale fattura €", "11,20"], "EUR"),
        (["PEN-50", "Totale fattura €", "11,20"], "EUR"),
        (["50-CHF", "Total €", "11,20"], "EUR"),
        (["Total", "CHF-50.00"], "CHF"),
        (["Total S$ 100.00", "All prices in dollars"], "SGD"),
        (["Amount S$", "Total 100.00"], "SGD"),
        (["Arrêtée la présente facture à la somme de cent euros et dix centimes", "Total 100,10"], "EUR"),
    ],
)
def test_the_currency_is_the_one_of_the_document(lines: list[str], currency: str | None) -> None:
    drawn = layout([(50, 100 + 20 * row, text) for row, text in enumerate(lines)])
    amounts = find_money(drawn)
    assert find_currency(Finder(drawn), amounts, solve_totals(amounts)).value == currency


def test_a_dollar_that_terms_of_a_country_name_is_less_certain_than_one_with_a_code() -> None:
    """The terms may be the customer's."""
    drawn = layout([(50, 100, "Total $100.00"), (50, 120, "ABN 62 118 447 209")])
    amounts = find_money(drawn)
    assert find_currency(Finder(drawn), amounts, solve_totals(amounts)).source is Source.TEXT_PATTERN


@pytest.mark.parametrize(
    ("name", "currency"), [("TOTAL TTC CHF", "CHF"), ("Total", "EUR"), ("TOTAL ALL", "EUR"), ("TOTAL EUROS", "EUR")]
)
def test_the_label_of_the_total_sets_the_currency_before_other_amounts(name: str, currency: str) -> None:
    rows = table(f"{name} | 10'139.78", "Contre-valeur | EUR 10'851.42", edges=SUMS)
    drawn = layout(rows)
    amounts = find_money(drawn)
    assert find_currency(Finder(drawn), amounts, solve_totals(amounts)).value == currency


@pytest.mark.parametrize("room", ["Büro R2.01", "R2.01"])
def test_a_code_that_begins_with_r_is_no_currency(room: str) -> None:
    heads, line = "Raum | Menge | Betrag EUR", f"{room} | 2 | 100,00"
    rows = table(heads, line, "Netto || 100,00", "MwSt 19% || 19,00", "Gesamtbetrag || 119,00", edges=ROW)
    assert read_text([page(rows)]).currency.value == "EUR"


@pytest.mark.parametrize(("total", "currency"), [("R 119.00", "ZAR"), ("R119.00", "ZAR"), ("119.00", None)])
def test_a_bare_r_is_the_rand_at_the_total_only(total: str, currency: str | None) -> None:
    rows = table("Cable R 12.50 | 100.00", "Net | 100.00", "VAT 19% | 19.00", f"Total | {total}", edges=SUMS)
    assert read_text([page(rows)]).currency.value == currency


@pytest.mark.parametrize("code", ["DOP", "ALL", "TOP", "CUP", "PEN", "MOP", "CAD", "TRY", "INR"])
def test_a_code_among_other_words_is_no_currency(code: str) -> None:
    """Cheese of a protected origin (DOP), drawings (CAD), a blood test (INR): words have three letters, too."""
    goods = f"Mozzarella {code} di bufala"
    for lines, currency in (
        ([goods, "Totale fattura €", "11,20"], "EUR"),
        ([goods, "Totale fattura", "11,20"], None),
        ([goods, f"{code} 11,20"], code),
        ([goods, f"Saldo 11,20 {code}"], code),
        ([goods, f"Totale {code}", "11,20"], code),
        ([goods, "Totale 11,20", f"Importi in {code}"], code),
    ):
        drawn = layout([(50, 100 + 20 * row, text) for row, text in enumerate(lines)])
        amounts = find_money(drawn)
        assert find_currency(Finder(drawn), amounts, solve_totals(amounts)).value == currency, lines


@pytest.mark.parametrize(
    ("paid", "left"),
    [
        ("Deposit received 11 May", "Balance due"),
        ("Abzüglich Anzahlung", "Zu zahlen"),
        ("Acompte reçu", "Reste à payer"),
        ("Aanbetaling", "Te betalen"),
        ("Anticipo recibido", "Importe pendiente"),
        ("Acconto", "Da pagare"),
        ("Caparra confirmatoria", "Totale da pagare"),
    ],
)
def test_the_total_is_that_before_what_was_paid_is_taken_off(paid: str, left: str) -> None:
    rows = ("Total | 4,356.53", f"{paid} | -1,500.00", f"{left} | 2,856.53")
    assert values(solve(table(*rows, edges=SUMS)))[2] == "4356.53"


def test_the_total_is_that_after_a_discount_and_the_one_that_net_and_tax_make() -> None:
    assert values(solve(table("Total | 90.00", "Discount | -9.00", "Total due | 81.00", edges=SUMS)))[2] == "81.00"
    order = (
        "Order total | 1,000.00",
        "Deposit paid | -400.00",
        "Net | 500.00",
        "VAT 20% | 100.00",
        "Total due | 600.00",
    )
    assert values(solve(table(*order, edges=SUMS))) == ("500.00", "100.00", "600.00")


def test_little_of_the_net_may_be_taxed_where_all_three_have_their_names() -> None:
    rows = ("Subtotal | 4,323.00", "Sales tax (6.35% on 528.00) | 33.53", "Total | 4,356.53")
    assert values(solve(table(*rows, edges=SUMS))) == ("4323.00", "33.53", "4356.53")


def test_an_amount_outside_the_tax_is_not_the_tax() -> None:
    rows = ("Totale documento | 1.218,00", "di cui imponibile 10% | 1.080,00", "di cui IVA 10% | 108,00")
    outside = "di cui fuori campo IVA | 30,00"
    assert values(solve(table(*rows, outside, edges=SUMS)))[1:] == ("108.00", "1218.00")


def test_a_number_in_the_name_of_a_sum_is_a_part_of_the_name() -> None:
    rows = ("Zwischensumme | 100,00", "19 % Umsatzsteuer Nr. 7008 VV | 19,00", "Endsumme | 119,00")
    assert values(solve(table(*rows, edges=SUMS))) == ("100.00", "19.00", "119.00")


@pytest.mark.parametrize(
    ("net", "tax", "total", "found"),
    [("¥1,234", "¥124", "¥1,358", "124"), ("€ 12.34", "€ 1.26", "€ 13.60", None)],
    ids=["to a yen", "three cents off"],
)
def test_a_tax_is_known_by_its_rate_as_far_as_its_currency_is_rounded(
    net: str, tax: str, total: str, found: str | None
) -> None:
    rows = (("Subtotal", net), ("Consumption 10%", tax), ("Total", total))
    lines = [(x, 100.0 + 20 * index, text) for index, row in enumerate(rows) for x, text in zip(SUMS, row, strict=True)]
    assert values(solve(lines))[1] == found


def test_a_tax_of_zero_is_one_although_something_is_added_to_the_net() -> None:
    rows = ("Subtotal | $291.00", "Shipping | $12.00", "Sales tax (0%) | $0.00", "Total due | $303.00")
    assert values(solve(table(*rows, edges=SUMS))) == ("291.00", "0.00", "303.00")


def test_the_rows_of_a_table_of_taxes_are_what_its_heads_say() -> None:
    """Both gross amounts add up to the total, as a net and its tax would."""
    edges = (50, 200, 300, 400)
    taxes = ("VAT specification | Net | VAT | Gross", "VAT 12% | 3,865.18 | 463.82 | 4,329.00")
    more = ("VAT 25% | 594.40 | 148.60 | 743.00", "Sum | 4,459.58 | 612.42 | 5,072.00")
    solved = solve([*table("Total ||| 5,072.00", edges=edges), *table(*taxes, *more, top=400, edges=edges)])
    assert values(solved) == ("4459.58", "612.42", "5072.00")


@pytest.mark.parametrize(
    "terms",
    [
        "Bei Zahlung bis 16.02.2026 gewähren wir 2 % Skonto = 2,38 EUR, Zahlbetrag 116,62 EUR. Danach rein netto.",
        "En cas de paiement sous huit jours escompte de 2 % soit 2,38 EUR, net à payer 116,62 EUR",
        "Bij betaling binnen acht dagen 2 % betalingskorting ad 2,38 EUR, te betalen 116,62 EUR in plaats daarvan",
    ],
)
def test_an_early_payment_amount_is_no_total(terms: str) -> None:
    sums = table("Warenwert netto | 100,00", "USt 19 % | 19,00", "Gesamtbetrag EUR | 119,00", edges=SUMS)
    assert values(solve([*sums, (50, 500, terms)])) == ("100.00", "19.00", "119.00")


@pytest.mark.parametrize(
    "terms",
    [
        "Pas d'escompte pour paiement anticipé, nos conditions étant connues, net à payer 119,00 EUR",
        "Bei 2 % Skonto 2,38 EUR innerhalb von acht Tagen, sonst Rechnungsbetrag 119,00 EUR",
        "Zahlung innerhalb von acht Tagen abzüglich 2 % Skonto. Danach ist der Gesamtbetrag 119,00 EUR",
    ],
)
def test_an_amount_without_early_payment_discount_is_a_total(terms: str) -> None:
    sums = table("Warenwert netto | 100,00", "USt 19 % | 19,00", edges=SUMS)
    assert values(solve([*sums, (50, 500, terms)])) == ("100.00", "19.00", "119.00")


def test_a_guests_tax_is_not_that_of_the_invoice() -> None:
    sums = ("Net total | 100.00", "VAT 20% | 20.00", "City tax 4 at 2.50 | 10.00", "Total | 130.00")
    assert values(solve(table(*sums, edges=SUMS)))[1] == "20.00"


def test_taxes_with_a_number_before_their_rate_are_added() -> None:
    taxes = ("USt 1 = 19 % auf 407,81 | 77,48", "USt 2 = 7 % auf 34,58 | 2,42")
    sums = table("Warenwert netto | 442,39", *taxes, "Gesamtbetrag EUR | 522,29", edges=SUMS)
    assert values(solve(sums)) == ("442.39", "79.90", "522.29")


def test_a_column_of_rates_has_no_taxes() -> None:
    edges = (50, 200, 300, 400)
    taxes = table("Base | TVA % | Montant TVA | Total EUR", "1.163,30 | 21,00 | 244,29 | 1.407,59", edges=edges)
    paid = table("Acompte versé ||| -250,00", "Solde à payer EUR ||| 1.157,59", top=400, edges=edges)
    assert values(solve([*taxes, *paid])) == ("1163.30", "244.29", "1407.59")


def test_sums_without_cents_count_if_the_lines_add_up_to_one() -> None:
    amounts = ("1500.00", "100.50", "99.50")
    lines = table(*(f"Chair | {amount}" for amount in amounts), edges=SUMS)
    sums = [*lines, *table("Net | 1700", "VAT 20% | 340", "Total | 2040", edges=SUMS, top=400)]
    assert values(solve(sums, "1700.00")) == ("1700", "340", "2040")
    assert values(solve(sums, "1600.00")) == (None, None, None)


def test_a_fee_that_may_come_is_no_part_of_the_sums() -> None:
    """With it, the base at one rate would add up to what is left to pay: 209.86 + 28.34 - 12.00 = 226.20."""
    heads = "Total HT | TVA à 5,5 % | Total TVA | Total TTC"
    sums = table(heads, "377,88 | 11,54 | 28,34 | 406,22 €", edges=ROW)
    rest: list[Line] = [
        (50, 400, "sur base 209,86 € à 5,5 % et 168,02 € à 10 %"),
        *table("Échéances déjà réglées | -180,00 €", "Reste à payer | 226,22 €", edges=(50, 440), top=420),
        (50, 480, "Passé la date, des frais de relance de 12,00 € pourront être facturés."),
    ]
    assert values(solve([*sums, *rest])) == ("377.88", "28.34", "406.22")


@pytest.mark.parametrize(
    ("line", "sums"),
    [
        ("Discount 10.00 GBP (loyalty)", ("90.00", "18.00", "108.00")),
        ("Discount -10.00 for regular customers", ("90.00", "18.00", "108.00")),
        ("Shipping 10.00 Standard delivery", ("110.00", "22.00", "132.00")),
        ("Versandkosten 10,00 € Standardversand", ("110.00", "22.00", "132.00")),
    ],
)
def test_words_after_a_charge_make_no_remark_of_it(line: str, sums: tuple[str, str, str]) -> None:
    _, tax, total = sums
    printed = ("Subtotal 100.00 GBP", line, f"VAT 20% {tax} GBP", f"Total {total} GBP")
    assert values(solve(table(*printed, edges=(50,)), "100.00")) == sums


@pytest.mark.parametrize("leader", [".", " .", "_", "-", "·", "…"])
@pytest.mark.parametrize(
    "sums", [("Nettobetrag", "MwSt. 19 %", "Gesamtbetrag"), ("Net amount", "VAT 19 %", "Total due")]
)
def test_leaders_may_be_long(leader: str, sums: tuple[str, str, str]) -> None:
    """With an expression that tries each dot in two ways, as one of due dates did, this test never ends."""
    amounts = ("100,00", "19,00", "119,00")
    printed = [f"{name} {leader * 60} {amount} EUR" for name, amount in zip(sums, amounts, strict=True)]
    invoice = read_text([page(table("Invoice 7", *printed, "Zahlbar " + leader * 60, edges=(50,)))])
    assert (invoice.net.value, invoice.tax.value, invoice.total.value) == (Decimal(100), Decimal(19), Decimal(119))


def test_sums_may_be_left_of_their_names() -> None:
    sums = table("521,08 | totaal exclusief btw", "109,43 | btw 21%", "€ 630,51 | totaal inclusief btw", edges=SUMS)
    assert values(solve(sums)) == ("521.08", "109.43", "630.51")


@pytest.mark.parametrize(
    "rows",
    [
        ("Previous balance | Payments received", "80.00 | Total due", "| 120.00"),
        ("80.00 | Total to pay this month", "| 120.00"),
        ("Amount | Description", "600.00 | Total hip implant model", "40.00 | VAT return"),
        ("75.00 | Paper", "600.00 | Total hip implant model", "40.00 | VAT return"),
    ],
)
def test_what_is_right_of_an_amount_is_its_name_only_in_a_block_of_sums(rows: tuple[str, ...]) -> None:
    amounts = find_money(layout(table(*rows, edges=SUMS)))
    assert not any(money.label for money in amounts if money.cell.left < SUMS[1])
