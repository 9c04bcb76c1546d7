"""E-invoices as senders really write them: sums left out, several accounts, corrections, odd numbers and encodings."""

import datetime as dt
import re
from decimal import Decimal

import pikepdf
import pytest

from docrail.invoices.facts import DocumentType, Source
from docrail.invoices.model import InvoiceData
from docrail.invoices.problems import UnreadableDocument
from docrail.invoices.readers.einvoice.read_xml import MAX_LINES, read_einvoice_xml
from docrail.invoices.readers.read import read_document
from tests.invoices.documents import SAMPLES, Line, attach, make_pdf, pdf_bytes, ubl_invoice

TODAY = dt.date(2026, 4, 1)
VALID, OTHER, INVALID = "DE02120300000000202051", "DE89370400440532013000", "DE03120300000000202051"
CII = (SAMPLES / "zf_en16931_rabatte.cii.xml").read_text()
PRINTED: list[Line] = [(50, 60, "Muster GmbH"), (50, 100, "Invoice number: RE-1"), (50, 130, f"IBAN: {OTHER}")]


def cii(*changes: tuple[str, str]) -> InvoiceData:
    """Return the reading of the sample with patterns replaced, each of which must be there."""
    text = CII
    for pattern, replacement in changes:
        text, count = re.subn(pattern, replacement, text, flags=re.DOTALL)
        assert count, pattern
    return read_einvoice_xml(text.encode())


def ubl(*changes: tuple[str, str], **values: str) -> InvoiceData:
    """Return the reading of the small invoice with pieces replaced, each of which must be there."""
    text = ubl_invoice(**values).decode()
    for piece, replacement in changes:
        assert piece in text
        text = text.replace(piece, replacement)
    return read_einvoice_xml(text.encode())


def means(*accounts: str, payer: str = "") -> str:
    """Return CII payment means, one for each account."""
    inner = "".join(
        f"<ram:PayeePartyCreditorFinancialAccount>{a}</ram:PayeePartyCreditorFinancialAccount>" for a in accounts
    )
    name = "ram:SpecifiedTradeSettlementPaymentMeans"
    payers = (
        f"<ram:PayerPartyDebtorFinancialAccount><ram:IBANID>{payer}</ram:IBANID></ram:PayerPartyDebtorFinancialAccount>"
    )
    return f"<{name}>{inner}{payers if payer else ''}</{name}>"


CURRENCY = "<ram:InvoiceCurrencyCode>EUR</ram:InvoiceCurrencyCode>"


@pytest.mark.parametrize(
    ("accounts", "iban"),
    [
        ([f"<ram:IBANID>{OTHER}</ram:IBANID>", f"<ram:IBANID>{VALID}</ram:IBANID>"], OTHER),
        ([f"<ram:IBANID>{INVALID}</ram:IBANID>", f"<ram:IBANID>{VALID}</ram:IBANID>"], VALID),
        ([f"<ram:ProprietaryID>{VALID}</ram:ProprietaryID>"], VALID),
        (["<ram:ProprietaryID>12345678</ram:ProprietaryID>"], None),
        (["<ram:IBANID>de02 1203 0000 0000 2020 51</ram:IBANID>"], VALID),
    ],
)
def test_of_several_accounts_the_first_valid_one_is_paid(accounts: list[str], iban: str | None) -> None:
    field = cii((CURRENCY, CURRENCY + means(*accounts))).iban
    assert field.value == iban
    assert len(field.candidates) == (len(accounts) if iban else 0)


def test_several_ubl_accounts_are_kept() -> None:
    one = f"<cac:PayeeFinancialAccount><cbc:ID>{VALID}</cbc:ID></cac:PayeeFinancialAccount>"
    second = "</cac:PaymentMeans><cac:PaymentMeans>" + one.replace(VALID, OTHER)
    assert [candidate.value for candidate in ubl((one, one + second)).iban.candidates] == [VALID, OTHER]


def test_a_direct_debit_has_no_account_to_pay_to() -> None:
    """The only account on the page is the payer's."""
    text = re.sub(CURRENCY, CURRENCY + means(payer=OTHER), CII)
    pdf = make_pdf(PRINTED)
    attach(pdf, "zugferd-invoice.xml", text.encode())
    iban = read_document(pdf_bytes(pdf), today=TODAY).iban
    assert (iban.value, iban.source) == (None, Source.XML)


@pytest.mark.parametrize(("scheme", "expected"), [("", None), (' schemeID="BBAN"', "BBAN")])
def test_an_account_that_is_no_iban_is_kept_with_its_scheme(scheme: str, expected: str | None) -> None:
    invoice = ubl(("<cbc:ID>DE02120300000000202051<", f"<cbc:ID{scheme}>12-34567 890<"))
    assert (invoice.iban.value, invoice.account, invoice.account_scheme) == (None, "12-34567 890", expected)
    number = f"<ram:ProprietaryID{scheme}>12-34567 890</ram:ProprietaryID>"
    payee = f"<ram:PayeePartyCreditorFinancialAccount>{number}</ram:PayeePartyCreditorFinancialAccount>"
    way = f"<ram:SpecifiedTradeSettlementPaymentMeans>{payee}</ram:SpecifiedTradeSettlementPaymentMeans>"
    own = r"<ram:SpecifiedTradeSettlementPaymentMeans>.*</ram:SpecifiedTradeSettlementPaymentMeans>"
    changed = cii((own, way)) if re.search(own, CII, re.DOTALL) else cii((CURRENCY, CURRENCY + way))
    assert (changed.iban.value, changed.account, changed.account_scheme) == (None, "12-34567 890", expected)


