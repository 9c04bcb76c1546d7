"""Spanish."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.readers.languages.language import Language

LANGUAGE = Language(
    code="es",
    papers={
        DocumentType.DUNNING_LETTER: (
            "(?:(?:primer|segundo|tercer|ultimo) )?(?:recordatorio|aviso|requerimiento) de (?:pago|cobro|impago)",
            "reclamacion de (?:pago|deuda)",
        ),
        DocumentType.STATEMENT: ("estado de cuenta", "extracto(?: de cuenta)?"),
        DocumentType.PURCHASE_ORDER: ("orden de compra", "(?:hoja|nota) de pedido", "pedido de compra"),
        DocumentType.QUOTE: ("presupuesto", "cotizacion", "oferta(?: comercial)?"),
        DocumentType.DELIVERY_NOTE: ("albaran(?: de entrega)?", "nota de entrega"),
        DocumentType.REMITTANCE_ADVICE: (
            "aviso de (?:pago|transferencia) realizad[oa]",
            "carta de pago",
            "notificacion de pago",
        ),
        DocumentType.CONTRACT: (r"contrato(?: de \w+(?: de \w+)?)?",),
    },
)
