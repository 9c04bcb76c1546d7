"""The words of French, Spanish, Italian and Portuguese invoices are known beyond those of the labelled sets."""

import datetime as dt
import re

import pytest

from docrail.invoices.facts import DocumentType
from docrail.invoices.model import InvoiceData
from docrail.invoices.readers.amounts.money import Role, role_of
from docrail.invoices.readers.layout.vocabulary import BUYER, ISSUE_DATE, ORDER_REFERENCE, PAYEE, SELLER, TABLE_END
from docrail.invoices.readers.parties.names import LEGAL_FORM, before_remark, owner_of_name
from docrail.invoices.readers.read import read_text
from docrail.invoices.values.folding import fold
from docrail.invoices.values.numbers import find_amounts
from tests.invoices.documents import Line
from tests.invoices.layouts import page, table

NUMBER, ISSUED, DUE = "K-20260417", dt.date(2026, 5, 12), dt.date(2026, 6, 21)


def each(texts: str) -> list[str]:
    """Return the texts between the bars."""
    return texts.split("|")


def read(*lines: str, title: str = "", vendor: str = "Kordelia Nova S.A.") -> InvoiceData:
    """Return what is read from a letterhead, a title, some lines, a table and its sums."""
    head: list[Line] = [(50, 40, vendor), (50, 54, "Place 12"), (50, 68, "44000 Nantes"), (50, 150, title)]
    words: list[Line] = [(50, 190 + 14 * index, line) for index, line in enumerate(lines)]
    sums = table("|||1 000,00", "TVA 20 %|||200,00", "Total TTC|||1 200,00 €", top=440)
    return read_text([page([*head, *words, *table("Objet|Qte|Prix|Total", "Alfa|2|500,00|1 000,00"), *sums])])


@pytest.mark.parametrize(
    "label",
    each(
        "Liquidation n°|N° du document|N° de note|Décompte n°|N° facture / Invoice No|Avis n°|Titre n°|N° de mémoire|"
        "Nº de minuta|Comprobante nº|Serie y número de factura|Folio:|Identificador de factura|Nº rectificativa|"
        "Numero del documento|Ft. n.|N. ft.|Nota di addebito n.|Fattura d'acconto n.|N. bolletta|Codice fattura|"
        "N.º da fatura|Número do documento|Fatura-recibo n.º|FR n.º|Nota fiscal n.º"
    ),
)
def test_labels_of_numbers(label: str) -> None:
    assert read(f"{label} {NUMBER}").invoice_number.value == NUMBER


@pytest.mark.parametrize(
    "line",
    each(
        "FATTURA N. 9 del 12/05/2026|Fattura nr. 9 - 12/05/2026|Factura nº 9 de fecha 12/05/2026|"
        "Fatura n.º 9 de 12 de maio de 2026|Facture n° 9 du 12/05/2026"
    ),
)
def test_a_first_number_has_one_digit(line: str) -> None:
    invoice = read(line)
    assert (invoice.invoice_number.value, invoice.date.value) == ("9", ISSUED)


@pytest.mark.parametrize(
    "title",
    each(
        "Facture de prestations|Facture d'hébergement|Relevé d'honoraires|Note d'honoraires et de débours|"
        "Appel de fonds|Titre de recettes|Factura electrónica|Factura del agua|Certificación de obra|Fattura d'acconto|"
        "Fattura di cortesia|Nota onorario|Fatura de honorários|Fatura/recibo|Venda a dinheiro"
    ),
)
def test_titles_before_a_number(title: str) -> None:
    invoice = read(f"{title.upper()} {NUMBER}")
    assert (invoice.invoice_number.value, invoice.vendor_name.value) == (NUMBER, "Kordelia Nova S.A.")


@pytest.mark.parametrize("title", ["Facture de crédit", "Factura de abono", "Nota di variazione", "Nota crédito"])
def test_titles_of_credit_notes(title: str) -> None:
    assert read(title=title).document_type.value is DocumentType.CREDIT_NOTE


@pytest.mark.parametrize(
    "sentence",
    each(
        "Le prélèvement interviendra le {}.|Votre domiciliation sera exécutée le {}.|Merci de payer d'ici au {}.|"
        "Paiement : prélèvement SEPA, {}|Règlement : LCR à 45 jours, {}|Le solde est dû pour le {}.|"
        "À virer avant le {}|"
        "Pago: confirming, {}|Forma de pago: pagaré a {}|El cargo se efectuará el {}.|Se girará recibo el {}.|"
        "Deberá ingresar el importe antes del {}.|Fecha prevista de cobro: {}|Último día de pago: {}|"
        "Pagamento: Ri.Ba. {}|Da pagare al più tardi il {}.|L'importo verrà prelevato dal suo conto il {}.|"
        "Scadenza della fattura: {}|Termini di pagamento: {}|SDD al {}|"
        "O valor será debitado na sua conta em {}.|A fatura deve ser liquidada até {}.|Débito direto a partir de {}|"
        "Data limite de pagamento: {}|Esta fatura vence a {}."
    ),
)
def test_due_dates(sentence: str) -> None:
    assert read(f"Date: 12/05/2026, N° {NUMBER}", sentence.format("21/06/2026"), title="Facture").due_date.value == DUE


