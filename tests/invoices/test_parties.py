"""Seller and buyer are distinguished, with their names, VAT ids and accounts."""

from dataclasses import replace

import pytest

from docrail.invoices.readers.layout.page import Page, Word
from docrail.invoices.readers.parties import vendor
from docrail.invoices.readers.parties.candidates import NameCandidate, vendor_names
from docrail.invoices.readers.parties.names import LEGAL_FORM, is_name, owner_of_name
from docrail.invoices.readers.read import read_text
from tests.invoices.documents import Line
from tests.invoices.layouts import finder, page, table

SELLER, BUYER = "Nordwind Handels GmbH", "Bergmann Verlag AG"
SELLERS_VAT, BUYERS_VAT = "DE123456789", "DE136695976"
"""Only the buyer's has right check digits: samples and typing mistakes have wrong ones."""
IBAN = "DE02120300000000202051"


def parties(lines: list[Line]) -> tuple[str | None, str | None]:
    invoice = read_text([page(lines)])
    return invoice.vendor_name.value, invoice.buyer_name.value


def block(left: float, top: float, *texts: str) -> list[Line]:
    return [(left, top + 13 * row, text) for row, text in enumerate(texts)]


ADDRESS = ("Hafenstraße 9", "20457 Hamburg")
OTHER_ADDRESS = ("Rue Royale 5", "75008 Paris")
FOOT: list[Line] = [(50, 790, f"{SELLER}, Sitz Hamburg, Amtsgericht Hamburg HRB 123456, USt-IdNr. DE123456789")]
WIDE_SENDER: list[Line] = [
    (x, 120, text) for x, text in ((50, SELLER), (165, "●"), (185, ADDRESS[0]), (265, "●"), (285, ADDRESS[1]))
]


@pytest.mark.parametrize(
    "lines",
    [
        [*block(50, 50, "Seller:", SELLER, *ADDRESS), *block(320, 50, "Buyer:", BUYER, *OTHER_ADDRESS)],
        [*block(50, 50, "Verkäufer", "Nummer: 17", SELLER), *block(50, 150, "Käufer", BUYER, *OTHER_ADDRESS)],
        [*block(50, 50, SELLER, *ADDRESS), *block(320, 50, "Adresse du client", BUYER, *OTHER_ADDRESS)],
        [(50, 120, f"{SELLER} · Hafenstraße 9 · 20457 Hamburg"), *block(50, 140, BUYER, *OTHER_ADDRESS)],
        [*WIDE_SENDER, *block(50, 140, BUYER, *OTHER_ADDRESS)],
        [
            *((50, 120, f"{SELLER}, Hafenstraße 9, 20457 Hamburg"), (400, 120, "Kunde: 20716")),
            *block(50, 134, BUYER, *OTHER_ADDRESS),
        ],
        [*block(50, 150, "Bill to", BUYER, *OTHER_ADDRESS), *block(50, 790, SELLER, *ADDRESS, "HRB 123456")],
        [*block(50, 50, "Firma:", SELLER, *ADDRESS), *block(320, 50, "Kunde:", BUYER, *OTHER_ADDRESS)],
        [*block(50, 50, "Firma", SELLER, *ADDRESS), *block(50, 150, "Kunde", BUYER, *OTHER_ADDRESS)],
        [*block(50, 40, "Delivery note 7", "1 May 2024"), *FOOT, *block(50, 110, "Firma", BUYER, *OTHER_ADDRESS)],
        [
            *block(50, 50, "Lieferadresse", BUYER, *OTHER_ADDRESS),
            *block(320, 50, "Contact us", SELLER, "www.nordwind.de"),
        ],
    ],
    ids=[
        "labels",
        "numbers first",
        "buyer's label",
        "window",
        "wide signs",
        "commas",
        "footer",
        "own",
        "own above",
        "saluted",
        "two heads",
    ],
)
def test_both_names_are_found(lines: list[Line]) -> None:
    assert parties(lines) == (SELLER, BUYER)


@pytest.mark.parametrize(
    "lines",
    [
        [*block(400, 40, "Nähstube Petra Vogel", *ADDRESS), *block(50, 110, "Theaterverein e.V.", *OTHER_ADDRESS)],
        [(50, 40, "Nähstube Petra Vogel, Hafenstr. 9, 20457 Hamburg"), (50, 70, "Bühne GmbH, Markt 1, 20457 Hamburg")],
    ],
    ids=["two addresses", "each in a line"],
)
def test_the_first_of_two_addresses_without_labels_is_the_sellers(lines: list[Line]) -> None:
    iban: list[Line] = [(50, 200, "Rechnung 07/26"), (50, 230, f"Konto {IBAN}")]
    invoice = read_text([page([*lines, *iban])])
    assert (invoice.vendor_name.value, invoice.iban.value) == ("Nähstube Petra Vogel", IBAN)


@pytest.mark.parametrize(
    "above",
    [("Please come again", "011-3194 0284"), ("welcome", "2026"), ("Please come again", "(81109-A)")],
    ids=["a telephone number", "a year", "a register's number"],
)
def test_figures_below_a_line_make_no_address_of_it(above: tuple[str, str]) -> None:
    assert parties([*block(50, 40, *above), *block(50, 110, SELLER, *ADDRESS)])[0] == SELLER


def test_a_form_on_the_next_line_is_said_once_where_another_line_has_the_whole_name() -> None:
    lines = [
        *block(50, 40, "Nordwind Handels", "Incorporated", "9 Harbour Road"),
        (300, 700, "Nordwind Handels Incorporated"),
    ]
    assert parties(lines)[0] == "Nordwind Handels Incorporated"


def test_a_postal_code_of_two_parts_has_no_legal_form() -> None:
    buyer = block(50, 110, "Fam. J. de Boer", "Kerkstraat 18", "9712 AB Groningen")
    assert parties([*block(50, 40, "Groene Stroom"), *buyer, (50, 200, "Factuur 1")])[0] == "Groene Stroom"


