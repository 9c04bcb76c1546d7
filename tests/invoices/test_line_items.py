"""The table of charged lines is found whatever surrounds it, and its numbers are distinguished."""

from decimal import Decimal

import pytest

from docrail.invoices.model import LineItem
from docrail.invoices.readers.amounts.money import find_money
from docrail.invoices.readers.lines.line_items import find_line_items
from docrail.invoices.readers.lines.numbers import rate_of
from tests.invoices.documents import Line
from tests.invoices.layouts import layout, table

HEADER = "Description | Quantity | Unit price | Amount"
LINES = ("Paper | 10 | 12.50 | 125.00", "Toner | 2 | 37.50 | 75.00")
SUMS = (50, 300, 480)
CODED = (50, 300, 380, 480, 516)
WIDE = (50, 200, 270, 340, 420, 500)


def lines_of(*rows: str, edges: tuple[float, ...] = (50, 300, 380, 480)) -> tuple[LineItem, ...]:
    drawn = layout(table(*rows, edges=edges))
    return find_line_items(drawn, find_money(drawn))


@pytest.mark.parametrize(
    "after",
    [
        ("Subtotal || | 200.00",),
        ("Payment terms:", "Skonto || | 12.00"),
        ("Kind | Base | Tax | Tax amount", "VAT | 200.00 | 19 | 38.00"),
        ("Art | Basisbetrag | Steuer | Steuerbetrag", "Umsatzsteuer | 200.00 | 19 | 38.00"),
        ("VAT rate | Net | VAT | Total excl. VAT 200.00", "19 % | 200.00 | 38.00 | Discount 0.00"),
        ("Tipo || | Base Cuota", "19 % || 200.00 | 38.00", "||| Sumas 200.00 38.00"),
    ],
    ids=["a sum", "a heading", "a table of taxes", "a German one", "sums next to its head", "its sums in one cell"],
)
def test_the_table_ends_before_what_is_no_line(after: tuple[str, ...]) -> None:
    assert [line.amount for line in lines_of(HEADER, *LINES, *after)] == [Decimal(125), Decimal(75)]


def test_headings_of_two_lines_end_no_table() -> None:
    """Of `Wartość netto` and `Wartość brutto`, the second words are half a line below the other headings."""
    heads: list[Line] = [
        *[(380, 295, "Wartość"), (480, 295, "Wartość"), (380, 303, "netto"), (480, 303, "brutto")],
        *table("Nazwa towaru | Ilość | Cena netto", edges=(50, 250, 310), top=299),
    ]
    printed = ("Plakat | 150 | 6,20 | 930,00 | 1 143,90", "Bilety | 500 | 1,40 | 700,00 | 861,00")
    rows = table(*printed, edges=(50, 250, 310, 380, 480), top=320)
    drawn = layout([*heads, *rows])
    assert [line.description for line in find_line_items(drawn, find_money(drawn))] == ["Plakat", "Bilety"]


def test_the_only_column_of_amounts_may_say_that_it_is_without_tax() -> None:
    heads = "Concepto | Periodo | Importe (sin IVA)"
    rows = ("Fibra | 01/05 - 31/05 | 35,54 €", "Descuento | 01/05 - 31/05 | -8,26 €", "Repetidor | 19/05 | 2,48 €")
    lines = lines_of(heads, *rows, "Total sin IVA || 29,76 €", edges=(50, 300, 450))
    assert [line.amount for line in lines] == [Decimal("27.28"), Decimal("2.48")]


def test_a_group_goes_on_after_a_sum_also_where_the_rate_follows_the_amount() -> None:
    rows = (
        *("1 | Fenêtres | 2,00 | 85,00 | 170,00 | 10,00", "Sous-total Menuiseries |||| 170,00"),
        *("2 | Agencement", "2.1 | Tablette | 2,00 | 40,00 | 80,00 | 20,00", "Sous-total Agencement |||| 80,00"),
    )
    lines = lines_of("N° | Désignation | Qté | P.U. HT | Montant HT | TVA", *rows, edges=WIDE)
    assert [line.description for line in lines] == ["Fenêtres", "Tablette"]


