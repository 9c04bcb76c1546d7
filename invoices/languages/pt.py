"""Portuguese."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import Language

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
    days="dias",
    paying=r"pag\w+|vencimento|prazo",
    papers={
        DocumentType.DUNNING_LETTER: ("(?:aviso|lembrete) de (?:pagamento|cobranca)", "notificacao de cobranca"),
        DocumentType.STATEMENT: ("extrato de conta", "conta corrente"),
        DocumentType.PURCHASE_ORDER: ("nota de encomenda", "(?:ordem|pedido) de compra"),
        DocumentType.QUOTE: ("orcamento", "proposta(?: comercial)?", "cotacao"),
        DocumentType.DELIVERY_NOTE: ("guia de (?:remessa|transporte)", "nota de entrega"),
        DocumentType.REMITTANCE_ADVICE: ("aviso de (?:transferencia|pagamento efetuado)",),
        DocumentType.CONTRACT: (r"contrato(?: de \w+)?",),
    },
)