def test_letters_that_are_set_apart_are_words() -> None:
    spaced: list[Line] = [(100 + 8 * index + 5 * (index > 5), 40, letter) for index, letter in enumerate("HARLOWLTD")]
    assert parties([*spaced, *block(50, 110, BUYER, *OTHER_ADDRESS)])[0] == "HARLOW LTD"


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (("Ruderclub Havel 1902 e. V.",), "Ruderclub Havel 1902 e. V."),
        (("Hall of St Mary (registered charity 512 338)",), "Hall of St Mary"),
        (("Albergo Tre Pini", "di Ferrari Gino S.a.s."), "Albergo Tre Pini di Ferrari Gino S.a.s."),
        (("ALMAZARA SIERRA", "Aceites Molino, S.C.A."), "Aceites Molino, S.C.A."),
        (("Afdeling Financiën", "Gemeente Oosterhaven"), "Gemeente Oosterhaven"),
        (("pagelark", "Pagelark Technologies OÜ"), "Pagelark Technologies OÜ"),
        (("STAHL WIMMER", "Wimmer Stahlhandel Ges.m.b.H."), "Wimmer Stahlhandel Ges.m.b.H."),
        (("Knockmore Clinic", "Co. Mayo"), "Knockmore Clinic"),
        (("Tyne Press", "a division of Lifting Graphics LLC"), "Lifting Graphics LLC"),
        (("TYNE LIFTING", "a trading name of T.L.S. (North East) Ltd"), "TYNE LIFTING"),
        (("Clinique du Port", "SELARL Docteurs Guérin"), "SELARL Docteurs Guérin"),
        (("Hotel Edelraute", "Betriebs GmbH"), "Hotel Edelraute Betriebs GmbH"),
    ],
)
def test_the_heads_name_is_the_sellers(head: tuple[str, ...], name: str) -> None:
    lines = [*block(50, 40, *head, *ADDRESS), *block(50, 130, "Familie Henning", *OTHER_ADDRESS)]
    assert parties(lines)[0] == name


def test_a_transfer_on_an_account_is_not_the_readers_own() -> None:
    """Spanish says `su` for yours, Italian for on."""
    for words in ("Bonifico su", "Bonifico bancario su Unibanca, IBAN"):
        lines = [*block(50, 40, SELLER, *ADDRESS), (50, 300, f"{words} {IBAN} entro il 7 agosto 2026")]
        assert read_text([page(lines)]).iban.value == IBAN


def test_captions_below_an_address_head_another_part_of_the_form() -> None:
    form = table(
        "Payment | Bank | Due", f"Transfer | Banca Enza {IBAN} | 31/07/2026", edges=(50.0, 200.0, 450.0), top=139
    )
    lines = [*block(50, 100, "Bill to", BUYER, OTHER_ADDRESS[1]), *form]
    assert read_text([page([*block(50, 40, SELLER, *ADDRESS), *lines])]).iban.value == IBAN


@pytest.mark.parametrize("label", ["To pay", "IVA 21 %"])
def test_a_sum_above_the_account_heads_no_address(label: str) -> None:
    head = [*block(50, 40, SELLER, *ADDRESS), *block(320, 40, BUYER, *OTHER_ADDRESS)]
    lines: list[Line] = [*head, (320, 200, label), (450, 200, "45.00")]
    assert (
        read_text([page([*lines, (320, 215, "Pay to DE02 1203 0000 0000 2020 51 with our thanks")])]).iban.value == IBAN
    )


@pytest.mark.parametrize("sign", ["—", "|", "trading as The Anchor."])
def test_the_company_of_a_logo_is_found_at_its_register_entry(sign: str) -> None:
    foot: list[Line] = [(50, 500, f"{SELLER} {sign} HRB 123456 Amtsgericht Hamburg")]
    assert parties([*block(50, 40, "The Anchor", *ADDRESS), *foot])[0] == SELLER


def test_a_name_that_begins_with_its_form_ends_before_its_capital() -> None:
    foot: list[Line] = [(50, 600, "SELARL Lescure & Associés, capital 10 000 €, RCS Toulouse 802447190")]
    sum_: list[Line] = [(50, 570, "Solde à régler"), (450, 570, "958,00 €")]
    assert parties([*block(50, 40, "CABINET LESCURE", *ADDRESS), *sum_, *foot])[0] == "SELARL Lescure & Associés"


def test_a_year_in_the_name_of_a_company_is_no_address() -> None:
    head = block(50, 40, "RÓTULOS MAR", "Rótulos del Mar 2004, S.L.", *ADDRESS)
    assert parties(head)[0] == "Rótulos del Mar 2004, S.L."


@pytest.mark.parametrize(
    ("name", "under"),
    [
        ("Steiner & Pfeifer OG", "Neubaugasse 44"),
        ("Soc. Agr. Poggio S.S.", "Loc. Poggio 12"),
        ("Lumen Comercial, S.A.U.", "Calle Mayor 3"),
    ],
)
def test_a_form_of_few_letters_is_one(name: str, under: str) -> None:
    assert parties([*block(50, 40, "atelier"), *block(50, 60, name, under)])[0] == name


def test_a_logo_is_spelt_out_where_its_name_stands_with_its_form() -> None:
    lines = [(50, 40, "nordwind"), *block(50, 80, SELLER, *ADDRESS), (50, 780, "www.nordwind.example")]
    assert parties(lines)[0] == SELLER


def test_a_logo_is_spelt_out_in_the_middle_of_the_page_too() -> None:
    assert parties([(50, 40, "www.nordwind.de"), *block(50, 60, "nordwind"), *block(50, 500, SELLER)])[0] == SELLER


@pytest.mark.parametrize("sign", ["", "."])
@pytest.mark.parametrize(
    "head", [("Cobb & Thistle", "Roasters Limited"), ("EURL Cobb", "et Fils"), ("Cobb & Thistle", "Tea")]
)
def test_a_name_over_two_lines_is_one_where_a_line_says_so(head: tuple[str, str], sign: str) -> None:
    said: list[Line] = [(50, 500, f"Please transfer to {' '.join(head)}{sign}")]
    assert parties([*block(50, 40, *head, *ADDRESS), *said])[0] == " ".join(head)


