"""Spanish."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import Language

LANGUAGE = Language(
    code="es",
    titles=(
        "factura(?: rectificativa| simplificada)?",
        "nota de credito",
        "(?:minuta|nota|recibo) de honorarios",
    ),
    months=(
        "enero ene",
        "febrero feb",
        "marzo mar",
        "abril abr",
        "mayo may",
        "junio jun",
        "julio jul",
        "agosto ago",
        "septiembre setiembre sept sep",
        "octubre oct",
        "noviembre nov",
        "diciembre dic",
    ),
    common=(
        "y el la los de del para con su factura fecha importe total pago cantidad precio iva cliente "
        "descripcion vencimiento cuenta dias gracias transferencia concepto numero"
    ),
    days="dias",
    paying=r"pag\w+|vencimiento|transferencia|neto|abon\w+",
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
