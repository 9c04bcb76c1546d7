"""Spanish."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import BRACKETED, IN_SENTENCE, NO, OF, Label, Language

LANGUAGE = Language(
    code="es",
    titles=(
        "factura(?: rectificativa| simplificada| comercial| completa| profesional| ordinaria| de (?:venta|servicios))?",
        r"fra\.? simplificada",
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
    printed=(
        "cantidad descripcion emision factura fecha imponible importe numero pagar precio subtotal total vencimiento"
    ),
    days="dias",
    weeks="semanas?",
    counts="una=1 dos=2 tres=3 cuatro=4 seis=6 diez=10 quince=15 veinte=20 treinta=30 sesenta=60",
    paying=r"pag\w+|vencimiento|transferencia|neto|abon\w+",
    labels={
        Label.INVOICE: ("facturas?",),
        Label.NUMBERED: (
            *("documento?", "nota", "abono", "fra", "fact", "factura rectificativa", "minuta", "recibo"),
            *("nota d[ie] (?:debito|cargo)", "nota credito", "certificacion", "ticket"),
        ),
        Label.COUNTED: ("(?<!id )documento", "fra", "fact", "abono", "recibo"),
        Label.NUMBER: (
            rf"factura{BRACKETED}[\s-]*{NO}",
            rf"serie(?:\s*[ey/]\s*|\s*-\s+|-(?=numero|folio))(?:{NO}|folio)",
            r"ref(?:erence|\.)? (?:de )?(?:la )?factura",
            rf"factura (?:de )?(?!client|klant)\w+ {NO}",
        ),
        Label.DATED: ("(?<!antes )del",),
        Label.OTHER_PAPER: (".*debito?(?![a-z])", ".*cargo", "certificacion", ".*ticket"),
        Label.CORRECTION: ("rectificativa",),
        Label.ISSUE_DATE: (
            r"fecha\s*(?:del?\s*)?(?:la\s*)?(?:factura|fra|emision|expedicion|documento|doc|abono)",
            r"f\. ?(?:factura|emision)",
            "(?:emitid|expedid)[ao] el",
            r"(?:emitid[ao]|expedid[ao])(?: el)?(?=\W*\d)",
            "fecha de (?:la )?liquidacion",
        ),
        Label.OTHER_DOCUMENT: ("rectifica", "corrige", "sustituye", "anterior", "rectificada", "original"),
        Label.ORDER: ("pedido", "contrato", "entrega"),
        Label.ORDER_REFERENCE: (
            rf"(?:{NO} {OF}|ref(?:erencia|\.)? {OF}|su )?pedido(?: cliente)?(?:[\s-]*{NO})?(?: ?/ ?po)?",
        ),
        Label.STAY: ("llegada", "salida", "entrada", "estancia"),
        Label.PLAIN_DATE: ("fecha",),
        Label.DUE_DATE: (
            r"(?:fecha\s*(?:de\s*)?)?(?:vencimientos?|vto|vence(?: el)?)",
            "(?:pagader[oa]|exigible|a pagar) el",
            (
                rf"(?:pag[aou]\w*|abon(?:o|ar(?:se)?|en?)|transferencia)\b{IN_SENTENCE}{{0,60}}?"
                r"\b(?:antes del?|hasta|a mas tardar|como maximo)(?: el)?"
            ),
            (
                rf"(?:saldo|resto|restante|importe|pendiente)\b{IN_SENTENCE}{{0,40}}?"
                r"\b(?:a mas tardar|como maximo)(?: el)?"
            ),
            "fecha (?:(?:limite|maxima|tope)(?: de pago)?|(?:de )?(?:cargo|cobro|adeudo|pago))",
            "plazo(?: de pago)?",
            r"(?:cargo|adeudo|cobro|domicilia(?:cion|do))(?: en (?:su )?cuenta)?(?:\W+el(?: dia)?)?(?=\W+\d)",
            (
                r"(?:se (?:carg|cobr|adeud)ara|les? (?:carg|cobr)aremos|sera (?:carg|cobr|adeud)ad[oa])\b"
                rf"{IN_SENTENCE}{{0,50}}?"
                " (?:el|a partir del)(?: dia)?"
            ),
            r"neto (?:vencimiento|hasta|al?)(?: el)?(?= \d)",
            r"^\W*(?:a mas tardar|como maximo)(?: el)?",
            r"(?:pago|pagadero|transferencia|giro)\W{1,2}(?:(?:a|bancario) )*(?=\d{1,3} dias(?![a-z]))",
        ),
        Label.DELIVERY_DATE: (
            r"fecha\s*(?:de\s*)?(?:la\s*)?(?:entrega|operacion|prestacion|servicio)",
            "entregado el",
        ),
        Label.FUTURE: (
            "por primera vez",
            r"(?:nuev[oa]s?|proxim[oa]s?) (?:\w+ ){0,2}?(?:cuotas?|plazos?|pagos?|recibos?|factur\w+)",
        ),
        Label.SELLER: ("(?:datos del )?(?:proveedora?|vendedora?|emisora?)", r"de(?=\W*$)"),
        Label.PAYEE: ("titular(?: de la cuenta)?", "beneficiario"),
        Label.BUYER: (
            *("cliente", "factura(?:r|do) a", "datos del cliente", "destinatario", "receptor", "comprador"),
            r"para(?=\W*$)",
        ),
        Label.BUYER_ROLE: ("paciente", "huesped", "alumn[oa]", "inquilin[oa]"),
        Label.SALUTATION: ("se[nñ]or(?:es|a)?", r"sr(?:a|es)?\.?"),
        Label.THIRD_PARTY: ("represent[ae]nte? fiscal",),
        Label.YOURS: (
            "(?<!bonifico )(?<!bancario )su(?! (?:banc[ao]|conto|c/c))",
            *("(?:a|de|en|por) su banco", "vuestro", "cliente"),
        ),
        Label.RECIPIENTS: ("destinatari[oa]", "adquirente"),
        Label.REGISTRATION: ("registro mercantil", r"c\.?i\.?f", r"n\.?i\.?f"),
        Label.VAT_ID: (r"(?:c\.?i\.?f|n\.?i\.?f)\.?",),
        Label.CURRENCY: ("moneda", "divisa"),
        Label.DESCRIPTION: (
            *("productos?", "servicios?", "trabajos", "concepto", "descripcion", "articulo", "detalle"),
            *("denominacion", "material", "trabajo"),
        ),
        Label.QUANTITY: ("cantidad", "cant", "ctd", "unidades", "uds?", "dias", "horas"),
        Label.PRICE: ("precio", "tarifa"),
        Label.AMOUNT: ("importe", "cargos?", r"imp\.", "valor", "suma"),
        Label.TABLE_END: ("(?:condiciones|forma) de pago", "desglose (?:de |del )?iva"),
        Label.GROSS: (
            *("bruta?(?! ht)", "con iva", "iva incluid[oa]", r"a pagar\w*"),
            "(?:a|en) (?:su )?(?:cre?dito?|favor)",
        ),
        Label.BEFORE_TAX: ("base iva", "antes de (?:iva|impuestos)", "sin iva"),
        Label.SUM: ("total", "importe"),
        Label.INCLUDING: ("inclus[ao]", "incluid[ao]", "con iva"),
        Label.TOTAL: (
            r"total\s*factura",
            r"total (?:iva|impuestos) inc(?:l\w*)?",
            "total con (?:iva|impuestos)",
            r"^\W*a pagar",
            "(?:total |importe )?iva incluid[oa]",
            r"(?:importe|total)\s*(?:total|(?:de la )?factura|con iva)",
            "(?:importe )?pendiente(?: de pago)?",
            "total (?:importe )?(?:factura|general)",
            "importe liquido",
            "(?:neto|liquido|total|importe|saldo) a (?:percibir|pagar|cobrar|transferir|abonar|su favor)",
            "(?:neto|liquido|total|importe|saldo) a (?:devolver|reembolsar)",
            r"^\W*a su favor",
            "(?:total|importe) (?:(?:del )?abono|abonado|reembolsado)",
        ),
        Label.PLAIN_TOTAL: ("totales", r"^\W*sumas(?=\W*(?:$|\d))"),
        Label.NET: (
            "importe bruto",
            "neto",
            r"(?:base|suma)(?=\W*$)",
            r"base imp\.?",
            "total net?o",
            "suma neta",
            "total bases?",
            r"bases?\s*(?:imponibles?|gravable|liquidable|sujeta)",
            r"b\. imponible",
            "importe neto",
        ),
        Label.INSIDE: ("incluid[oa]s?",),
        Label.TAX_SUM: (r"sub[\s-]?total (?:de )?iva",),
        Label.TAX: (
            r"cuotas?(?=\W*$)",
            "cuota repercutida",
            r"(?:cuota\s*)?(?:iva|igic|ipsi)",
            "impuestos?",
        ),
        Label.TURNOVER_TAX: (r"i\.?v\.?a", "igic"),
        Label.ADJUSTMENT: (
            *(
                "envio",
                "gastos de envio",
                "portes",
                "descuento",
                "dto",
                "irpf",
                "retencion(?:es)?",
                "redondeo",
            ),
            *("(?:tasa|impuesto) turistic[oa]", "suplidos?", "envases"),
            "(?:importes?|conceptos) (?:no sujetos?|exentos?)",
        ),
        Label.PAID: ("anticipo", "pagado"),
        Label.PREPAID: ("senal", "entrega a cuenta", "pagos? a cuenta", "retencion(?:es)?", "irpf"),
        Label.CASH_DISCOUNT: ("pronto pago",),
        Label.WITHOUT: ("sin ",),
        Label.OTHERWISE: ("en otro caso", "de lo contrario"),
        Label.TENDER: ("efectivo", "entregado", "cambio", "(?:venta |pago (?:con )?)?tarjeta(?: bancaria)?"),
        Label.CHANGE: ("cambio",),
        Label.ROUNDING: ("redondeo",),
    },
    papers={
        DocumentType.CREDIT_NOTE: ("nota (?:de )?credito", "nota de abono"),
        DocumentType.RECEIPT: ("(?:ticket|tique)(?: de (?:compra|caja))?", "recibo(?: de \\w+)?"),
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