def test_a_city_under_a_name_is_no_part_of_it() -> None:
    said: list[Line] = [(50, 500, f"Please transfer to {SELLER}, Hamburg, or call us")]
    assert parties([*block(50, 40, SELLER, "Hamburg"), *said])[0] == SELLER


def test_the_full_stop_of_a_sentence_is_not_the_names() -> None:
    assert parties([(50, 790, "Pennard Water Limited. Registered office: Weir House. Registered in England.")])[0] == (
        "Pennard Water Limited"
    )
    assert parties(block(50, 40, "Lumen, S.L.", *ADDRESS))[0] == "Lumen, S.L."


def test_an_account_number_may_break_between_two_lines() -> None:
    text = [*block(50, 300, "Bitte überweisen Sie auf mein Konto, IBAN DE02", "1203 0000 0000 2020 51.")]
    assert read_text([page([*block(50, 40, SELLER, *ADDRESS), *text])]).iban.value == IBAN


def test_a_sellers_label_on_a_compound_word_is_none() -> None:
    lines = [*block(50, 50, SELLER, *ADDRESS), (50, 400, f"Verkäufer-Kontoname: {BUYER}")]
    assert parties(lines)[0] == SELLER


def test_the_holder_of_the_account_need_not_be_the_seller() -> None:
    lines = [*block(50, 50, SELLER, *ADDRESS), (50, 780, "Account holder: Max Mustermann")]
    assert parties(lines)[0] == SELLER


def test_a_company_counts_before_the_person_in_its_block() -> None:
    assert parties(block(50, 50, "Seller:", "Max Mustermann", SELLER, *ADDRESS))[0] == SELLER


def test_a_name_at_its_register_entry_counts_more_than_the_first_line() -> None:
    head = block(50, 50, "Alexinux", "Jean Dupont", *OTHER_ADDRESS)
    foot = block(
        50, 560, "NETPRESSE", "16 rue Mollien - 92100 Boulogne", "RCS Paris B 530 848 134 - Siret 53084813400017"
    )
    assert parties([*head, *foot])[0] == "NETPRESSE"


@pytest.mark.parametrize(
    "text",
    [
        "Rechnungsnummer",
        "ZUGFeRD-Rechnungen",
        "Belegdatum",
        "12345 Hamburg",
        "SL. No",
        "D02 XA00 Dublin",
        "SW1B 3BN London",
        "Seite 1",
        "PÁG.",
        "día.",
        "Inhaberin Maike Sommer",
        "C/ Alfarería 33, bajo",
        "ZA de la Bérangerais",
        "MNGLCU71D55D548R",
    ],
)
def test_labels_and_addresses_are_no_names(text: str) -> None:
    assert not is_name(text)


def test_a_name_like_an_address_on_the_net_counts_wherever_it_stands() -> None:
    lines = [*block(50, 40, "Invoice 7", "1 May 2024"), *block(50, 500, "Achille Ingelgem", "mail@achilleingelgem.be")]
    assert parties(lines)[0] == "Achille Ingelgem"


@pytest.mark.parametrize(
    "text",
    [
        "No VAT Company Ltd",
        "Total Energy SE",
        "Your Company SAS",
        "Amazon EU S.à r.l.",
        "Chat Illimités Inc.",
        "Müller & Söhne",
    ],
)
def test_companies_are_names(text: str) -> None:
    assert is_name(text)


def test_the_vat_id_in_the_sellers_block_counts_more_than_a_valid_one_elsewhere() -> None:
    seller = block(50, 80, SELLER, *ADDRESS, f"VAT: {SELLERS_VAT}")
    buyer = block(320, 80, BUYER, *OTHER_ADDRESS, f"VAT: {BUYERS_VAT}")
    assert read_text([page([*seller, *buyer])]).vendor_vat_id.value == SELLERS_VAT


def test_a_fiscal_representatives_vat_id_is_not_the_sellers() -> None:
    seller = block(50, 80, SELLER, *ADDRESS, f"N° TVA : {SELLERS_VAT}")
    other = block(50, 180, "Représentant fiscal", "Tax Help SARL", *OTHER_ADDRESS, f"N° TVA : {BUYERS_VAT}")
    invoice = read_text([page([*seller, *other])])
    assert (invoice.vendor_name.value, invoice.vendor_vat_id.value) == (SELLER, SELLERS_VAT)


def test_identifiers_stand_under_their_heads_too() -> None:
    heads: list[Line] = [(50, 780, "VAT Registration No."), (250, 780, "IBAN")]
    below: list[Line] = [(50, 793, SELLERS_VAT), (250, 793, "DE02 1203 0000 0000")]
    invoice = read_text([page([*block(50, 50, SELLER), *heads, *below, (250, 806, "2020 51")])])
    assert invoice.vendor_vat_id.value == SELLERS_VAT
    assert invoice.iban.value == IBAN