@pytest.mark.parametrize(
    "term", each("30 jours nets|LCR 30 jours|Giro a 30 días|30 días de crédito|SDD 30 gg|Pagamento a trinta dias")
)
def test_payment_terms(term: str) -> None:
    assert read("Date: 12/05/2026", term, title="Facture").due_date.value == ISSUED + dt.timedelta(days=30)


@pytest.mark.parametrize(
    "text",
    each(
        "Paiement : carte bancaire, 11/05/2026|Payé par virement le 11/05/2026|Pagado por transferencia el 11/05/2026|"
        "Recibimos su pago el 11/05/2026.|Próximo cargo el 11/06/2026|Prossima scadenza 11/06/2026|"
        "Próximo débito em 11/06/2026|Prélèvement SEPA|Offerta valida fino al 11/06/2026"
    ),
)
def test_dates_that_are_not_due_dates(text: str) -> None:
    assert read("Date: 12/05/2026", text, title="Facture").due_date.value is None


@pytest.mark.parametrize(
    "date", ["1º de junho de 2026", "1º giugno 2026", "01 / 06 / 2026", "Junio 1 de 2026", "1 giugno '26"]
)
def test_printed_dates(date: str) -> None:
    assert read(f"Date: {date}", title="Facture").date.value == dt.date(2026, 6, 1)


def test_a_clerk_is_not_the_seller() -> None:
    assert read("Établie par : Sophie Martin", title="Facture").vendor_name.value == "Kordelia Nova S.A."


@pytest.mark.parametrize("text", ["N° d'appel : 0969321515", "N° note d'envoi : 99887", "Nº nota de entrega: 99887"])
def test_numbers_of_other_things(text: str) -> None:
    assert read(text).invoice_number.value is None


@pytest.mark.parametrize(
    ("role", "labels"),
    [
        (Role.NET, "Total avant taxes|Sous total|Montant soumis à TVA|Total HT après remise|TVA non comprise"),
        (Role.NET, "Base gravada|Total sin impuestos|Importe gravado|Totale ante imposte|Totale prima dell'IVA"),
        (Role.NET, "Valor s/ IVA|Montante líquido|Total tributável|Total antes de impostos|Ilíquido"),
        (Role.TAX, "TVA due|Recargo de equivalencia|Cuota tributaria|Total de impostos"),
        (
            Role.TOTAL,
            "Toutes taxes comprises|Montant de votre facture|Montant à prélever|Somme exigible|Acompte à payer",
        ),
        (Role.TOTAL, "A abonar|Importe domiciliado|Importe final|Totale al lordo dell'IVA|A Vs. debito|Importo lordo"),
        (Role.TOTAL, "Valor da fatura|Montante em dívida|Importância a pagar|Total com impostos|Valor a liquidar"),
        (Role.ADJUSTMENT, "Rabais|Ristourne|Éco-participation|Supplément carburant|Bonificación|Rappel|Embalajes"),
        (Role.ADJUSTMENT, "Marca da bollo|Spese d'incasso|Cassa previdenza 4%|C.P.A.|Rivalsa INPS|Abbuono"),
        (Role.ADJUSTMENT, "Desconto|Retenção na fonte|Imposto de selo|Arredondamento|Taxa turística"),
    ],
)
def test_sums(role: Role, labels: str) -> None:
    assert [label for label in each(labels) if role_of(fold(label)) is not role] == []


@pytest.mark.parametrize(
    ("pattern", "labels"),
    [
        (
            BUYER,
            "Facturer à|Coordonnées du client|Souscripteur :|Dirección de facturación|Tomador del seguro|Facturada a",
        ),
        (
            BUYER,
            "Acquirente|Luogo di consegna|Intestatario fattura|Morada de faturação|Exmo.(s) Sr.(s)|Ex.mos Senhores",
        ),
        (SELLER, "Facturé par|Société émettrice|Emitida por|Datos fiscales del emisor|Emittente|Entidade emissora"),
        (PAYEE, "À l'ordre de|Cuenta a nombre de|C/C intestato a|Conta em nome de"),
        (
            ISSUE_DATE,
            "Facturée le|Date de note de crédit|F. expedición|Fecha de recibo|Data fatturazione|Data/hora emissão",
        ),
        (
            ORDER_REFERENCE,
            "V/cde|BC n°|N° d'engagement|Orden de compra|S/Pedido|Vs. ord. n.|OdA n.|V/ encomenda|Requisição",
        ),
        (TABLE_END, "Récapitulatif TVA|Resumen de impuestos|Castelletto IVA|Quadro resumo de impostos"),
    ],
)
def test_other_labels(pattern: re.Pattern[str], labels: str) -> None:
    assert [label for label in each(labels) if not pattern.search(fold(label))] == []


