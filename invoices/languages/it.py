"""Italian."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import BRACKETED, IN_SENTENCE, NO, OF, Label, Language

LANGUAGE = Language(
    code="it",
    titles=(
        "fattura di (?:vendita|acconto|saldo)",
        "fattura(?: differita| immediata| accompagnatoria| elettronica| ordinaria| commerciale)?",
        "nota di credito",
        "parcella",
        "notula",
        "nota (?:d'onorario|onorari|proforma)",
    ),
    months=(
        "gennaio gen",
        "febbraio feb",
        "marzo mar",
        "aprile apr",
        "maggio mag",
        "giugno giu",
        "luglio lug",
        "agosto ago",
        "settembre set sett",
        "ottobre ott",
        "novembre nov",
        "dicembre dic",
    ),
    common=(
        "e il la di del della per con fattura data importo totale pagamento quantita prezzo iva cliente "
        "descrizione scadenza giorni bonifico imponibile numero codice spett"
    ),
    printed=("descrizione emissione fattura imponibile importo imposta numero pagare prezzo quantita scadenza totale"),
    days="giorni|gg",
    weeks="settiman[ae]",
    counts="una=1 due=2 tre=3 quattro=4 sei=6 otto=8 dieci=10 quindici=15 venti=20 trenta=30 sessanta=60",
    paying=r"pagament\w+|bonifico|scadenza|netto|pagabile|saldo|ri\.?ba",
    labels={
        Label.INVOICE: ("fattur[ae]",),
        Label.NUMBERED: (
            *("documento?", "nota", "bolletta", "fatt", "ft", "ricevuta(?: fiscale)?", "nc"),
            *("nota d[ie] (?:debito|cargo)", "nota credito"),
        ),
        Label.COUNTED: ("(?<!id )documento", "fatt"),
        Label.NUMBER: (
            rf"fattura{BRACKETED}[\s-]*{NO}",
            rf"fattura (?:di )?(?!client|klant)\w+ {NO}",
        ),
        Label.DATED: ("(?<!antes )del",),
        Label.OTHER_PAPER: (r"ft(?![a-z])", ".*debito?(?![a-z])"),
        Label.CORRECTION: ("rettifica",),
        Label.ISSUE_DATE: (
            r"data\s*(?:della\s*|di\s*|del\s*)?(?:fattura|fatt|emissione|documento|doc|bolletta)",
            "(?:emess|rilasciat)[ao] (?:il|in data)",
            "data (?:di rilascio|(?:dell')?avviso)",
            r"^\W*del\s*(?::(?=\s*\d)|:?$)",
        ),
        Label.OTHER_DOCUMENT: ("rettifica", r"rif\.", "rettificata", "collegata", "originale"),
        Label.ORDER: ("ordine", "contratto", "consegna", "ddt"),
        Label.ORDER_REFERENCE: (
            (
                rf"(?:{NO} {OF}|rif(?:erimento|\.)? {OF}|vs\.? |vostro )?ordine"
                rf"(?: {OF}(?:acquisto|cliente))?(?:[\s-]*{NO})?"
            ),
        ),
        Label.STAY: ("arrivo", "partenza", "soggiorno"),
        Label.PLAIN_DATE: ("data",),
        Label.DUE_DATE: (
            r"(?:data\s*(?:di\s*)?)?scad(?:enz[ae](?: (?:del )?pagamento)?|e(?: il)?|\.)",
            "data (?:di )?addebito",
            r"netto (?:entro(?: il)?|al)(?= \d)",
            r"pagamento e previsto (?:per )?il(?=\W*\d)",
            "(?:(?:da )?pagare |pagamento )?entro(?: e non oltre)?(?: il)?",
            "termine(?: ultimo)?(?: (?:di|del|per il) pagamento)?",
            r"(?:ri\.?ba\.?|r\.?b\.?|ricevuta bancaria|pagamento) al(?=\W*(?:\d|$))",
            rf"(?:pagabile|esigibile|addebit(?:o|at[oa]|eremo)\b{IN_SENTENCE}{{0,25}}?) (?:il|in data)(?=\W*(?:\d|$))",
            r"(?:pagamento|bonifico|ri\.?ba\.?)\W{1,2}(?:(?:a|bonifico) )*(?=\d{1,3} (?:giorni|gg)(?![a-z]))",
        ),
        Label.DELIVERY_DATE: (
            r"data\s*(?:di\s*|della\s*)?(?:consegna|prestazione|esecuzione)",
            "consegnato il",
        ),
        Label.FUTURE: (
            "per la prima volta",
            r"(?:nuov[aoei]|prossim[aoei]) (?:\w+ ){0,2}?(?:rate?|pagament[oi]|bollett[ae]|fattur[ae])",
        ),
        Label.SELLER: (
            *("venduto da", "fornitore", "mittente", "prestatore"),
            r"cedente(?:\s*/\s*prestatore)?(?: \(fornitore\))?",
            r"da(?=\W*$)",
        ),
        Label.PAYEE: ("beneficiario", "intestatario"),
        Label.BUYER: (
            *("cliente", "fatturato a", "intestato a", "destinatario"),
            r"cessionario(?:\s*/\s*committente)?",
            "committente",
            r"spett(?:\.le|abile)?",
        ),
        Label.BUYER_ROLE: ("paziente", "ospite", "inquilin[oa]"),
        Label.SALUTATION: (r"gent(?:\.le|ile)", r"egr(?:\.|egio)(?: sig(?:\.|nore)?)?"),
        Label.THIRD_PARTY: ("rappresentante fiscale",),
        Label.YOURS: ("(?<!bonifico )(?<!bancario )su(?! (?:banc[ao]|conto|c/c))", "vostr[oa]", "cliente"),
        Label.RECIPIENTS: ("destinatari[oa]", "cessionario", "committente"),
        Label.REGISTRATION: ("rea", r"cap\. ?soc\w*", "capitale sociale", r"p\.? ?iva", "partita iva"),
        Label.VAT_ID: (
            "identificativo fiscale(?: ai fini iva)?",
            r"p(?:artita|art\.|\.)?\s*i\.?v\.?a\.?",
            r"p\.\s?i\.",
        ),
        Label.CURRENCY: ("valuta", "divisa"),
        Label.DESCRIPTION: (
            *("prodott[oi]", "servizio", "lavori", "descrizione", "denominazione"),
            *("articolo", "oggetto", "prestazion[ei]", "servizi", "dettaglio", "natura", "materiale"),
        ),
        Label.QUANTITY: ("ore", "quantita", r"q\.?ta", "giorni"),
        Label.PRICE: ("prezzo", "tariffa", "costo"),
        Label.AMOUNT: ("importo", "addebit[oi]", "totale", r"(?:imp|tot)\.", "ammontare", "valore"),
        Label.TABLE_END: ("(?:condizioni|modalita) di pagamento", "riepilogo iva"),
        Label.GROSS: (
            *("ivato", "con iva", "da (?:pagare|versare|saldare|rimborsare|accreditare)"),
            r"(?:a|in) (?:(?:suo?|vostro|vs\.?) )?(?:cre?dito?|favor[ei]?)",
        ),
        Label.BEFORE_TAX: ("esclus[ao]", r"escl\.?", "senza iva", r"sub[\s-]?totale", "totale parziale"),
        Label.SUM: ("total[ei]?", "importo"),
        Label.INCLUDING: ("inclus[ao]", "con iva"),
        Label.TOTAL: (
            r"total[ei]? iva (?:inc(?:l\w*)?|compres[aei])",
            "total[ei]? con (?:iva|imposte)",
            r"(?:totale|importo|tot\.)\s*(?:fatt(?:ura|\.)|documento|complessivo|dovuto|ivato|generale|bolletta|parcella|nota)",
            "importo totale",
            r"(?:(?:netto|totale|importo|saldo) |^\W*)(?:da|a) (?:pagare|versare|saldare|rimborsare|accreditare)",
            r"(?:(?:netto|totale|importo|saldo) |^\W*)a (?:(?:suo|vostro|nostro|vs\.?) )?(?:credito|favore)",
            "totale accredito",
            "importo (?:rimborsato|accreditato)",
        ),
        Label.PLAIN_TOTAL: ("total[ei]", "somma", r"^\W*tot\.", r"^\W*lordo(?=\W*$)"),
        Label.NET: (
            r"sub[\s-]?totale",
            "(?<!su )imponib(?:ile|\\.)",
            "totale (?:netto|merc[ei]|beni|righe|prestazioni|servizi|competenze|onorari|compensi)",
        ),
        Label.INSIDE: ("di cui", "compres[ao]"),
        Label.TAX_SUM: (r"sub[\s-]?tota?ale? iva",),
        Label.TAX: ("impost[ae]", "iva"),
        Label.TURNOVER_TAX: (r"i\.?v\.?a",),
        Label.ADJUSTMENT: (
            *("trasporto", "spese(?: di)? (?:trasporto|spedizione)", "sconto", "ritenut[ae]", "arrotondamento"),
            *("(?:imposta|tassa) di soggiorno", "anticipazion[ei]", "vuoti", "cauzion[ei]", "fuori campo"),
        ),
        Label.PAID: ("acconto", "pagato"),
        Label.PREPAID: ("caparra", "ritenut[ae]"),
        Label.CASH_DISCOUNT: ("sconto (?:cassa|per pagamento)",),
        Label.WITHOUT: ("senza ",),
        Label.OTHERWISE: ("altrimenti", "oltre"),
        Label.TENDER: ("contant[ei]", "resto", "pagamento (?:elettronico|con carta)", "bancomat"),
        Label.CHANGE: ("resto",),
        Label.ROUNDING: ("arrotondamento",),
    },
    papers={
        DocumentType.CREDIT_NOTE: ("nota (?:di )?credito",),
        DocumentType.RECEIPT: (
            "scontrino(?: fiscale)?",
            r"ricevuta(?: fiscale)?(?!\W+fattura)",  # both together are an invoice
            "documento commerciale",
        ),
        DocumentType.DUNNING_LETTER: (
            "(?:(?:primo|secondo|terzo|ultimo) )?sollecito(?: di pagamento)?",
            "(?:costituzione|messa) in mora",
        ),
        DocumentType.STATEMENT: ("estratto conto", "partite aperte"),
        DocumentType.PURCHASE_ORDER: ("ordine (?:di acquisto|d'acquisto|fornitore)",),
        DocumentType.QUOTE: ("preventivo", "offerta"),
        DocumentType.DELIVERY_NOTE: ("documento di trasporto", r"d\.?d\.?t\.?", "bolla(?: di consegna)?"),
        DocumentType.REMITTANCE_ADVICE: ("avviso di (?:bonifico|pagamento)",),
        DocumentType.CONTRACT: (r"contratto(?: di \w+(?: di \w+)?)?",),
    },
)