@pytest.mark.parametrize(
    ("text", "vat_id"),
    [
        ("P. IVA 08973230967", "IT08973230967"),
        ("Cod. Fisc. e P.IVA: 08973230967", "IT08973230967"),
        ("P. IVA 08973230968", None),
        ("Registro 08973230967", None),
        ("CIF: A-28015865", "ESA28015865"),
        ("C.1.F. A28015865", "ESA28015865"),
        ("BTW nr. 8199.90.966.B01", "NL819990966B01"),
        ("P. IVA IT08973230967 / 08973230967", "IT08973230967"),
        ("Part. IVA 08973230967", "IT08973230967"),
        ("VAT Number 980 7806 84", "GB980780684"),
        ("VAT Number 980 780 684", "GB980780684"),
        ("VAT Number 980 780 685", None),
        ("VAT REG NO GB980780684", "GB980780684"),
        ("VAT no: 980780685", None),
        ("D.N.I. 54362315K", "ES54362315K"),
        ("BTW 0754.368.703", "BE0754368703"),
        ("CHE-106.017.086 MWST", "CHE106017086MWST"),
        ("Org.no: NO 974 760 673 MVA", "NO974760673MVA"),
        ("Org.no: NO 974 760 674 MVA", None),
        ("NIF: 509182747 Tel. 243 555 062", "PT509182747"),
        ("NIF: 509182747 243 555 062", None),
        ("CVR-nr. 13585628 Tlf. 33 44 55 66", "DK13585628"),
        ("CVR-nr. 12345678 Tlf. 33 44 55 04 Mail", None),
        ("NIF B12345678 Tel. 913 555 070 Madrid", None),
    ],
)
def test_a_vat_id_that_is_written_without_its_country_gets_it(text: str, vat_id: str | None) -> None:
    assert read_text([page([*block(50, 50, SELLER), (50, 790, text)])]).vendor_vat_id.value == vat_id


def test_the_vat_id_called_the_customers_is_not_the_sellers() -> None:
    lines = [*block(50, 50, SELLER), (320, 120, "USt-IdNr. Kunde:"), (430, 120, BUYERS_VAT)]
    assert read_text([page(lines)]).vendor_vat_id.value is None


def test_a_mail_address_does_not_make_the_vat_id_next_to_it_the_customers() -> None:
    foot: list[Line] = [(50, 790, "debitoren@nordwind.example"), (250, 790, f"USt-IdNr. {BUYERS_VAT}")]
    assert read_text([page([*block(50, 50, SELLER, *ADDRESS), *foot])]).vendor_vat_id.value == BUYERS_VAT


def test_a_vat_id_may_break_between_two_lines_of_running_text() -> None:
    foot: list[Line] = [
        (50, 780, "Nordwind plc is registered in England at 1 Quay Street in Hull with VAT no. GB 980"),
        (50, 792, "7806 84."),
    ]
    assert read_text([page([*block(50, 50, "Nordwind plc"), *foot])]).vendor_vat_id.value == "GB980780684"


def test_a_buyers_block_ends_where_the_invoice_begins() -> None:
    """All in one column: the account below is the seller's, and so is its VAT id."""
    head = block(50, 50, SELLER, *ADDRESS)
    letter = block(50, 110, "Bill to", BUYER, *OTHER_ADDRESS, "Invoice no. 7", "Work", f"IBAN: {IBAN}")
    assert read_text([page([*head, *letter])]).iban.value == IBAN


@pytest.mark.parametrize(
    "line",
    ["info@bergmann.net", "Via Due Macelli 5", "Smart-Net AG", "HT Solutions GmbH", "Tel 0 31.45"],
)
def test_a_buyers_block_does_not_end_at_a_line_of_its_address(line: str) -> None:
    head = block(50, 50, SELLER, *ADDRESS)
    buyer = block(50, 120, "Bill to", BUYER, *OTHER_ADDRESS, line, f"VAT: {BUYERS_VAT}", f"IBAN: {IBAN}")
    invoice = read_text([page([*head, *buyer])])
    assert (invoice.vendor_name.value, invoice.vendor_vat_id.value, invoice.iban.value) == (SELLER, None, None)


def test_a_sum_and_the_account_below_it_are_no_address() -> None:
    head = [*block(50, 40, "atelier brume"), *block(320, 80, "Mairie de Saint-Rémy", "13210 Saint-Rémy")]
    spaced = "DE02 1203 0000 0000 2020 51"
    sums: list[Line] = [(50, 200, "Montant TTC à régler"), (400, 200, "7 680,00 €")]
    paid: list[Line] = [(50, 215, f"Payable à réception par virement sur le compte {spaced}.")]
    assert read_text([page([*head, *sums, *paid])]).iban.value == IBAN


def test_goods_that_are_delivered_are_no_delivery_address() -> None:
    lines = [*block(50, 50, SELLER, *ADDRESS), *block(50, 120, "Livraison et montage", f"IBAN: {IBAN}")]
    assert read_text([page(lines)]).iban.value == IBAN


def test_a_street_is_no_company_for_two_of_its_letters() -> None:
    lines = [*block(50, 40, "Juniper Words"), *block(320, 40, "(503) 555-0188", "2210 SE Division St", "Portland, OR")]
    assert parties(lines)[0] == "Juniper Words"


def test_a_sender_with_a_surname_is_the_company_that_has_it() -> None:
    lines = [
        *block(350, 40, "Malerbetrieb Ziegler e.K.", "Am Bahndamm 6", "36037 Fulda"),
        (50.0, 120.0, "Ziegler · Am Bahndamm 6 · 36037 Fulda"),
        *block(50, 140, BUYER, *OTHER_ADDRESS),
    ]
    assert parties(lines)[0] == "Malerbetrieb Ziegler e.K."


def test_a_tax_among_the_sums_is_no_register_entry_of_what_stands_above() -> None:
    sums: list[Line] = [(480, 300, "450,00"), (480, 313, "94,50"), (480, 326, "544,50")]
    lines = [
        *block(320, 40, "Terpstra & De Boer", "Zuiderhaven 12, 8861 CL Harlingen"),
        *block(50, 287, "Uitgevoerd werk", "Jaarrekening 2025", "Btw 21%", "Totaal"),
        *sums,
    ]
    assert parties(lines)[0] == "Terpstra & De Boer"


@pytest.mark.parametrize(
    "line", ["FAO Purchase Ledger", "z. Hd. Herrn Petersen", "t.a.v. de administratie", "t.a.v. mevr. Terpstra"]
)
def test_a_name_with_an_addressee_under_it_is_the_buyers(line: str) -> None:
    lines = [(320.0, 40.0, "TYNE LIFTING"), *block(50, 100, BUYER, line, *OTHER_ADDRESS)]
    assert parties(lines)[0] == "TYNE LIFTING"