def test_words_with_one_amount_are_lines_where_they_add_up_to_the_sum_below() -> None:
    rows = ("Cover | 1.400,00", "Six headings | 600,00")
    assert [line.description for line in lines_of(*rows, "Total | 2.000,00", edges=(50, 480))] == [
        "Cover",
        "Six headings",
    ]
    assert not lines_of(*rows, "Total | 2.100,00", edges=(50, 480))
    assert not lines_of("Balance | 600,00", "Total | 2.000,00", "Paid | 600,00", edges=(50, 480))


@pytest.mark.parametrize(
    "after",
    [
        ("€ | 2.000,00", "VAT | 420,00"),
        ("Card 7719 | 2.000,00", "Total | 2.000,00"),
        ("Fees | 2.000,00", "Fund | 40,00"),
    ],
    ids=["a sum without a name", "what a card paid", "a sum by another name"],
)
def test_a_number_that_rows_add_up_to_ends_them(after: tuple[str, ...]) -> None:
    assert len(lines_of("Cover | 1.400,00", "Six headings | 600,00", *after, edges=(50, 480))) == 2


def test_a_line_may_say_that_its_price_is_net() -> None:
    rows = ("Advice and drafting, 6 h at 180 € HT | 1.170,00", "Costs | 45,00", "Total HT | 1.215,00")
    assert len(lines_of(*rows, edges=(50, 480))) == 2


def test_a_tax_among_the_rows_is_a_line_where_they_add_up_to_the_net() -> None:
    rows = ("Energy | 43,34", "Electricity tax | 3,00")
    assert len(lines_of(*rows, "Subtotal | 46,34", "VAT | 9,73", "Total | 56,07", edges=(50, 480))) == 2
    assert not lines_of(*rows, "Total | 46,34", edges=(50, 480))


def test_the_sum_of_the_lines_may_stand_in_a_table_of_sums() -> None:
    rows = ("Gent - Lille | | | 285,00", "Gent - Metz | | | 795,00")
    sums = ("Tax base | VAT % | VAT | To pay", "1.080,00 | 21 | 226,80 | 1.306,80")
    assert len(lines_of(*rows, *sums)) == 2


def test_a_price_may_have_three_decimals() -> None:
    (line, *_) = lines_of(HEADER, "Oil | 8,00 | 8,450 | 67,60", "Total || | 67,60")
    assert (line.quantity, line.unit_price) == (Decimal(8), Decimal("8.45"))


def test_heads_that_run_into_each_other_are_a_header() -> None:
    header = "Article | Qté Prix unitaire HT Taux TVA Prix unitaire TTC Total TTC"
    rows = ("Lampe | 1 | 33,25 | 39,90 | 39,90", "Ampoule (lot de 4) 2 | | 9,92 | 11,90 | 23,80")
    assert len(lines_of(header, *rows, "Total | | | | 63,70", edges=WIDE)) == 2


def test_quantity_and_price_are_the_numbers_that_make_the_amount() -> None:
    """A position, an article number and a packing unit are numbers too."""
    header = "Pos | Item | Qty | Packing | Unit price | Amount"
    (line, *_) = lines_of(header, "3 | Nails 70 | 250 kg | 1 | 0.02 | 5.00", "Total ||||| 5.00", edges=WIDE)
    assert (line.quantity, line.unit_price) == (Decimal(250), Decimal("0.02"))


@pytest.mark.parametrize(
    ("quantity", "expected"),
    [("x5", 5), ("20 Unit(s)", 20), ("5 m²", 5), ("10000,0000 KWh", 10000), ("-2 Stk.", -2), ("1.210 Stk", 1210)],
)
def test_a_quantity_has_its_unit(quantity: str, expected: int) -> None:
    (line,) = lines_of(HEADER, f"Work | {quantity} | 1,00 | {expected},00", f"Total ||| {expected},00")
    assert line.quantity == expected
    assert line.description == "Work"


def test_a_quantity_and_a_rate_may_share_a_cell() -> None:
    header = "Description | Price | Qty | Tax | Amount"
    (line,) = lines_of(header, "Insurance | 15.55 | 2 Stk 19 % VAT | | 31.10", "Total |||| 31.10", edges=WIDE)
    assert (line.description, line.quantity, line.tax_rate) == ("Insurance", Decimal(2), Decimal(19))


