"""Portuguese."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.readers.languages.language import Language

LANGUAGE = Language(
    code="pt",
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