def test_a_seller_that_stands_in_the_footer_alone_is_found() -> None:
    foot: list[Line] = [(80, 775, "Hansen Öztürk PartG mbB · Colonnaden 5 · 20354 Hamburg · Tel. 040 5550 811")]
    assert parties([*block(50, 110, BUYER, *OTHER_ADDRESS), *foot])[0] == "Hansen Öztürk PartG mbB"


def test_a_name_with_its_owner_in_the_footer_is_the_sellers_if_its_tax_number_is_next_to_it() -> None:
    foot: list[Line] = [
        (50, 775, "Fotografia Zenit di Maria Quarantelli"),
        (430, 775, "Partita IVA IT 11729030376"),
        (430, 787, "C.F. QRNTMS84D12A944X"),
    ]
    buyer = block(50, 110, "Bill to", BUYER, *OTHER_ADDRESS)
    assert parties([*buyer, *foot])[0] == "Fotografia Zenit di Maria Quarantelli"


@pytest.mark.parametrize("office", ["Registro Imprese di Reggio Emilia", "CCIAA di Reggio Emilia", "Via di San Pietro"])
def test_an_office_in_the_footer_is_no_seller_if_a_tax_number_is_next_to_it(office: str) -> None:
    seller = block(50, 40, "Tipografia Aurora", "Via Emilia 14, 42121 Reggio Emilia")
    buyer = block(50, 110, "Spett.le", BUYER, *OTHER_ADDRESS)
    foot: list[Line] = [(50, 775, office), (430, 775, "REA RE-123456 P.IVA 01234560359")]
    assert parties([*seller, *buyer, *foot])[0] == "Tipografia Aurora"


def test_a_name_in_two_prints_is_one_if_another_line_begins_with_it() -> None:
    lines: list[Line] = [(50, 40, "Studio Associato"), (50, 53, "Bertagnin & Fedrigo"), (50, 66, "Via dei Fabbri 27")]
    foot: list[Line] = [(50, 775, "Studio Associato Bertagnin & Fedrigo - copia di cortesia della fattura")]
    drawn = page([*lines, *block(50, 150, BUYER, *OTHER_ADDRESS), *foot])
    large = [replace(word, bottom=word.bottom + 4) if 50 < word.top < 60 else word for word in drawn.words]
    read = read_text([replace(drawn, words=tuple(large))])
    assert read.vendor_name.value == "Studio Associato Bertagnin & Fedrigo"


@pytest.mark.parametrize(
    ("second", "rest"),
    [
        ("London", "W1A 1AA"),
        ("Web Design and Hosting", "is VAT registered: GB 123 4567 82"),
        ("Anna Baker", "Sort code 12-34-56"),
    ],
)
def test_a_line_in_smaller_print_is_no_end_of_a_name_that_goes_on_otherwise_elsewhere(second: str, rest: str) -> None:
    lines: list[Line] = [(50, 40, "Northgate Studio"), (50, 59, second), (50, 71, "12 Mill Lane, Leeds LS1 4AB")]
    foot: list[Line] = [(50, 775, f"Northgate Studio {second} {rest}")]
    drawn = page([*lines, *block(50, 150, BUYER, *OTHER_ADDRESS), *foot])
    large = [replace(word, bottom=word.bottom + 8) if word.top < 50 else word for word in drawn.words]
    assert read_text([replace(drawn, words=tuple(large))]).vendor_name.value == "Northgate Studio"


def test_a_number_after_another_is_not_a_postal_code() -> None:
    """Next to a logo it would look like an address, and the buyer's below it would no longer be the second one."""
    seller: list[Line] = [(400, 40, "WIMMER"), (50, 52, "Wimmer Stahl GmbH, Voestalpinestraße 9, 4020 Linz")]
    buyer = block(50, 64, "Schlosserei Huber e.U.", "Marktplatz 7", "4150 Rohrbach", f"UID-Nr. {BUYERS_VAT}")
    assert read_text([page([*seller, *buyer, (400, 64, "R26-118204")])]).vendor_vat_id.value is None


@pytest.mark.parametrize("owner", ["Inh. Dilek Aksoy", "Entreprise individuelle Dilek Aksoy", "Titolare: Dilek Aksoy"])
def test_a_name_with_its_owner_under_it_is_the_vendors(owner: str) -> None:
    """Even if a year or a number ends it, and the owner's own name is next to the account."""
    foot: list[Line] = [(50, 300, "Dilek Aksoy · Sparkasse Bremen · Steuernummer 60/102/41877")]
    lines = [*block(50, 40, "Elektro Service 44", owner, *ADDRESS), *block(50, 150, BUYER, *OTHER_ADDRESS), *foot]
    assert parties(lines)[0] == "Elektro Service 44"


@pytest.mark.parametrize(
    ("lettering", "sender", "vendor"),
    [
        ("Bloemsierkunst Madelief", "Marjolein Zuidema", "Bloemsierkunst Madelief"),
        ("Madelief", "Zuidema Bloemen B.V.", "Zuidema Bloemen B.V."),
        ("Madelief", "Bloemsierkunst Madelief", "Bloemsierkunst Madelief"),
    ],
    ids=["a person", "a company", "the name in full"],
)
def test_the_sender_below_a_name_in_large_print_is_its_owner_if_a_person(
    lettering: str, sender: str, vendor: str
) -> None:
    letter = page([(50, 55, f"{sender} · Voorstraat 9 · 8601 CL Sneek"), *block(50, 150, BUYER, *OTHER_ADDRESS)])
    large = [replace(word, top=30, bottom=51) for word in page([(50, 30, lettering)]).words]
    assert read_text([replace(letter, words=(*large, *letter.words))]).vendor_name.value == vendor


