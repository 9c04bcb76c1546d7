"""Portuguese."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import Label, Language

LANGUAGE = Language(
    code="pt",
    titles=(
        "fatura(?:[ -]recibo| simplificada| proforma)?",
        "nota de debito",
    ),
    months=(
        "janeiro jan",
        "fevereiro fev",
        "marco mar",
        "abril abr",
        "maio mai",
        "junho jun",
        "julho jul",
        "agosto ago",
        "setembro set",
        "outubro out",
        "novembro nov",
        "dezembro dez",
    ),
    common=(
        "e o os de da do para com fatura data valor total pagamento quantidade preco iva cliente descricao "
        "vencimento conta dias obrigado morada contribuinte designacao nif"
    ),
    printed="descricao emissao fatura imposto incidencia numero pagar preco quantidade total valor vencimento",
    days="dias",
    paying=r"pag\w+|vencimento|prazo",
    labels={
        Label.INVOICE: ("fatura",),
        Label.PLAIN_DATE: ("data",),
        Label.NUMBER: (r"(?:numero|n[o°º]\.?) (?:da |de )?fatura", "fatura[ -]recibo n[o°º]", "ft"),
        Label.ISSUE_DATE: ("data (?:da |de )?(?:fatura|emissao|documento)", "emitid[oa] em"),
        Label.DUE_DATE: (
            "(?:data (?:de |do )?)?vencimento",
            "data limite(?: de pagamento)?",
            "pagar ate",
            "pagamento ate",
        ),
        Label.DELIVERY_DATE: ("data (?:de |da )?(?:entrega|prestacao|carga)",),
        Label.TOTAL: (
            "total (?:a pagar|geral|da fatura|com iva|c/ ?iva|do documento)",
            "valor (?:total|a pagar)",
            "montante a pagar",
        ),
        Label.NET: (
            "total (?:iliquido|sem iva|s/ ?iva)",
            "valor (?:iliquido|liquido|tributavel)",
            "base tributavel",
            "incidencia",
        ),
        Label.TAX: ("(?:total|valor|montante)(?: do| de)? iva", "imposto"),
        Label.SELLER: ("fornecedor", "emitente", "vendedor"),
        Label.BUYER: ("adquirente", r"exmo\(?s?\)?\.?(?: sr\w*\.?(?:\(es\))?)?", "faturar a", "comprador"),
        Label.VAT_ID: ("nipc?", "nif", r"contribuinte(?: n[o°º]\.?)?", "n[o°º] (?:de )?contribuinte"),
        Label.CURRENCY: ("moeda",),
        Label.DESCRIPTION: ("descricao", "designacao", "artigo", "produto"),
        Label.QUANTITY: ("quantidade", r"qtd\.?", r"quant\.?"),
        Label.PRICE: (r"preco(?: unit\w*\.?)?", r"p\. ?unit\w*\.?"),
        Label.AMOUNT: ("valor", "total liquido", "montante"),
    },
    papers={
        DocumentType.CREDIT_NOTE: ("nota de credito",),
        DocumentType.RECEIPT: ("talao(?: de caixa)?", "recibo"),
        DocumentType.DUNNING_LETTER: ("(?:aviso|lembrete) de (?:pagamento|cobranca)", "notificacao de cobranca"),
        DocumentType.STATEMENT: ("extrato de conta", "conta corrente"),
        DocumentType.PURCHASE_ORDER: ("nota de encomenda", "(?:ordem|pedido) de compra"),
        DocumentType.QUOTE: ("orcamento", "proposta(?: comercial)?", "cotacao"),
        DocumentType.DELIVERY_NOTE: ("guia de (?:remessa|transporte)", "nota de entrega"),
        DocumentType.REMITTANCE_ADVICE: ("aviso de (?:transferencia|pagamento efetuado)",),
        DocumentType.CONTRACT: (r"contrato(?: de \w+)?",),
    },
)
