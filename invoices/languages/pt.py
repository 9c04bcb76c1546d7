"""Portuguese."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import IN_SENTENCE, NO, OF, Label, Language

LANGUAGE = Language(
    code="pt",
    titles=(
        (
            "fac?tura(?:[ /-]recibo| (?:simplificada|proforma|final|global|eletronica|mensal|original)"
            "| de (?:venda|adiantamento|honorarios|servicos|agua|eletricidade))?"
        ),
        "nota de (?:debito|honorarios|lancamento)",
        "venda a dinheiro|documento de cobranca|aviso de cobranca|nota fiscal(?: de servicos)?",
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
    counts="trinta=30 sessenta=60",
    paying=r"pag\w+|vencimento|prazo|data da fatura",
    labels={
        Label.INVOICE: ("fac?turas?",),
        Label.NUMBERED: ("f[rs]", "nd", "documento", "recibo", "aviso"),
        Label.COUNTED: ("recibo",),
        Label.DATED: (r"(?<=\d )de(?: fecha)?",),
        Label.OTHER_PAPER: ("f[rs](?![a-z])", "nd(?![a-z])", ".*aviso", ".*recibo"),
        Label.PLAIN_DATE: ("data",),
        Label.NUMBER: ("ft(?! ?n|\\.)", "(?:ref(?:erencia|\\.)?|id) (?:da )?fatura"),
        Label.ISSUE_DATE: (
            (
                "data(?:/hora)?(?: e hora)? (?:d[aeo] )?(?:fac?tura(?:cao)?|emissao|documento|recibo|criacao|"
                "lancamento|aviso|"
                "nota(?: de credito)?)(?: da fatura)?"
            ),
            r"dt\. emissao|^\W*emissao(?=\W*(?:$|\d))",
            "emitid[oa] em",
        ),
        Label.ORDER: ("encomenda", "requisicao", "entrega"),
        Label.ORDER_REFERENCE: (
            (
                rf"(?:v(?:ossa|[/.])? ?|sua )?(?:{NO}\.? (?:d[ae] )?|ref(?:erencia|\.)? {OF})?(?:nota de )?"
                rf"(?:encomenda|enc\.|requisicao|ordem de compra)(?: do cliente)?(?:[\s-]*{NO})?"
            ),
        ),
        Label.PAYMENT_TERMS: ("(?:condicoes|prazo|forma) de pagamento",),
        Label.DUE_DATE: (
            r"(?:(?:data|dt\.?) (?:de |do )?)?venc(?:imentos?|\.)(?: da fatura)?",
            "(?:data[ -])?(?:limite|maxima)(?: de)? pagamento|data[ -]limite",
            "data (?:prevista )?(?:d[eo] )?(?:debito|pagamento|cobranca)",
            "prazo (?:limite )?(?:de )?pagamento",
            r"vence(?:-se)? (?:em|a)(?=\W*(?:\d|$))",
            r"(?:pagavel|exigivel|cobranca) em(?=\W*(?:\d|$))",
            (
                rf"(?:pag(?!o )\w+|liquid\w+|regulariz\w+|transfer\w+)\b{IN_SENTENCE}{{0,40}}?\b(?:ate|"
                rf"antes de)(?: ao dia)?"
            ),
            (
                r"(?:pagamento\W+)?(?:debito(?: direto| em conta)+|transferencia bancaria)(?:,| em|"
                r" a partir de)?(?=\W+\d|\W*$)"
            ),
            rf"(?:debitad|cobrad)[oa]\b{IN_SENTENCE}{{0,40}}? (?:em|a|a partir de)(?= \d)",
            r"debito (?:sera efetuado )?(?:a partir de|a|em)(?=\W*(?:\d|$))",
            r"pagamento\W{1,2}(?:a )?(?=\d{1,3} dias(?![a-z]))",
        ),
        Label.DELIVERY_DATE: ("data (?:de |da )?(?:entrega|prestacao|carga)",),
        Label.FUTURE: (r"proxim[oa]s? (?:\w+ ){0,2}?(?:debitos?|pagamentos?|faturas?|prestac\w+)",),
        Label.TOTAL: (
            "total (?:a pagar|geral|da fatura|com (?:iva|impostos?)|c/ ?iva|do documento)",
            "valor (?:total|com iva|(?:da )?(?:fatura|nota de credito)|debitado|creditado)",
            (
                "(?:valor|montante|importancia|total|saldo) (?:em divida|"
                "a (?:pagar|liquidar|debitar|cobrar|creditar|reembolsar|devolver|seu favor))"
            ),
            r"montante da fatura|^\W*a seu favor",
        ),
        Label.GROSS: ("em divida", "com iva", "a seu favor"),
        Label.BEFORE_TAX: ("(?:sem|s/) ?(?:iva|impostos?)", "antes de impostos"),
        Label.NET: (
            "(?:(?:total|valor|montante) )?iliquido",
            "(?:valor|montante) liquido|(?:valor|montante|total) tributavel",
            "base (?:tributavel|imponivel)|materia colet?avel",
            "incidencia",
        ),
        Label.TAX: ("(?:total|valor|montante)(?: do| de)? iva", "impostos?"),
        Label.ADJUSTMENT: (
            *("descontos?", "abatimento", "retencao(?: na fonte)?", "irs", "(?:imposto d[eo] )?selo", "arredondamento"),
            *("acerto", "taxa turistica", "ecotaxa", "ecovalor", "embalage(?:m|ns)", "caucao", "gorjeta", "sobretaxa"),
            *("despesas de (?:envio|deslocacao)", "frete", "nao sujeito"),
        ),
        Label.PAID: ("adiantamentos?", "(?:ja|valor|total) pago", "pagamentos? (?:recebid|efetuad)os?"),
        Label.PREPAID: (
            *("sinal", "retencao(?: na fonte)?", "irs", "por conta", "caucao", "provisao", "pagamentos", "pago"),
            *("recebido", "liquidado", "valor entregue"),
        ),
        Label.ROUNDING: ("arredondamento",),
        Label.SELLER: (
            *(
                "fornecedor",
                "emitente",
                "vendedor",
                "(?:vendid|emitid)[oa] por",
                "prestador(?: de servicos)?",
                "senhorio",
            ),
            "emissor|entidade emissora|dados (?:da empresa|do (?:emitente|fornecedor))",
        ),
        Label.PAYEE: ("titular(?: da conta)?", "conta em nome de", "a ordem de"),
        Label.BUYER: (
            *("adquirente", "fatura(?:r|do) a", "comprador", "(?:dados|identificacao|morada|nome) do cliente"),
            "(?:morada|dados|local) de (?:faturacao|entrega)|(?:entregar|enviar) a|a atencao de",
            r"ex\.?m[oa]s?(?:\([sa]\))?\.?(?:\([sa]\))?(?: s(?:r|enhor)\w*\.?(?:\((?:s|a|es)\))?)?",
        ),
        Label.BUYER_ROLE: (
            *(
                "utente",
                "alun[oa]",
                "hospede",
                "segurad[oa]",
                "tomador(?: do seguro)?",
                "titular do contrato",
                "soci[oa]",
            ),
            "condomin[oa]|associad[oa]|arrendatari[oa]|faturacao|para",
        ),
        Label.YOURS: (r"v[/.](?= ?(?:n|contrib))", "vosso", "seu(?= n)"),
        Label.RECIPIENTS: ("adquirente",),
        Label.REGISTRATION: ("nipc", "capital social", r"c\.?r\.?c", "conservatoria"),
        Label.VAT_ID: (
            *(r"n\.?i\.?p\.?c", "nip", r"n\.?i\.?f", r"contribuinte(?: n[o°º]\.?)?", r"contr(?:ib)?\."),
            rf"(?:{NO}\.? (?:de )?)?(?:contribuinte|identificacao fiscal|pessoa coletiva)(?: {NO})?",
        ),
        Label.CURRENCY: ("moeda",),
        Label.DESCRIPTION: (
            *("descricao", "designacao", "artigos?", "produtos?", "servicos?", "trabalhos?", "mercadorias?", "detalhe"),
            *("discriminacao", "denominacao"),
        ),
        Label.QUANTITY: ("quantidade", r"qtde?\.?", r"quant\.?", r"qnt\.?", "noites", "peso"),
        Label.PRICE: (r"preco(?: unit\w*\.?)?", r"pr?\. ?unit\w*\.?", r"p\.v\.p", "custo", "unitario"),
        Label.AMOUNT: ("valor(?:es)?", "total liquido", "montante", "importancia", "honorarios"),
        Label.TABLE_END: (
            "(?:condicoes|modo|forma|meio) de pagamento|dados (?:bancarios|para pagamento)",
            "(?:quadro )?resumo(?: d[eo])?(?: iva| impostos)?|observacoes",
        ),
    },
    papers={
        DocumentType.CREDIT_NOTE: ("nota (?:de )?credito", "fatura de credito"),
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