def test_an_austrian_register_entry_identifies_the_company() -> None:
    foot: list[Line] = [(50, 790, "Hotel Edelraute GmbH & Co KG · FN 318842 k LG Innsbruck · Raiffeisenbank Mayrhofen")]
    head: list[Line] = [
        (250, 40, "HOTEL EDELRAUTE"),
        (50, 60, "Familie Unterrainer · Dorfplatz 8 · 6290 Mayrhofen · Tirol"),
    ]
    assert (
        parties([*head, *block(50, 150, "Herrn", "Lukas Brandstetter", *ADDRESS), *foot])[0]
        == "Hotel Edelraute GmbH & Co KG"
    )


@pytest.mark.parametrize("label", ["Paciente", "Patient:", "Gast", "Ospite", "Locataire :", "Opdrachtgever"])
def test_the_recipient_of_a_service_is_the_buyer(label: str) -> None:
    bought = block(50, 150, label, "Martin Escolano", f"VAT {BUYERS_VAT}", *OTHER_ADDRESS)
    sold = block(320, 150, "Clinica Aldonza", *ADDRESS)
    assert read_text([page([*bought, *sold])]).vendor_vat_id.value is None


@pytest.mark.parametrize("name", ["Patient Transport GmbH", "Gast & Söhne GmbH", "Student Books GmbH"])
def test_a_company_may_be_called_as_its_buyers_are(name: str) -> None:
    foot: list[Line] = [(50, 790, f"{name}, Sitz Hamburg, Amtsgericht Hamburg HRB 123456")]
    assert parties([*block(50, 40, name, *ADDRESS), *block(50, 150, "Kunde:", BUYER, *OTHER_ADDRESS), *foot])[0] == name


@pytest.mark.parametrize(
    ("text", "own"),
    [
        (f"Btw verlegd. Btw-nummer opdrachtgever: {BUYERS_VAT}", False),
        (f"USt-IdNr. des Leistungsempfängers: {BUYERS_VAT}", False),
        (f"N° TVA du preneur {BUYERS_VAT}", False),
        (f"P.IVA cessionario {BUYERS_VAT}", False),
        (f"Steuerschuldnerschaft des Leistungsempfängers. USt-IdNr. {BUYERS_VAT}", True),
        (f"Autoliquidation, TVA due par le preneur · N° TVA {BUYERS_VAT}", True),
    ],
)
def test_the_vat_id_of_who_owes_the_tax_is_the_buyers(text: str, own: bool) -> None:
    vat_id = read_text([page([*block(50, 40, SELLER, *ADDRESS), (50, 400, text)])]).vendor_vat_id.value
    assert vat_id == (BUYERS_VAT if own else None)


def test_a_first_page_without_words_has_no_names() -> None:
    assert read_text([page([]), page(block(50, 50, SELLER, *ADDRESS), 2)]).vendor_name.value is None


def test_a_name_goes_on_to_its_legal_form_on_the_next_line() -> None:
    lines = block(50, 40, "Tipografia Orobica", "di Belotti Fratelli s.n.c.", "Via Broseta 60", "24122 Bergamo")
    assert parties(lines)[0] == "Tipografia Orobica di Belotti Fratelli s.n.c."


@pytest.mark.parametrize("label", ["De", "Da", "Van", "Von:"])
def test_a_small_word_alone_above_a_name_says_that_it_is_the_sellers(label: str) -> None:
    lines = [*block(50, 110, label, "Camille Aubrac", *ADDRESS), *block(320, 40, "Muster GmbH", *OTHER_ADDRESS)]
    assert parties(lines)[0] == "Camille Aubrac"


def test_a_small_word_over_the_place_where_a_journey_begins_is_no_sellers_label() -> None:
    journey = table("Datum | Von | Nach | Preis", "01.03.2026 | Berlin Hbf | Hamburg Hbf | 50,00")
    assert parties([*block(50, 40, SELLER, *ADDRESS), *journey])[0] == SELLER


def test_numbers_in_the_foot_that_begins_with_the_sellers_name_are_the_sellers() -> None:
    """The buyer has no label, and its VAT id comes first."""
    buyer = block(320, 110, "Verpakkingen Maasland", "Markt 1", f"BTW {BUYERS_VAT}")
    foot: list[Line] = [
        (50, 740, "Transport Lemmens nv"),
        (240, 740, "www.lemmens.example"),
        (380, 740, "BTW BE 0754.368.703"),
    ]
    assert read_text([page([*buyer, *foot])]).vendor_vat_id.value == "BE0754368703"


@pytest.mark.parametrize(
    ("text", "iban"),
    [(f"Bonifico entro il 16.07.2025 su Banco Orobico, IBAN {IBAN}", IBAN), (f"Cargo en su banco, IBAN {IBAN}", None)],
    ids=["Italian: on", "Spanish: your"],
)
def test_a_bank_is_the_readers_own_in_one_language_and_the_payees_in_another(text: str, iban: str | None) -> None:
    assert read_text([page([*block(50, 40, SELLER, *ADDRESS), (50, 400, text)])]).iban.value == iban


LOGO = Page(
    1,
    595.0,
    842.0,
    (Word("blau", 50, 40, 130, 70), *page([(50, 300, "Kontakt: www.blau.example"), (50, 330, "blau")]).words),
)
"""A logo in large print, like the domain."""
HEAD_OF_BUYER = block(50, 120, BUYER, *OTHER_ADDRESS, "USt-IdNr. DE136695976")


@pytest.mark.parametrize(
    "foot",
    [
        [(50, 800, f"{SELLER} · Amtsgericht Hamburg HRB 123456")],
        [(50, 800, f"{SELLER}, Hafenstraße 9, 20457 Hamburg · MWST-Nr. CHE-116.281.710 MWST")],
        [(50, 800, SELLER), (300, 800, "HRB 123456"), (50, 812, "Hafenstraße 9"), (50, 824, "20457 Hamburg")],
        [(50, 800, SELLER), (300, 800, "AG Hamburg, HRB 123456"), (50, 812, "Hafenstraße 9")],
        [(50, 800, f"{SELLER} - Stammkapital 90.000,00 EUR - HRB 123456")],
    ],
    ids=["a line", "a Swiss number", "columns", "columns with the court", "its capital"],
)
def test_a_company_that_registers_in_the_foot_is_the_vendor(foot: list[Line]) -> None:
    """Issuers state there what the law asks for; a logo is a brand, and an address in the head may be the buyer's."""
    words = (*LOGO.words, *page([*HEAD_OF_BUYER, *foot]).words)
    assert read_text([replace(LOGO, words=words)]).vendor_name.value == SELLER