def test_numbers_that_touch_are_two() -> None:
    [line] = lines_of("Tätigkeit | Std. | Satz | Betrag", "Schreiben | 1,50 310,00 || 465,00", "Summe netto ||| 465,00")
    assert (line.quantity, line.unit_price) == (Decimal("1.50"), Decimal(310))


@pytest.mark.parametrize(
    ("words", "quantity"),
    [
        ("Alquiler x 31 días", 31),
        ("4.812 kWh x 0,148920 €/kWh", None),
        ("Brochure, 8.5 x 11, gloss", None),
        ("3 x Ölwechsel", 3),
        ("Paper A4 x 5", 5),
        ("Article 4012345 x 3", 3),
    ],
)
def test_a_count_in_words_is_no_price_and_no_size(words: str, quantity: int | None) -> None:
    [line] = lines_of("Concepto | Importe", f"{words} | 716,60", "Total neto | 716,60", edges=(50, 480))
    assert line.quantity == quantity


def test_numbers_that_touch_are_neither_quantity_nor_price_unless_they_make_the_amount() -> None:
    [line] = lines_of("Servicio | Uds. | Importe", "Limpieza | 90,00 21,00 | 90,00", "Total | | 90,00", edges=SUMS)
    assert (line.quantity, line.unit_price) == (None, None)


def test_a_code_that_touches_the_amount_is_not_part_of_it() -> None:
    rows = ("Orzo | 40,00 | 17,90 | 716,00 | 4", "Favino | 36,00 | 24,60 | 885,60 | 4")
    last = ("Inoculo | 6,00 | 21,75 | 130,50 22",)
    lines = lines_of(
        "Descrizione | Quantità | Prezzo | Importo | IVA", *rows, *last, "Imponibile ||| 1.732,10", edges=CODED
    )
    assert [line.amount for line in lines] == [Decimal(716), Decimal("885.60"), Decimal("130.50")]


def test_lines_on_two_pages_are_all_that_make_the_net_whatever_they_are_called() -> None:
    head, edges = "Targa | Descrizione | Al. IVA | Imponibile €", (50.0, 110.0, 380.0, 480.0)
    canone = [f"GK {n} TX | Panda Hybrid, canone | 22% | 189,00" for n in range(3)]
    first = table(head, *canone, "|| Riporto | 567,00", edges=edges)
    rest = ("GN 550 KA | Clio, canone | 22% | 214,00", "GM 113 ZE | Conguaglio km (1.840 km x 0,055) | 22% | 101,20")
    second = table(
        head, "| Riporto da pagina precedente || 567,00", *rest, "|| Totale imponibile | 882,20", edges=edges
    )
    drawn = layout(first, second)
    assert len(find_line_items(drawn, find_money(drawn))) == 5


def test_a_column_of_polish_taxes_has_no_amounts_of_lines() -> None:
    heads = "Nazwa towaru | Ilość | Cena netto | Netto | Kwota VAT | Brutto"
    rows = ("Blat | 2 | 1 180,00 | 2 360,00 | 542,80 | 2 902,80", "Front | 14 | 215,00 | 3 010,00 | 692,30 | 3 702,30")
    sums = ("|| w tym | 5 370,00 | 1 235,10 | 6 605,10", "|| Razem | 5 370,00 | 1 235,10 | 6 605,10")
    lines = lines_of(heads, *rows, *sums, "Do zapłaty ||||| 6 605,10", edges=WIDE)
    assert [line.description for line in lines] == ["Blat", "Front"]


def test_a_position_before_one_word_is_no_quantity() -> None:
    lines = lines_of(HEADER, "4 Kingfisher | 3 | 50.00 | 150.00", "5 Stork | 10 | 20.00 | 200.00", "Net ||| 350.00")
    assert [(line.description, line.quantity) for line in lines] == [
        ("4 Kingfisher", Decimal(3)),
        ("5 Stork", Decimal(10)),
    ]


def test_a_line_named_like_a_tax_is_a_line_if_it_counts() -> None:
    lines = lines_of(HEADER, "Wirkarbeit | 1000 | 0,05 | 50,00", "Ökosteuer | 1000 | 0,02 | 20,00", "Netto ||| 70,00")
    assert [line.description for line in lines] == ["Wirkarbeit", "Ökosteuer"]