@pytest.mark.parametrize(
    "name",
    each(
        "EARL Brévent|GAEC des Trois Chênes|Brévent ASBL|Brévent Soc. Coop.|Brévent SAGL|Brévent SCCL|SAT Brévent|"
        "Brévent S. de R.L. de C.V.|Brévent S.A.P.I. de C.V.|Brévent, Unipessoal, Lda.|Brévent, S.G.P.S., S.A."
    ),
)
def test_legal_forms(name: str) -> None:
    assert LEGAL_FORM.search(fold(name))


@pytest.mark.parametrize(
    "line", ["Earl Street", "Domaine: EARL Fournier et fils, viticulteurs", "Mer et Service de Paris"]
)
def test_words_that_are_no_legal_forms(line: str) -> None:
    assert not LEGAL_FORM.search(fold(line))


@pytest.mark.parametrize(
    "phrase",
    each(
        "Nova, nom commercial de {}|Nova est une enseigne de {}|Nova est exploité par {}|Nova, succursale de {}|"
        "Nova es el nombre comercial de {}|Nova es un establecimiento de {}|Nova è un marchio registrato di {}|"
        "Nova è gestito da {}|Nova è un'insegna di {}|Nova é uma marca registada de {}"
    ),
)
def test_owners_of_brands(phrase: str) -> None:
    owned = owner_of_name(phrase.format("Brévent Kordelia SARL") + " - RCS Nantes 303 265 045")
    assert owned == ("Nova", "Brévent Kordelia SARL")


@pytest.mark.parametrize(
    "rest",
    each(
        " exerçant sous l'enseigne Nova|, nom commercial Nova|, que opera bajo el nombre comercial Nova|"
        ", che opera con il marchio Nova| (marchio Nova)|, sob a marca Nova"
    ),
)
def test_trading_names_are_cut_off(rest: str) -> None:
    assert before_remark(f"Brévent SARL{rest}") == "Brévent SARL"


@pytest.mark.parametrize(
    ("line", "vat_id"),
    [
        ("NIF: 12.345.678-Z", "ES12345678Z"),
        ("CIF B 12345674", "ESB12345674"),
        ("NIE X1234567L", "ESX1234567L"),
        ("Código de identificación fiscal: B12345674", "ESB12345674"),
        ("Partita I.V.A. 00743110157", "IT00743110157"),
        ("N.I.P.C. 501.442.600", "PT501442600"),
        ("N.º de identificação fiscal 501 442 600", "PT501442600"),
        ("RPM Liège 0428.759.497", "BE0428759497"),
    ],
)
def test_national_tax_ids(line: str, vat_id: str) -> None:
    assert read(line).vendor_vat_id.value == vat_id


@pytest.mark.parametrize("label", ["N° TVA preneur", "V/TVA", "NIF del receptor", "Vs. P.IVA", "V/ Contribuinte"])
def test_tax_ids_of_the_buyer(label: str) -> None:
    assert read(f"{label} : FR83404833048", "N° TVA : FR40303265045").vendor_vat_id.value == "FR40303265045"


@pytest.mark.parametrize(
    "text",
    each("BE68-5390-0754-7034|IBAN BE68.5390.0754.7034 - BIC GKCCBEBB|IBAN BE 68 5390 0754 7034"),
)
def test_printed_ibans(text: str) -> None:
    assert read(text).iban.value == "BE68539007547034"


@pytest.mark.parametrize(
    ("text", "currency"),
    [("Fr. 1'200.00", "CHF"), ("Fr. 80.-", "CHF"), ("SFr. 80", "CHF"), ("R$ 80,00", "BRL"), ("Fr. 8.00 - 17.00", None)],
)
def test_signs_of_currencies(text: str, currency: str | None) -> None:
    assert find_amounts(text)[0].currency == currency


@pytest.mark.parametrize(
    "paid",
    each(
        "Acomptes perçus|Provisions encaissées|Part Assurance Maladie|Tiers payant|Bon d'achat|Prime CEE|"
        "Entregado a cuenta|Provisión de fondos|Fianza|Ya cobrado|Già versato|Fondo spese|"
        "Scissione dei pagamenti|Buono regalo|Valor recebido|Por conta|Caução"
    ),
)
def test_the_remainder_after_payments_is_not_the_total(paid: str) -> None:
    sums = table("|||1 000,00", "Total|||1 000,00", f"{paid}|||300,00", "A pagar|||700,00 €", top=328)
    head = [(50, 40, "Kordelia Nova S.A."), (50, 150, f"Facture N° {NUMBER}")]
    assert (
        read_text([page([*head, *table("Objet|Qte|Prix|Total", "Alfa|2|500,00|1 000,00"), *sums[1:]])]).total.value
        == 1000
    )