def test_an_account_next_to_an_iban_is_left_out() -> None:
    assert (ubl().account, ubl().account_scheme) == (None, None)


def test_the_trade_name_and_the_registered_name_are_both_kept() -> None:
    party = "<cac:PartyLegalEntity><cbc:RegistrationName>Muster GmbH"
    invoice = ubl((party, f"<cac:PartyName><cbc:Name>Muster Shop</cbc:Name></cac:PartyName>{party}"))
    assert (invoice.vendor_name.value, invoice.vendor_trade_name) == ("Muster GmbH", "Muster Shop")
    assert ubl().vendor_trade_name is None
    shop = "<ram:TradingBusinessName>Lieferant</ram:TradingBusinessName>"
    legal = f"<ram:SpecifiedLegalOrganization>{shop}</ram:SpecifiedLegalOrganization>"
    assert cii((r"(<ram:SellerTradeParty>.*?</ram:Name>)", rf"\1{legal}")).vendor_trade_name == "Lieferant"


def test_the_payment_reference_is_kept() -> None:
    assert (
        cii((CURRENCY, "<ram:PaymentReference>RF18 5390</ram:PaymentReference>" + CURRENCY)).payment_reference
        == "RF18 5390"
    )
    means_start = "<cac:PaymentMeans>"
    assert ubl((means_start, means_start + "<cbc:PaymentID>RF18</cbc:PaymentID>")).payment_reference == "RF18"


def test_long_decimals_and_prices_for_many_are_plain_numbers() -> None:
    invoice = cii(
        (r">3\.0000<", ">3.00000000000000000000<"),
        (
            r"(<ram:NetPriceProductTradePrice>\s*<ram:ChargeAmount)>5\.4900<(/ram:ChargeAmount>)",
            r"\1>549.0<\2<ram:BasisQuantity>100</ram:BasisQuantity>",
        ),
    )
    assert str(invoice.line_items[0].quantity) == "3.00"
    assert str(invoice.line_items[0].unit_price) == "3.3333"
    assert invoice.line_items[2].unit_price == Decimal("5.49")


@pytest.mark.parametrize("value", ["0", "-1", "x"])
def test_a_price_for_no_quantity_stays_a_price(value: str) -> None:
    price = "<cac:Price><cbc:PriceAmount>5.00</cbc:PriceAmount><cbc:BaseQuantity>{}</cbc:BaseQuantity></cac:Price>"
    assert ubl(("</cac:Item>", "</cac:Item>" + price.format(value))).line_items[0].unit_price == 5


def test_sums_that_are_left_out_are_added_up() -> None:
    assert cii((r"<ram:TaxBasisTotalAmount>.*?</ram:TaxBasisTotalAmount>", "")).net.value == Decimal("193.77")
    assert cii((r"<ram:TaxTotalAmount.*?</ram:TaxTotalAmount>", "")).tax.value == Decimal("21.30")
    net = '<cbc:TaxExclusiveAmount currencyID="EUR">100.00</cbc:TaxExclusiveAmount>'
    assert (
        ubl(
            (
                net,
                "<cbc:LineExtensionAmount>90</cbc:LineExtensionAmount><cbc:ChargeTotalAmount>10</cbc:ChargeTotalAmount>",
            )
        ).net.value
        == 100
    )
    total = '<cbc:TaxInclusiveAmount currencyID="EUR">119.00</cbc:TaxInclusiveAmount>'
    rest = "<cbc:PrepaidAmount>100</cbc:PrepaidAmount><cbc:PayableRoundingAmount>0.01</cbc:PayableRoundingAmount>"
    assert ubl((total, rest + "<cbc:PayableAmount>19.01</cbc:PayableAmount>")).total.value == 119


def test_a_currency_that_is_left_out_is_taken_from_the_amounts() -> None:
    grand = "<ram:GrandTotalAmount>"
    assert (
        cii((CURRENCY, "<ram:InvoiceCurrencyCode/>"), (grand, '<ram:GrandTotalAmount currencyID="CHF">')).currency.value
        == "CHF"
    )
    code = "<cbc:DocumentCurrencyCode>EUR</cbc:DocumentCurrencyCode>"
    payable = '<cbc:PayableAmount currencyID="SEK">119.00</cbc:PayableAmount></cac:LegalMonetaryTotal>'
    assert ubl((code, ""), ("</cac:LegalMonetaryTotal>", payable)).currency.value == "SEK"