def test_an_amount_set_a_little_lower_belongs_to_the_words_above() -> None:
    lines = lines_of(
        HEADER, "Hotel | 1 | 158.88 |", "| | | 158.88", "Taxi | 1 | 23.36 |", "| | | 23.36", "Net ||| 182.24"
    )
    assert [(line.description, line.amount) for line in lines] == [
        ("Hotel", Decimal("158.88")),
        ("Taxi", Decimal("23.36")),
    ]


def test_a_discount_is_taken_off_its_line() -> None:
    lines = lines_of(HEADER, *LINES, "Discount | | | -5.00", "Subtotal ||| 195.00")
    assert [line.amount for line in lines] == [Decimal(125), Decimal(70)]


def test_a_free_line_is_no_discount() -> None:
    lines = lines_of(HEADER, "Case | 1 | 49.99 | 49.99", "Flyer with rebate | 1 | 0.00 | 0.00", "Total ||| 49.99")
    assert len(lines) == 2


def test_a_free_line_that_names_a_tax_is_a_line_unlike_a_tax_of_zero() -> None:
    rows = ("Accounts | 1 | 400.00 | 400.00", "VAT registration, free of charge | 1 | 0.00 | 0.00")
    lines = lines_of(HEADER, *rows, "VAT 0 % | | 400.00 | 0.00", "VAT exempt ||| 0.00", "Total ||| 400.00")
    assert [line.amount for line in lines] == [Decimal("400.00"), Decimal("0.00")]


def test_amounts_without_cents_count_under_the_amounts_head() -> None:
    lines = lines_of("Item | Qty | Unit price | Price", "Mouse | 1 | 700.0 | 700.0", "Disk | 2 | 2400.0 | 4800.0")
    assert [line.amount for line in lines] == [Decimal(700), Decimal(4800)]


def test_a_price_in_the_last_column_is_the_amount() -> None:
    lines = lines_of("Item | Quantity | Price", "Laptop | 1 | 55,000", "Mouse | 1 | 1,000", "Total || 56,000")
    assert [line.amount for line in lines] == [Decimal(55000), Decimal(1000)]


def test_a_line_set_as_one_text_is_taken_apart() -> None:
    drawn = layout([*table(HEADER), (389, 314, "Licence 02 €35.00 €70.00"), *table("Total ||| 70.00", top=328)])
    (line,) = find_line_items(drawn, find_money(drawn))
    assert (line.description, line.quantity, line.unit_price) == ("Licence", Decimal(2), Decimal(35))


def test_a_line_that_does_not_add_up_is_left_out_if_the_rest_does() -> None:
    remark = "Delivered with 5.00 less than ordered | | | 5.00"
    lines = lines_of(HEADER, *LINES, remark, "Subtotal ||| 200.00")
    assert [line.description for line in lines] == ["Paper", "Toner"]


def test_every_line_has_its_box() -> None:
    for line in lines_of(HEADER, *LINES, "Total ||| 200.00"):
        assert line.box is not None
        left, top, right, bottom = line.box
        assert 0.05 < left < 0.1
        assert 0.8 < right < 0.9
        assert 0 < bottom - top < 0.02


@pytest.mark.parametrize(("text", "rate"), [("19 %", "19"), ("7,7%", "7.7"), ("from 10% to 20%", None), ("19", None)])
def test_a_rate_is_read_where_there_is_one(text: str, rate: str | None) -> None:
    assert rate_of(layout([(50, 50, text)]).cells) == (Decimal(rate) if rate else None)


def test_in_ruled_boxes_amounts_stand_right_of_their_head() -> None:
    """A tax rate stands to the right of them; it is not an amount."""
    header = "Codice | Descrizione | Prezzo | Importo | IVA"
    left, right = (50, 110, 300, 380, 500), (50, 110, 320, 450, 540)
    rows = table("VT1 | Vite M8 | 9,00 | 90,72 | 22,00", "DD2 | Dado M8 | 4,00 | 46,80 | 22,00", top=314, edges=right)
    drawn = layout([*table(header, edges=left), *rows])
    assert [line.amount for line in find_line_items(drawn, find_money(drawn))] == [Decimal("90.72"), Decimal("46.80")]