@pytest.mark.parametrize("line", ["Halte Nord SAS au capital de 240 000 EUR", "Puerto Azul S.L.· NIF B41752296"])
def test_a_company_that_registers_in_its_own_line_is_the_vendor(line: str) -> None:
    words = (*LOGO.words, *page([(50, 90, line)]).words)
    assert read_text([replace(LOGO, words=words)]).vendor_name.value in {"Halte Nord SAS", "Puerto Azul S.L."}


def test_the_foot_of_the_last_page_names_the_vendor_as_well() -> None:
    last = page([(50, 100, "Summe 100,00 EUR"), *FOOT], 2)
    assert read_text([LOGO, last]).vendor_name.value == SELLER


def test_of_a_name_read_twice_from_a_picture_the_larger_print_is_right() -> None:
    large = Word("Cornichon", 50, 40, 200, 70, 0.99), Word("GmbH", 210, 40, 280, 70, 0.99)
    small = [replace(word, score=0.99) for word in page([(50, 800, "Comichon GmbH, HRB 123456")]).words]
    others = [replace(word, score=0.99) for word in page(table("Leistung | Betrag", "Beratung | 100,00")).words]
    picture = Page(1, 595.0, 842.0, (*large, *others, *small), sureness=0.99)
    assert read_text([picture]).vendor_name.value == "Cornichon GmbH"


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        (block(50, 500, "Konto / Zahlbar an", "CH93 0076 2011 6238 5295 7", SELLER, *ADDRESS), SELLER),
        (block(320, 60, "EMISORA", "Amaya Zubil Rekal", "C/ Mayor 8", "20400 Tolosa"), "Amaya Zubil Rekal"),
        ([(50, 800, "The Letter Guild CIO, registered charity 1198823")], "The Letter Guild CIO"),
    ],
    ids=["a payment part", "an issuer", "a charity"],
)
def test_names_at_further_labels_and_with_further_forms(lines: list[Line], name: str) -> None:
    assert read_text([page([(50, 40, "Seerose"), *lines])]).vendor_name.value == name


def test_as_in_a_sentence_is_no_legal_form() -> None:
    assert LEGAL_FORM.search("nordic foods as, oslo")
    assert not LEGAL_FORM.search("reg. office as above.")


def test_a_buyers_block_ends_at_the_sellers_label() -> None:
    lines = block(50, 60, "Customer ID", "cus_77", "PO", "4500087213", "FROM", SELLER, *ADDRESS)
    assert read_text([page(lines)]).vendor_name.value == SELLER


def test_an_address_over_a_tax_number_is_not_the_buyers() -> None:
    head = (*block(50, 40, SELLER, *ADDRESS), (200, 90, f"{SELLER} - Hafenstraße 9 - 20457 Hamburg"))
    invoice = read_text([page([*head, (200, 103, "Tel. 040 55017 - USt-IdNr. DE136695976")])])
    assert invoice.vendor_vat_id.value == BUYERS_VAT


@pytest.mark.parametrize(
    "texts",
    [
        [f"Si prega di bonificare su {IBAN} (Cassa Rurale del Baldo)."],
        ["Bank DE02 1203 0000 0000 2020 51 KvK 01114877", "Te storten op G-rekening NL91ABNA0417164300: € 650,00"],
        ["Te storten op G-rekening NL91ABNA0417164300: € 650,00", "Bank DE02 1203 0000 0000 2020 51 KvK 01114877"],
        ["L'imposta è dovuta dal", "committente.", f"{IBAN}."],
        [f"Também pode pagar por transferência, indicando o número de cliente: IBAN {IBAN}."],
        [f"Please quote your customer number. IBAN {IBAN}"],
        [f"Bitte Ihre Kunden-Nr. angeben: IBAN {IBAN}"],
    ],
)
def test_the_account_to_pay_to_is_not_the_buyers_or_the_tax_offices(texts: list[str]) -> None:
    assert read_text([page([*block(50, 50, SELLER, *ADDRESS), *block(50, 600, *texts)])]).iban.value == IBAN


def test_a_number_of_the_customer_in_a_list_has_no_address_below_it() -> None:
    pairs = [("Invoice no.", "HW/4471"), ("Client reference", "TRE012/KP"), ("VAT registration", f"{SELLERS_VAT}")]
    listed = [(x, 100 + 14 * row, pair[at]) for row, pair in enumerate(pairs) for at, x in enumerate((340, 450))]
    invoice = read_text([page([*block(50, 40, SELLER), *block(50, 100, BUYER, *OTHER_ADDRESS), *listed])])
    assert invoice.vendor_vat_id.value == SELLERS_VAT


def test_the_customers_address_below_a_number_is_not_the_sellers() -> None:
    number = block(50, 100, "Customer No.", BUYER, *OTHER_ADDRESS, f"VAT ID {BUYERS_VAT}")
    invoice = read_text([page([*number, *block(350, 100, "Invoice No. 2026-118", "Date 12/05/2026"), *FOOT])])
    assert (invoice.vendor_name.value, invoice.vendor_vat_id.value) == (SELLER, SELLERS_VAT)


@pytest.mark.parametrize(("left", "top"), [(350, 120), (50, 120), (350, 700)])
def test_a_box_for_the_payment_elsewhere_leaves_the_customer_its_address(left: int, top: int) -> None:
    title: list[Line] = [(left, top, "Remittance"), (250, top, "Barclays Bank")]
    to = block(50, top + 14, f"To: {BUYER}", *OTHER_ADDRESS, f"VAT No. {BUYERS_VAT}")
    invoice = read_text([page([*block(50, 40, SELLER, *ADDRESS), *title, *to])])
    assert (invoice.buyer_name.value, invoice.vendor_vat_id.value) == (BUYER, None)


