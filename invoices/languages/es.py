"""Spanish."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import BRACKETED, IN_SENTENCE, NO, OF, Label, Language

LANGUAGE = Language(
    code="es",
    titles=(
        (
            "(?:auto)?factura(?: (?:rectificativa|simplificada|comercial|completa|profesional|ordinaria|recapitulativa|"
            "final|electronica(?: de venta)?|mensual|original)|[ -]recibo"
            "| de (?:venta|servicios|anticipo|honorarios|alquiler|suministro|electricidad|la luz|gas|"
            "consumo|reserva|obra)"
            "| del agua)?"
        ),
        r"fra\.? simplificada",
        "nota (?:de )?credito|nota de abono|factura (?:(?:de )?abono|negativa)",
        "(?:minuta|nota|recibo|liquidacion) de honorarios",
        "nota de cargo|certificacion de obra|recibo de alquiler|documento de cobro",
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
    paying=(
        r"pag\w+|vencimiento|vto|transferencia|neto|abon\w+|giro|recibo|confirming|plazo|credito|fecha (?:de )?factura"
    ),
    labels={
        Label.INVOICE: ("facturas?",),
        Label.NUMBERED: (
            *("documento?", "nota", "abono", "fra", "fact", "factura rectificativa", "minuta", "recibo"),
            *("nota d[ie] (?:debito|cargo)", "nota credito", "certificacion", "ticket", "tique", "comprobante"),
            *("liquidacion", "simplificada"),
        ),
        Label.COUNTED: (
            *(
                "(?<!id )documento",
                "fra",
                "fact",
                "abono",
                "recibo",
                "minuta",
                "nota de (?:cargo|credito)",
                "nota credito",
            ),
            *("certificacion", "comprobante", "justificante", "liquidacion", "rectificativa", "simplificada"),
            *("tique", "ticket"),
        ),
        Label.NUMBER: (
            rf"factura{BRACKETED}[\s-]*{NO}",
            rf"serie(?:\s*[ey/]\s*|\s*-\s+|-(?=numero|folio))(?:{NO}|folio)(?: interno| de (?:la )?factura)?",
            r"^\W*folio(?: interno)?(?=\s*(?::|$))",
            r"(?:ref(?:erencia|\.)?|cod(?:igo|\.)|identificador) (?:de )?(?:la )?factura",
            rf"factura (?:de )?(?!client|klant)\w+ {NO}",
        ),
        Label.DATED: ("(?<!antes )del",),
        Label.OTHER_PAPER: (
            *(".*debito?(?![a-z])", ".*cargo", ".*certificacion", ".*ticket", ".*comprobante", ".*justificante"),
            *(".*liquidacion", "folio"),
        ),
        Label.CORRECTION: ("rectificativa",),
        Label.ISSUE_DATE: (
            (
                r"fecha\s*(?:y hora )?(?:del?\s*)?(?:la\s*)?(?:factura(?:cion)?|fra|fact|emision|emis|exped(?:icion)?|"
                r"documento|doc|"
                r"abono|recibo|minuta|liquidacion|creacion|comprobante|certificacion|ticket|"
                r"nota(?! de (?:entrega|pedido)))"
                r"(?: de credito| (?:de (?:la )?)?factura)?"
            ),
            r"f(?:ec)?\. ?(?:de )?(?:factura|fra|emision|expedicion)",
            r"lugar y fecha(?: de (?:emision|expedicion))?",
            r"^\W*emision(?=\W*(?:$|\d))",
            "(?:emitid|expedid|facturad|fechad)[ao] el",
            r"(?:emitid[ao]|expedid[ao])(?: el)?(?=\W*\d)",
            "fecha de (?:la )?liquidacion",
        ),
        Label.OTHER_DOCUMENT: ("rectifica", "corrige", "sustituye", "anterior", "rectificada", "original"),
        Label.ORDER: ("pedido", "contrato", "entrega"),
        Label.ORDER_REFERENCE: (
            (
                rf"(?:{NO}\.? {OF}|ref(?:erencia|\.)? {OF})?(?:su |s/ ?|v/ ?|"
                rf"vuestro )?(?:ref\. )?(?:hoja de )?(?:pedido|ped\.)"
                rf"(?: (?:del? )?cliente| de compra)?(?:[\s-]*{NO})?(?: ?/ ?po)?"
            ),
            rf"(?:su )?(?:{NO}\.? (?:de )?)?orden de compra(?:[\s-]*{NO})?|o\.?c\.? {NO}|{NO}\.? o\.?c",
        ),
        Label.STAY: ("llegada", "salida", "entrada", "estancia"),
        Label.PLAIN_DATE: ("fecha",),
        Label.PAYMENT_TERMS: ("(?:condiciones|forma|plazo) de pago",),
        Label.DUE_DATE: (
            (
                r"(?:fecha\s*(?:de\s*)?)?(?:vencimientos?(?: (?:de )?(?:la|esta) factura| del pago)?(?: es el)?|vto"
                "|vence(?: el)?)"
            ),
            r"(?:pagader[oa]|exigible|a pagar|(?<!su )(?<!ultimo )pago) (?:el|al?)(?=\W*(?:\d|$))",
            r"(?:limite|fin|ultimo dia) del? (?:pago|plazo)",
            r"(?:giro|pagare|confirming)(?: bancario| domiciliado)?(?:,| al?| el)?(?=\W*(?:\d|$))",
            r"(?:transferencia|letra)(?: al?| el)(?=\W*(?:\d|$))",
            r"pago\W+(?:recibo|transferencia|domiciliacion)\b[^.\d]{0,25}, ?(?=\d)",
            r"pago\W+(?:transferencia|domiciliacion)(?: bancaria)? el(?= \d)",
            (
                rf"(?:pag[aou]\w*|abon(?:o|ar(?:se)?|en?)|ingres\w+|liquid(?:ar|acion)|saldar|"
                rf"transf\w+)\b{IN_SENTENCE}{{0,60}}?"
                r"\b(?:antes del?|hasta|a mas tardar|como maximo)(?: el)?"
            ),
            (
                rf"(?:saldo|resto|restante|importe|pendiente)\b{IN_SENTENCE}{{0,40}}?"
                r"\b(?:a mas tardar|como maximo)(?: el)?"
            ),
            (
                "fecha (?:(?:limite|maxima|tope)(?: (?:de|para el) (?:pago|ingreso))?|(?:fin de |ultimo )pago"
                "|(?:prevista )?(?:del? )?(?:cargo|cobro|adeudo|pago|domiciliacion|exigibilidad))"
            ),
            "plazo(?: de pago)?",
            (
                r"(?:cargo|adeudo|cobro|domicilia(?:cion|do))(?: sepa| directo| bancari[oa]| por \w+|"
                r" en (?:su )?cuenta)*"
                r"(?:\W+(?:el|a partir del)(?: dia)?)?(?=\W+\d|\W*$)"
            ),
            r"(?:cargo|adeudo|cobro|domiciliacion|pago) se (?:realiz|efectu)ara el",
            (
                r"(?:se (?:carg|cobr|adeud|gir|domicili)ara|(?:carg|cobr|adeud)aremos|sera (?:carg|cobr|adeud)ad[oa])\b"
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
            (
                r"(?:nuev[oa]s?|proxim[oa]s?) (?:\w+ ){0,2}?(?:cuotas?|plazos?|pagos?|recibos?|cargos?|adeudos?|"
                r"cobros?|factur\w+)"
            ),
        ),
        Label.SELLER: (
            "(?:datos (?:fiscales )?(?:del )?)?(?:proveedora?|vendedora?|emisora?)(?: de la factura| ?/ ?emisor)?",
            "(?:emitid|expedid|vendid|facturad)[oa] por",
            "prestador(?: del servicio)?|arrendadora?|acreedora?|expedidora?|empresa emisora|nuestros datos",
            r"de(?=\W*$)",
        ),
        Label.PAYEE: (
            "titular(?: de la| da)?(?: cuenta| conta)?",
            "beneficiario(?: de la transferencia)?",
            "(?:cuenta|cheque|transferencia) a nombre de|a (?:favor|la orden) de",
        ),
        Label.BUYER: (
            *("cliente(?: ?/ ?receptor)?", "factura(?:r|d[oa]) a", "(?:datos|nombre) (?:del )?cliente", "comprador"),
            *("(?:destinatario|receptor)(?: de la factura)?", "adquirente", "(?:vendido|enviar|entregar|dirigido) a"),
            "(?:direccion|datos|domicilio) (?:de (?:facturacion|envio|entrega)|(?:fiscal )?del cliente)",
            "razon social (?:del )?cliente",
            "a la atencion de",
            r"para(?=\W*(?:$|:))",
        ),
        Label.BUYER_ROLE: (
            *("paciente", "huesped", "alumn[oa]", "inquilin[oa]", "deudora?", "pagadora?", "titular del contrato"),
            *("tomador(?: del seguro)?", "asegurad[oa]", "abonad[oa]", "suscriptora?", "arrendatari[oa]", "soci[oa]"),
            *("asociad[oa]", "contratante", "propiedad", "promotora?", "usuari[oa]", "interesad[oa]", "comunidad"),
            "(?:factura|emitid[oa]|expedida|cargar) a|factura para|facturacion",
        ),
        Label.SALUTATION: ("se[nñ]or(?:es|a)?", r"sr(?:a|es)?\.?"),
        Label.ATTENTION: ("a la atencion", r"at(?:t|n|tn)\."),
        Label.THIRD_PARTY: ("represent[ae]nte? fiscal",),
        Label.YOURS: (
            "(?<!bonifico )(?<!bancario )su(?! (?:banc[ao]|conto|c/c))",
            *("(?:a|de|en|por) su banco", "vuestro", "cliente", "s/(?= ?[cn]if)"),
        ),
        Label.RECIPIENTS: (
            r"(?<!codice )(?<!cod\. )destinatari[oa]",
            "adquirente",
            "receptor",
            "comprador",
            "arrendatari[oa]",
        ),
        Label.REGISTRATION: (
            *("registro mercantil", r"reg\. ?merc", r"c\.?i\.?f", r"n\.?i\.?f"),
            *(r"r\.?f\.?c(?=\W{1,4}[a-z&]{3,4}-?\d)", r"(?:r\.?u\.?t|nit|cuit|ruc)(?=\W{1,4}\d)"),
        ),
        Label.VAT_ID: (r"(?:c\.?i\.?f|n\.?i\.?f)\.?",),
        Label.CURRENCY: ("moneda", "divisa"),
        Label.DESCRIPTION: (
            *("productos?", "servicios?", "trabajos", "concepto", "descripcion", "articulo", "detalle"),
            *("denominacion", "material(?:es)?", "trabajo", "conceptos", "articulos", "designacion", "partida"),
            *("actuacion(?:es)?", "mercancia", "tratamiento", "asunto", "consumo"),
        ),
        Label.QUANTITY: (
            *("cantidad(?:es)?", "cant", "ctd", "cdad", "unidades", "unid", "u[nd]?ds?", "dias", "horas", "noches"),
            *("jornadas", "sesiones", "kilos", "peso", "bultos"),
        ),
        Label.PRICE: ("precio", "tarifa", "coste", r"p\.?v\.?p", r"pr\. ?unit\w*", "unitario"),
        Label.AMOUNT: ("importes?", "cargos?", r"imp\.", "valor", "suma", "monto", "honorarios", "euros"),
        Label.TABLE_END: (
            "(?:condiciones|forma|metodo|medio|modo|datos|informacion) de pago",
            "(?:desglose|resumen|cuadro) (?:de |del )?(?:iva|impuestos)",
            "resumen|observaciones|datos bancarios",
        ),
        Label.GROSS: (
            *("bruta?(?! ht)", "con iva", "iva incluid[oa]", r"a pagar\w*"),
            "(?:a|en) (?:su )?(?:cre?dito?|favor)",
        ),
        Label.BEFORE_TAX: (
            "base (?:del? )?(?:iva|igic|impuestos?)",
            "(?:antes de|sin) (?:iva|impuestos)",
            "iva (?:no incluido|excluid[oa])",
        ),
        Label.SUM: ("total", "importe"),
        Label.INCLUDING: ("inclus[ao]", "incluid[ao]", "con iva"),
        Label.TOTAL: (
            r"total\s*factura",
            r"total (?:iva|impuestos) inc(?:l\w*)?",
            "(?:total|precio) con (?:iva|impuestos)",
            r"^\W*a (?:pagar|abonar|ingresar|devolver|reembolsar)",
            "importe (?:final|adeudado|domiciliado|(?:del )?recibo|a (?:cargar|domiciliar|ingresar))",
            "monto (?:total|a pagar)|precio final",
            r"^\W*liquido(?=\W*$)",
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
            r"(?:base|suma)(?=\W*$)|suma (?:de )?(?:los )?conceptos",
            r"base imp\.?",
            "total net?o",
            "suma neta",
            "total bases?",
            r"bases?\s*(?:imponibles?|gravable|gravada|liquidable|sujeta|exenta|total)",
            "importe (?:gravado|imponible)",
            r"b\. imponible",
            "importe neto",
        ),
        Label.INSIDE: ("incluid[oa]s?",),
        Label.TAX_SUM: (r"sub[\s-]?total (?:de )?iva",),
        Label.TAX: (
            r"cuotas?(?=\W*$)",
            "cuota (?:repercutida|tributaria)",
            r"(?:recargo|rec\.?|r\.?) ?(?:de )?equiv\w*|cuota r\.?e\b",
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
                "(?<!base )irpf",
                "retencion(?:es)?",
                "redondeo",
            ),
            *("gastos de (?:gestion|transporte|desplazamiento)", "recargo(?! (?:de )?equiv)", "bonificacion", "rebaja"),
            *("rappel", "cupon", "embalajes?", "punto verde", "ecotasa", "fianza", "propina", "franqueo"),
            "isr|iva retenido",
            *("(?:tasa|impuesto) turistic[oa]", "suplidos?", "envases"),
            "(?:importes?|conceptos) (?:no sujetos?|exentos?)",
        ),
        Label.PAID: ("anticipos?", "pagado", "(?:pagos?|cobros?) (?:recibid|efectuad)os?"),
        Label.PREPAID: (
            *("senal", "a cuenta", "retencion(?:es)?", "irpf", "deposito", "fianza", "cobr(?:ado|os)", "provision"),
            *("prepago", "adelanto", "reserva pagada", "(?:bono|tarjeta) regalo", "vale", "subvencion"),
        ),
        Label.CASH_DISCOUNT: ("pronto pago",),
        Label.WITHOUT: ("sin ",),
        Label.OTHERWISE: ("en otro caso", "de lo contrario"),
        Label.TENDER: ("efectivo", "entregado", "cambio", "(?:venta |pago (?:con )?)?tarjeta(?: bancaria)?"),
        Label.CHANGE: ("cambio",),
        Label.ROUNDING: ("redondeo",),
    },
    papers={
        DocumentType.CREDIT_NOTE: ("nota (?:de )?credito", "nota de abono", "factura (?:(?:de )?abono|negativa)"),
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