def test_freight_is_a_line_where_it_is_what_was_sold() -> None:
    rows = ("Ocean freight to Singapore | 1,180.00", "Bill of lading | 55.00")
    assert len(lines_of(*rows, "Total | 1,235.00", edges=(50, 480))) == 2
    header = "Ref | Item | Tax | Unit price | Amount"
    shipped = ("A1 | Paper | 20 % | 12,50 EUR 2 | 25,00", "S1 | Shipping | 20 % | 9,00 EUR 1 | 9,00")
    assert len(lines_of(header, *shipped, "Total |||| 34,00", edges=(50, 120, 250, 330, 480))) == 2


def test_a_row_that_counts_nothing_is_a_line_where_the_net_is_the_sum_with_it() -> None:
    trips = ("88101 | Naaldwijk - Aalsmeer | 64 | 148,00", "88117 | Naaldwijk - Köln | 251 | 560,50")
    fuel, edges = "| Brandstoftoeslag 8,5% | | 60,22", (50, 120, 380, 480)
    assert len(lines_of(*trips, fuel, "Subtotaal ||| 768,72", edges=edges)) == 3
    assert len(lines_of(*trips, fuel, "Subtotaal ||| 700,00", edges=edges)) == 2


@pytest.mark.parametrize("name", ["Goods", "Zwischentotal", "Merchandise"])
def test_a_sum_by_any_name_is_no_line(name: str) -> None:
    assert len(lines_of(HEADER, *LINES, f"{name} ||| 200.00", "Carriage ||| 45.00")) == 2


@pytest.mark.parametrize(
    "sums",
    [("Base imposable 21 % € 6.290,00",), ("TVA 21 % | 1.320,90", "Total à payer | 7.610,90")],
    ids=["a net in one cell", "a tax, and what both make"],
)
def test_rows_that_add_up_are_lines_although_more_is_said_under_each(sums: tuple[str, ...]) -> None:
    rows = ("Campagne, création | 4.250,00", "Direction artistique", "Spots radio | 2.040,00", "3 à € 680,00, mixage")
    assert len(lines_of(*rows, *sums, edges=(50, 480))) == 2


def test_a_heading_between_rows_begins_others() -> None:
    before = [(50.0, 200.0, "Last bill"), (480.0, 200.0, "71.06"), (50.0, 250.0, "This bill")]
    drawn = layout([*before, *table("Broadband | 38.00", "Line rental | 14.50", "Net | 52.50", edges=(50, 480))])
    assert len(find_line_items(drawn, find_money(drawn))) == 2


def test_a_row_that_counts_is_no_sum_whatever_it_is_called() -> None:
    header = "Was | Menge | Preis | Betrag"
    rows = ("Arbeitspreis HT | 5.210 | 0,2874 | 1.497,35", "Grundpreis | 365 | 0,4932 | 180,02")
    assert len(lines_of(header, *rows, "Summe netto ||| 1.677,37")) == 2


@pytest.mark.parametrize("name", ["A reporter", "Riporto da pagina", "Suma y sigue"])
def test_an_amount_carried_over_is_no_line(name: str) -> None:
    first = table(HEADER, *LINES, f"{name} ||| 200.00")
    second = table(HEADER, f"{name} ||| 200.00", "Glue | 3 | 10.00 | 30.00", "Total ||| 230.00")
    drawn = layout(first, second)
    assert len(find_line_items(drawn, find_money(drawn))) == 3
    assert len(lines_of(HEADER, *LINES, "Assembly ||| 200.00", "Glue | 3 | 10.00 | 30.00", "Total ||| 430.00")) == 4


def test_lines_without_heads_are_all_that_make_the_total_not_one_that_is_also_in_a_table_of_taxes() -> None:
    rows = ("Kamer | | 138,00", "Diner | | 84,50", "Toeristenbelasting 4 x € 2,45 | | 9,80", "Totaal | | 232,30")
    taxes = ("Btw | Grondslag | Btw-bedrag", "0% | 9,80 | 0,00", "9% | 204,13 | 18,37")
    assert len(lines_of(*rows, *taxes, edges=(50, 300, 480))) == 3


def test_a_head_may_name_but_what_is_charged_and_its_amount() -> None:
    rows = ("Hosting | | 155.40", "Domain of | | 11.95", "| Side words", "the shop", "Discount on hosting | | -15.54")
    assert len(lines_of("Service | Period | Amount", *rows, "Subtotal | | 151.81", edges=(50, 300, 480))) == 3