@pytest.mark.parametrize(
    ("code", "total", "expected"),
    [
        ("384", "119.00", DocumentType.INVOICE),
        ("384", "-119.00", DocumentType.CREDIT_NOTE),
        ("380", "-119.00", DocumentType.INVOICE),
        ("386", "119.00", DocumentType.INVOICE),
        ("326", "119.00", DocumentType.INVOICE),
        ("261", "119.00", DocumentType.CREDIT_NOTE),
    ],
)
def test_a_correction_below_nothing_gives_money_back(code: str, total: str, expected: DocumentType) -> None:
    assert ubl(type_code=code, total=total).document_type.value is expected


def test_a_tax_in_a_second_currency_is_not_the_tax() -> None:
    own = '<ram:TaxTotalAmount currencyID="EUR">'
    assert cii((own, '<ram:TaxTotalAmount currencyID="USD">99.99</ram:TaxTotalAmount>' + own)).tax.value == Decimal(
        "21.30"
    )


def test_a_group_of_lines_is_not_charged_again() -> None:
    """The EXTENDED profile repeats the sum of some lines above them."""
    reason = r"\1<ram:LineStatusReasonCode>GROUP</ram:LineStatusReasonCode>"
    assert len(cii((r"(<ram:LineID>2</ram:LineID>)", reason)).line_items) == 3


@pytest.mark.parametrize("date", ["20260302", "2026-03-02", "2026-03-02T10:00:00Z", "202603021000", "2026-03-02+01:00"])
def test_dates_come_in_many_forms(date: str) -> None:
    assert ubl(date=date).date.value == dt.date(2026, 3, 2)


@pytest.mark.parametrize("encoding", ["UTF-8-W/O-BOM", "utf8mb4", "x", ""])
def test_an_unknown_encoding_is_read_as_utf_8(encoding: str) -> None:
    data = ubl_invoice(vendor="Müller").decode().replace('encoding="UTF-8"', f'encoding="{encoding}"')
    assert read_einvoice_xml(data.encode()).vendor_name.value == "Müller"


def test_an_e_invoice_that_only_the_af_array_lists_is_found() -> None:
    pdf = make_pdf(PRINTED[:2])
    attach(pdf, "x", ubl_invoice())
    pdf.Root.AF = pikepdf.Array([pdf.attachments["x"].obj])
    del pdf.Root.Names
    assert read_document(pdf_bytes(pdf), today=TODAY).reader == "ubl"


def test_a_broken_attachment_is_reported() -> None:
    pdf = make_pdf(PRINTED)
    attach(pdf, "factur-x.xml", ubl_invoice()[:-40])
    invoice = read_document(pdf_bytes(pdf), today=TODAY)
    assert invoice.reader == "text"
    assert "einvoice_unreadable" in {problem.code for problem in invoice.problems}


@pytest.mark.parametrize(
    ("other", "reported"),
    [
        (ubl_invoice(number="RE-2"), [("several_einvoices", "number RE-2, total 119.00")]),
        (ubl_invoice(total="190.00"), [("several_einvoices", "number RE-1, total 190.00")]),
        (ubl_invoice(), []),
        (ubl_invoice(vendor="Muster GmbH & Co. KG"), []),
        (ubl_invoice(number="RE-2")[:-40], []),
    ],
)
def test_another_attached_invoice_is_reported(other: bytes, reported: list[tuple[str, str]]) -> None:
    pdf = make_pdf(PRINTED)
    attach(pdf, "a.xml", ubl_invoice())
    attach(pdf, "b.xml", other)
    invoice = read_document(pdf_bytes(pdf), today=TODAY)
    assert (invoice.reader, invoice.invoice_number.value) == ("ubl", "RE-1")
    found = [(each.code, each.message) for each in invoice.problems if each.code == "several_einvoices"]
    assert [code for code, _ in found] == [code for code, _ in reported]
    assert all(words in message for (_, message), (_, words) in zip(found, reported, strict=True))


def test_a_number_that_is_the_beginning_of_another_is_not_on_the_page() -> None:
    """The XML says RE-1, the page RE-10: another invoice."""
    pdf = make_pdf([PRINTED[0], (50, 100, "Invoice number: RE-10")])
    attach(pdf, "factur-x.xml", ubl_invoice())
    invoice = read_document(pdf_bytes(pdf), today=TODAY)
    assert invoice.invoice_number.value == "RE-1"
    assert "on_page" not in invoice.invoice_number.evidence


def test_endless_texts_are_cut_and_endless_lines_refused() -> None:
    assert len(ubl(vendor="x" * 100_000).vendor_name.value or "") == 2000
    data = ubl_invoice().decode()
    line = re.search("<cac:InvoiceLine>.*</cac:InvoiceLine>", data, re.DOTALL)
    assert line
    with pytest.raises(UnreadableDocument, match="split it") as caught:
        read_einvoice_xml(data.replace(line[0], line[0] * (MAX_LINES + 1)).encode())
    assert caught.value.code == "too_large"