def test_a_payment_slip_is_addressed_to_the_seller() -> None:
    head = [*block(50, 50, BUYER, *OTHER_ADDRESS), *block(400, 50, SELLER, *ADDRESS)]
    slip: list[Line] = [(50, 700, "PAYMENT ADVICE"), (50, 730, "To:"), *block(80, 730, SELLER, *ADDRESS)]
    invoice = read_text([page([*head, *slip, (320, 730, "Customer"), (430, 730, BUYER)])])
    assert (invoice.vendor_name.value, invoice.buyer_name.value) == (SELLER, BUYER)


@pytest.mark.parametrize(
    "line",
    [
        [(50, 600, "Customer ID 20716"), (250, 600, "IBAN DE89370400440532013000")],
        [(50, 600, "Wir buchen den Betrag ab: Kunden-Nr. 20716, IBAN DE89370400440532013000")],
        [(50, 600, "RID codice cliente 20716"), (250, 600, "IBAN DE89370400440532013000")],
    ],
    ids=["English", "German", "Italian"],
)
def test_the_account_at_a_customers_number_is_the_customers(line: list[Line]) -> None:
    foot: Line = (50, 790, f"Bank details: IBAN {IBAN}")
    assert read_text([page([*block(50, 50, SELLER, *ADDRESS), *line, foot])]).iban.value == IBAN


def test_a_bank_in_the_foot_is_not_the_vendor() -> None:
    words = (*LOGO.words, *page([(50, 800, "Hansebank AG, Hafenstraße 9, 20457 Hamburg, HRB 4711")]).words)
    assert read_text([replace(LOGO, words=words)]).vendor_name.value == "blau"


def test_of_many_names_fifty_are_compared_with_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    words = 2 * [f"Muster{one}{other}" for one in "abcdefgh" for other in "abcdefgh"]
    names = finder([(20.0 + 50 * (n % 11), 10.0 + 12 * (n // 11), word) for n, word in enumerate(words)])
    compared = []

    def spells_out(own: NameCandidate, other: NameCandidate) -> bool:
        compared.append((own, other))
        return False

    monkeypatch.setattr(vendor, "_spells_out", spells_out)
    assert vendor.find_vendor_name(names, [])[0].value == words[0]
    assert len(vendor_names(names, [])) > vendor.MOST_NAMES
    assert len(words) < len(compared) <= 2 * vendor.MOST_NAMES**2


def test_a_company_at_its_domain_is_no_bank() -> None:
    foot = [
        (50, 90, "stay@ferrybank.example"),
        (50, 800, "Ferrybank Hotel Ltd t/a The Ferrybank. Registered in Scotland"),
    ]
    assert parties([(50, 40, "The Ferrybank"), *foot])[0] == "Ferrybank Hotel Ltd"


def test_a_name_ends_before_a_remark_after_its_legal_form() -> None:
    head = block(50, 40, "Idrotermica Srl - Forniture idrosanitarie", "Via Nazionale 112", "20838 Renate")
    assert parties(head)[0] == "Idrotermica Srl"
    foot = block(50, 790, "Kröger Hallwachs Rechtsanwälte PartG mbB Tel. 040 5550 3180", "20457 Hamburg")
    assert parties([(50, 40, "Kröger Hallwachs"), *foot])[0] == "Kröger Hallwachs Rechtsanwälte PartG mbB"


@pytest.mark.parametrize("label", ["pers. haft. Gesellschafterin", "phG", "Komplementärin", "general partner"])
def test_the_partner_who_is_liable_is_not_the_vendor_also_over_two_lines(label: str) -> None:
    head = block(50, 40, "Nordwind GmbH & Co. KG", *ADDRESS)
    foot = block(300, 780, f"{label}: Wertstoff Hamburg", "Verwaltungs GmbH, AG Hamburg HRB 209944")
    assert parties([*head, *foot])[0] == "Nordwind GmbH & Co. KG"


def test_the_company_below_a_person_who_is_liable_for_it_is_the_vendor() -> None:
    head = [(320, 40, "phG: Jens Kröger"), *block(320, 54, "Kröger Bau KG", *ADDRESS)]
    assert parties([*head, *block(50, 130, BUYER, *OTHER_ADDRESS)])[0] == "Kröger Bau KG"


def test_the_bank_of_the_account_is_not_the_vendor() -> None:
    foot = block(300, 790, "Nordbank eG", "IBAN DE02 1203 0000 0000 2020 51")
    words = (*LOGO.words, *page(foot).words)
    assert read_text([replace(LOGO, words=words)]).vendor_name.value == "blau"


def test_a_vendor_may_have_a_banks_word_in_its_name() -> None:
    head = block(50, 40, "Caja y Carton SL", "Calle Alta 3, 28001 Madrid", "IBAN ES91 2100 0418 4502 0005 1332")
    assert parties(head)[0] == "Caja y Carton SL"


@pytest.mark.parametrize(
    ("sentence", "owner"),
    [
        ("Muster is a trading name of Acme Ltd, supported by the Acme Foundation", "Acme Ltd"),
        (
            "De Klimboom is een handelsnaam van Stichting Opvang Vechtdal \u00b7 Laan 8, 7731 EE Ommen",
            "Stichting Opvang Vechtdal",
        ),
    ],
)
def test_a_sentence_names_the_owner_of_a_trading_name(sentence: str, owner: str) -> None:
    found = owner_of_name(sentence)
    assert found is not None
    assert found[1] == owner


@pytest.mark.parametrize("name", ["9418-2073 Qu\u00e9bec inc.", "2345678 Ontario Incorporated"])
def test_the_name_of_a_company_may_be_its_number(name: str) -> None:
    assert is_name(name)