def test_disbursements_are_lines_too() -> None:
    rows = ("Advice | 165.00", "Accounts | 103.50", "Paid out for you", "Register | 38.27", "Licence | 57.60")
    sums = ("Net total | 268.50", "VAT 21 % | 56.39", "Disbursements | 95.87", "Total | 420.76")
    assert len(lines_of("Item | Amount", *rows, *sums, edges=(50, 480))) == 4
    assert len(lines_of("Item | Amount", *rows, *sums[:2], "Total | 420.76", edges=(50, 480))) == 2


def test_two_sums_in_one_row_are_not_a_line() -> None:
    sums = ("Suma de importes | 200,00 | Base imponible | 196,00", "Portes | 4,00 | IVA 21 % | 41,16")
    header = "Artículo | Cantidad | Precio | Importe"
    rows = ("Crianza | 12 | 10,00 | 120,00", "Reserva | 5 | 16,00 | 80,00")
    assert len(lines_of(header, *rows, *sums)) == 2


def test_a_number_in_a_sentence_under_the_amounts_is_none() -> None:
    header = "Item | Quantity | Rate ex GST | Amount ex GST"
    rows = ("Sign | 1 | 486.00 || 486.00", "Film | 6 | 72.50 || 435.00")
    note = "Less 5% | -46.05 | | Due by 17 Aug 2026. Pay by EFT"
    edges = (50, 200, 270, 400, 520)
    assert [line.amount for line in lines_of(header, *rows, note, edges=edges)] == [
        Decimal("486.00"),
        Decimal("435.00"),
    ]


def test_numbered_lines_go_on_after_the_sum_of_a_group() -> None:
    header = "Pos | Bezeichnung | Menge | Einzelpreis | Betrag"
    first = ("Lohn", "1 | Meister | 7,5 | 62,00 | 465,00", "2 | Anfahrt | 1 | 35,00 | 35,00", "Summe Lohn |||| 500,00")
    then = ("Material", "3 | Schalter | 2 | 46,80 | 93,60", "Summe Material |||| 93,60", "Nettobetrag |||| 593,60")
    assert len(lines_of(header, *first, *then, edges=WIDE)) == 3
    below = ("Skonto", "1 | 2 % bis 1. Mai ||| 11,87", "Zahlbetrag |||| 581,73")
    assert len(lines_of(header, *first, *below, edges=WIDE)) == 2, "a list that begins anew is another one"


def test_a_date_may_precede_the_description_and_a_currency_follow_the_amount() -> None:
    rows = ("02/07/2025 | Habitación | 10 % | 168,00", "03/07/2025 | Restaurante | 10 % | 74,50")
    other = "04/07/2025 | Spa | 21 % | 85,00"
    assert len(lines_of("Fecha | Concepto | IVA | Importe EUR", *rows, other, "Total ||| 327,50")) == 3


def test_the_sum_before_a_discount_is_no_line() -> None:
    header = "Descripción | Cantidad | Precio | Importe"
    rows = ("Rodapié | 4 | 10,00 | 40,00", "Palé | 2 | 30,00 | 60,00", "Importe bruto ||| 100,00")
    assert len(lines_of(header, *rows, "Descuento 3 % ||| -3,00", "Base imponible ||| 97,00")) == 2


def test_lines_that_count_go_on_after_the_sum_of_a_group() -> None:
    header = "Arbeits-Nr. | Bezeichnung | Menge | Einzel EUR | Betrag EUR"
    work = ("Arbeitslohn", "AW 24 | Inspektion | 24 | 9,80 | 235,20", "AW 3 | Probefahrt | 3 | 9,80 | 29,40")
    parts = ("Ersatzteile", "06L115 | Filter | 1 | 14,90 | 14,90", "G0525 | Motoröl | 5,5 | 19,40 | 106,70")
    sums = ("Summe Teile |||| 121,60", "Netto |||| 386,20", "MwSt 19 % |||| 73,38")
    assert len(lines_of(header, *work, "Summe Lohn |||| 264,60", *parts, *sums, edges=WIDE)) == 4


def test_shipping_is_a_line_if_it_counts() -> None:
    rows = ("Espresso | 2 | 55,80 €", "Becher | 3 | 43,50 €", "Versand (DPD) | 1 | 4,90 €")
    sums = ("Summe netto || 91,06 €", "USt. 20 % || 13,14 €", "Gesamt || 104,20 €")
    assert len(lines_of("Produkt | Anzahl | Preis inkl. USt.", *rows, *sums, edges=(50, 300, 400))) == 3


def test_taxes_below_the_sum_are_no_lines_though_they_count() -> None:
    header = "Description | Qty | Price | Amount"
    rows = ("Consulting | 2 | 150.00 | 300.00", "Net ||| 300.00", "VAT | 0.20 | 300.00 | 60.00", "Total ||| 360.00")
    assert len(lines_of(header, *rows)) == len(lines_of(header, rows[0], rows[1], rows[3]))


def test_a_line_may_end_in_a_word_for_sums() -> None:
    rows = ("Consulting | 100.00", "Lump sum | 40.00", "Driving | 60.00", "Subtotal | 200.00", "VAT 20% | 40.00")
    assert len(lines_of("Description | Amount", *rows, "Total | 240.00", edges=(50, 480))) == 3


def test_one_line_without_a_head_or_cents_is_the_sum_below_it() -> None:
    (line,) = lines_of("Consulting in March | 1500", "Total EUR | 1500", edges=(50, 480))
    assert (line.description, line.amount) == ("Consulting in March", Decimal(1500))
    assert not lines_of("Customer | 1500", "Total EUR | 1700", edges=(50, 480))


PARTS = ("Oil | 5,2 | 9,85 | 51,22", "Filter | 1 | 12,40 | 12,40")
WORK = ("Fit the filter | 0,5 | 44,00 | 22,00", "Drain the oil | 0,6 | 44,00 | 26,40")


@pytest.mark.parametrize(
    "sums",
    [
        ("| All parts || 63,62", "| All work || 48,40", "| Parts and work || 112,02", "| Waste oil || 3,50"),
        ("All parts ||| 63,62", "All work | 1,1 || 48,40", "", "|| Waste oil | 3,50"),
        ("", "", "Side words | Both || 112,02", "more of them | Waste oil || 3,50"),
        ("All parts ||| 63,62", "", "", "Work on Saturday | 1 | 3,50 | 3,50"),
    ],
    ids=["groups and all", "groups, hours added up", "all, next to a text", "a line that counts after a group"],
)
def test_sums_by_any_name_and_what_is_added_to_them_are_no_lines(sums: tuple[str, ...]) -> None:
    parts, work, both, more = sums
    rows = [*PARTS, parts, *WORK, work, both, more, "Net ||| 115,52"]
    assert len(lines_of(HEADER, *filter(None, rows))) == 4 + ("Saturday" in more)


def test_a_row_of_the_price_of_those_before_it_is_a_line_if_the_net_includes_it() -> None:
    rows = ("Setup ||| 50.00", "Hosting ||| 50.00", "Support ||| 100.00", "Domain ||| 12.00")
    assert len(lines_of(HEADER, *rows, "Net ||| 212.00")) == 4


def test_what_follows_the_sum_of_a_group_is_a_line_where_lines_begin() -> None:
    rows = ("Attendance | 1.2 | 285.00 | 342.00", "Drafting | 2 | 165.00 | 330.00", "Profit costs ||| 672.00")
    paid = ("Search fee ||| 6.00", "Bank charge ||| 35.00", "Net ||| 713.00")
    assert len(lines_of(HEADER, *rows, "Disbursements", *paid)) == 4
    assert len(lines_of(HEADER, *rows, *paid)) == 4


def test_sums_by_any_name_in_a_credit_note_are_no_lines() -> None:
    rows = ("Bricks | -1 | 412.00 | -412.00", "Sand | -2 | 62.40 | -124.80", "Goods taken back ||| -536.80")
    assert len(lines_of(HEADER, *rows, "|| Restocking | 55.62", "Net ||| -481.18")) == 2


def test_a_list_without_heads_ends_at_its_sum_by_any_name() -> None:
    trips = ("04/05 | Gent - Lille | 24 pal. | 685,00", "06/05 | Lille - Gent | empty | 240,00")
    sums = ("|| All trips | 925,00", "|| Fuel 8,7 % | 80,48", "|| Net | 1.005,48", "|| VAT | 0,00")
    assert len(lines_of(*trips, *sums, edges=(50, 110, 300, 480))) == 2


def test_a_discount_below_the_sum_is_not_taken_off_the_sum() -> None:
    rows = (*LINES, "Somme des travaux ||| 200.00", "Remise 5 % ||| -10.00", "Total HT ||| 190.00")
    assert [line.amount for line in lines_of(HEADER, *rows)] == [Decimal(125), Decimal(75)]


@pytest.mark.parametrize("name", ["VAT", "Btw", "MwSt", "Total"])
def test_a_table_of_taxes_next_to_the_sums_has_no_lines(name: str) -> None:
    taxes = ("Rates | Over | Goods | 200.00", f"Low 9 % | 125.00 | {name} | 27.00", "High 21 % | 75.00 || ")
    assert len(lines_of(HEADER, *LINES, *taxes, "|| Invoice total | 227.00")) == 2


def test_sums_next_to_the_head_of_a_table_of_taxes_are_no_lines() -> None:
    rows = ("Bricks | 2 | 300.00 | 570.00", "Pallets | 3 | 18.00 | 43.01")
    sums = ("VAT code | Rate | Goods returned | 613.01", "1 | 20.00 | Less handling | -55.62", "|| Net credit | 557.39")
    assert [line.amount for line in lines_of(HEADER, *rows, *sums)] == [Decimal("570.00"), Decimal("43.01")]


def test_words_in_a_column_next_to_the_lines_do_not_end_them() -> None:
    rows = (
        "Last bill | 148.36 | Service | 29.50",
        "|| Energy | 120.95",
        "Your use at a glance",
        "|| Yard light | 9.75",
    )
    more = ("kWh | per day | Before tax | 160.20", "1,284 | 42.8 | State tax 5 % | 8.01", "|| Total | 168.21")
    assert len(lines_of(*rows, *more, edges=(50, 120, 280, 480))) == 3


@pytest.mark.parametrize(
    "count", ["8,420 words x €0.10", "8,420 x 0.10", "8,420 words @ $ 0.10", "8,420 words \u00d7 0.10"]
)
@pytest.mark.parametrize("ruling", ["----------", "====="])
def test_words_above_a_count_and_a_ruling_below_it_belong_to_the_lines(count: str, ruling: str) -> None:
    guide = [(50, 200, "Museum guide"), (62, 214, count), (480, 214, "842.00")]
    proof = [(50, 228, "Second proof"), (62, 242, "3.5 hours x €42.00"), (480, 242, "147.00")]
    drawn = layout([*guide, *proof, (480, 256, ruling), *table("Total | 989.00", top=270, edges=(50, 480))])
    assert len(find_line_items(drawn, find_money(drawn))) == 2


def test_a_discount_in_a_list_without_heads_is_no_line() -> None:
    rows = ("Calls | 14 min. | 3.92", "Data | 118 MB | 11.80", "Bundle discount | | -2.00", "Net | | 13.72")
    assert len(lines_of(*rows, edges=(50, 300, 480))) == 2


def test_words_next_to_a_tax_are_no_line_and_a_day_is_no_quantity() -> None:
    rows = (
        "Load | Date | Route | EUR",
        "SE-1802 | 02.09. | Wels - Graz | 286,00",
        "SE-1807 | 05.09. | Wels - Linz | 94,50",
    )
    sums = (
        "Please quote our number. || Net | 380,50",
        "Thank you. || 20 % VAT on 380,50 | 76,10",
        "|| Total | 456,60",
    )
    lines = lines_of(*rows, *sums, edges=(50, 170, 230, 480))
    assert [(line.amount, line.quantity) for line in lines] == [(Decimal(286), None), (Decimal("94.50"), None)]


def test_a_column_with_the_tax_of_each_line_is_of_the_lines() -> None:
    rows = (
        "Description | Qty | VAT | Total",
        "Oak chair | 1 | VAT 20% 20.00 | 120.00",
        "Oak table | 1 | 20% VAT 40.00 | 240.00",
    )
    assert len(lines_of(*rows, "Total ||| 360.00")) == 2
