"""Italian."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import BRACKETED, IN_SENTENCE, NO, OF, Label, Language

LANGUAGE = Language(
    code="it",
    titles=(
        "(?:auto)?fattura (?:di (?:vendita|acconto|saldo|cortesia|conguaglio|storno)|a saldo|d'acconto)",
        (
            "(?:auto)?fattura(?: (?:differita|immediata|accompagnatoria|elettronica|ordinaria|commerciale|semplificata|"
            "riepilogativa|finale|fiscale|originale|pa))?"
        ),
        "(?:avviso di|copia) fattura",
        "nota (?:di )?(?:ac)?credito|nota di variazione(?: in diminuzione)?",
        "parcella",
        "notula",
        "nota (?:d[i'] ?)?(?:onorari[o]?|proforma|addebito|spese)",
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
    paying=r"pagament\w+|bonifico|scadenza|netto|pagabile|saldo|ri\.?ba|ricevuta bancaria|rimessa|sdd|rid|data fattura",
    labels={
        Label.INVOICE: ("fattur[ae]",),
        Label.NUMBERED: (
            *("documento?", "nota", "bolletta", "fatt", "ft", "ricevuta(?: fiscale)?", "nc"),
            *("nota d[ie] (?:debito|cargo|addebito|variazione|accredito)", "nota credito", "quietanza", "avviso"),
        ),
        Label.COUNTED: (
            *(
                "(?<!id )documento",
                "fatt",
                "ft",
                "ricevuta",
                "bolletta",
                "avviso",
                "quietanza",
                "nota(?: (?:d[ie] )?credito|(?! d))",
            ),
        ),
        Label.NUMBER: (
            rf"fattura{BRACKETED}[\s-]*{NO}",
            rf"fattura (?:di |a |d')?(?!client|klant)\w+ {NO}",
            "(?:codice|identificativo) fattura",
        ),
        Label.DATED: ("(?<!antes )del",),
        Label.OTHER_PAPER: (r"ft(?![a-z])", ".*debito?(?![a-z])", ".*addebito", ".*avviso", ".*quietanza"),
        Label.CORRECTION: ("rettifica",),
        Label.ISSUE_DATE: (
            (
                r"data\s*(?:della\s*|di\s*|del\s*)?(?:fattur(?:a|azione)|fatt|ft|emissione|documento|doc|"
                r"bolletta|parcella|"
                "notula|ricevuta|quietanza|rilascio|creazione|compilazione|storno|accredito|nc|"
                "nota(?: (?:di )?credito)?)"
                "(?: (?:della )?fattura| del documento)?"
            ),
            "(?:emess|rilasciat|fatturat)[ao] (?:il|in data)",
            "data (?:dell')?avviso(?: di fattura)?",
            r"dt\. fattura|luogo e data|(?<![a-z] )datata",
            r"^\W*emissione(?: fattura)?(?=\W*(?:$|\d))",
            r"^\W*(?:del|in data)\s*(?::(?=\s*\d)|:?$)",
        ),
        Label.OTHER_DOCUMENT: ("rettifica", r"rif\.|di riferimento", "rettificata", "collegata", "originale"),
        Label.ORDER: ("ordine", "contratto", "consegna", "ddt"),
        Label.ORDER_REFERENCE: (
            (
                rf"(?:{NO}\.? {OF}|rif(?:erimento|\.)? {OF})?(?:vs\.? |vostro |suo |v[/.] ?)?(?:rif\. )?(?:ordine|"
                rf"ord\.)"
                rf"(?: {OF}(?:acquisto|cliente))?(?:[\s-]*{NO})?"
            ),
            rf"oda(?:[\s-]*{NO})?",
        ),
        Label.STAY: ("arrivo", "partenza", "soggiorno"),
        Label.PLAIN_DATE: ("data",),
        Label.PAYMENT_TERMS: ("(?:condizioni|termini|modalita) di pagamento",),
        Label.DUE_DATE: (
            (
                r"(?:data\s*(?:di\s*)?)?scad(?:enz[ae](?: (?:(?:del(?:la)? )?(?:pagamento|fattura|rata)|"
                r"per il pagamento"
                r" e fissata al))?|e(?: il)?|ente il|\.)"
            ),
            "data (?:di |dell')?(?:addebito|incasso)",
            r"^\W*entro (?:quando|il)(?=\W*$)",
            "data (?:(?:prevista|limite|ultima) )?(?:di |del )?pagamento",
            r"netto (?:entro(?: il)?|al)(?= \d)",
            r"pagamento (?:e )?(?:previsto )?(?:per )?il(?=\W*(?:\d|$))",
            r"(?:dovut[oa]|da pagare|pagabile|pagamento) (?:il|fino al)(?=\W*(?:\d|$))",
            "al piu tardi(?: il)?|ultimo giorno utile",
            r"(?:sdd|rid|ri\.?ba\.?)(?: al| il)?(?=\W*(?:\d{1,2}[/. ]|$))",
            r"pagamento\W+(?:bonifico|ricevuta bancaria|rimessa diretta)(?: bancario)?(?:,| al)? ?(?=\d)",
            r"\d (?:gg|giorni)\.? (?:d\.?f\.?(?:f\.?m\.?)?|fine mese)(?=\W+\d)",
            "(?:(?:da )?pagare |pagamento )?entro(?: e non oltre)?(?: il)?",
            "termin[ei](?: ultimo)?(?: (?:di|del|per il) pagamento)?",
            (
                r"(?:ri\.?ba\.?|r\.?b\.?|ricevuta bancaria|pagamento|bonifico|rimessa diretta|tratta|cambiale) al"
                r"(?=\W*(?:\d|$))"
            ),
            (
                rf"(?:pagabile|esigibile|(?:addebit(?:o|at[oa]|eremo)|(?:sara|verra) (?:incass|prelev)at[oa])\b"
                rf"{IN_SENTENCE}{{0,35}}?) (?:il|in data|a partire dal)(?=\W*(?:\d|$))"
            ),
            r"(?:pagamento|bonifico|ri\.?ba\.?)\W{1,2}(?:(?:a|bonifico) )*(?=\d{1,3} (?:giorni|gg)(?![a-z]))",
        ),
        Label.DELIVERY_DATE: (
            r"data\s*(?:di\s*|della\s*)?(?:consegna|prestazione|esecuzione)",
            "consegnato il",
        ),
        Label.FUTURE: (
            "per la prima volta",
            (
                r"(?:nuov[aoei]|prossim[aoei]) (?:\w+ ){0,2}?(?:rate?|pagament[oi]|addebit[oi]|scadenz[ae]|"
                r"bollett[ae]|fattur[ae])"
            ),
        ),
        Label.SELLER: (
            *(
                "(?:vendut|emess|fatturat)[oa] da",
                "(?:dati (?:del )?)?fornitore",
                "mittente",
                "prestatore(?: di servizi)?",
            ),
            *("(?:soggetto |dati )?emittente", "locatore", "dati azienda"),
            r"cedente(?:\s*/\s*prestatore)?(?: \(fornitore\))?",
            r"da(?=\W*$)",
        ),
        Label.PAYEE: (
            *("beneficiario", "intestatario(?: (?:del )?conto)?", "titolare (?:del )?conto", "a favore di"),
            "(?:c/c|conto(?: corrente)?|bonifico) intestato a",
        ),
        Label.BUYER: (
            *("cliente(?: ?/ ?destinatario)?", "fattura(?:to|re) a", "intestat[oa] a", "destinatario(?: fattura)?"),
            r"cessionario(?:\s*/\s*committente(?: \(cliente\))?)?",
            "committente",
            r"spett(?:\.le|abile)?",
            "(?:dati|indirizzo|nome|ragione sociale) (?:del )?cliente",
            "acquirente",
            "(?:indirizzo|luogo) (?:di )?(?:fatturazione|consegna|spedizione)",
            "(?:venduto|spedi(?:to|re)|consegnare|indirizzata|emessa) a",
            "intestatario (?:della )?fattura",
            "all(?:'|a cortese )attenzione(?: di)?",
        ),
        Label.BUYER_ROLE: (
            *(
                "paziente",
                "ospite",
                "inquilin[oa]",
                "debitore",
                "pagatore",
                "assicurat[oa]",
                "contraente",
                "abbonat[oa]",
            ),
            *("(?:titolare|intestatario) del contratto", "conduttore", "locatari[oa]", "soci[oa]", "associat[oa]"),
            *("condomin[oi]o?", "utente", "mandante", "studente", "proprietari[oa]", "compratore", "intestazione"),
            "destinazione(?: merce)?|fatturazione|fattura a|per",
        ),
        Label.SALUTATION: (
            r"gent(?:\.(?:le|ma|mo)|ile)(?: sig(?:\.(?:ra)?|nor[ea]))?",
            r"egr(?:\.|egio)(?: sig(?:\.|nore?)?)?",
        ),
        Label.ATTENTION: (r"alla c\. ?a\.?", "all(?:'|a cortese )attenzione"),
        Label.THIRD_PARTY: ("rappresentante fiscale",),
        Label.YOURS: (
            "(?<!bonifico )(?<!bancario )su(?! (?:banc[ao]|conto|c/c))",
            "vostr[oa]",
            "cliente",
            "sua(?= p)",
            r"vs\.",
        ),
        Label.RECIPIENTS: (r"(?<!codice )(?<!cod\. )destinatari[oa]", "cessionario", "committente", "acquirente"),
        Label.REGISTRATION: (
            r"r\.?e\.?a",
            r"reg(?:istro|\.) ?(?:delle )?imp(?:rese|\.)",
            r"cap\. ?soc\w*",
            "capitale sociale",
            r"p\.? ?iva",
            r"part(?:ita|\.) ?iva",
        ),
        Label.VAT_ID: (
            "identificativo fiscale(?: ai fini iva)?",
            r"p(?:artita|art\.|\.)?\s*i\.?v\.?a\.?",
            r"p\.\s?i\.",
        ),
        Label.CURRENCY: ("valuta", "divisa"),
        Label.DESCRIPTION: (
            *("prodott[oi]", "servizio", "lavori", "descrizione", "denominazione"),
            *("articol[oi]", "oggetto", "prestazion[ei]", "servizi", "dettaglio", "natura", "materiale", "causale"),
            *("voc[ei]", "merce", "attivita", "designazione", "lavorazion[ei]", "beni", "trattamento", "consumi"),
        ),
        Label.QUANTITY: (
            *(
                "ore",
                "quantita",
                r"q\.?ta",
                "qnt",
                "giorni",
                "pezzi",
                "pz",
                "colli",
                "notti",
                "unita",
                "peso",
                "durata",
            ),
        ),
        Label.PRICE: ("prezz[oi]", "tariffa", "costo", r"prz?\.? ?unit\w*", "unitario"),
        Label.AMOUNT: (
            *(
                "import[oi]",
                "addebit[oi]",
                "totale",
                r"(?:imp|tot)\.",
                "ammontare",
                "valore",
                "compenso",
                "corrispettivo",
            ),
        ),
        Label.TABLE_END: (
            "(?:condizioni|modalita|termini|metodo|dati) (?:di )?pagamento",
            "(?:riepilogo|riepiloghi|castelletto|dettaglio) (?:iva|aliquote)",
            "riepilogo|coordinate bancarie|dati (?:bancari|riepilogo)|osservazioni|annotazioni|scadenze",
        ),
        Label.GROSS: (
            *("ivato", "con iva", "da (?:pagare|versare|saldare|rimborsare|accreditare)"),
            r"(?:a|in) (?:(?:suo?|vostro|vs\.?) )?(?:cre?dito?|favor[ei]?)",
        ),
        Label.BEFORE_TAX: (
            "esclus[ao]",
            r"escl\.?",
            "senza iva",
            r"sub[\s-]?totale",
            "totale parziale",
            "ante imposte",
            "prima dell'iva",
        ),
        Label.SUM: ("total[ei]?", "importo"),
        Label.INCLUDING: ("inclus[ao]", "con iva"),
        Label.TOTAL: (
            r"total[ei]? iva (?:inc(?:l\w*)?|compres[aei])",
            "total[ei]? con (?:iva|imposte)",
            (
                r"(?:totale|importo|tot\.)\s*(?:fatt(?:ura|\.)|documento|complessivo|dovuto|ivato|generale|"
                r"bolletta|parcella|nota)"
            ),
            "importo (?:totale|finale|lordo|fatturato|addebitato|della fattura)",
            "(?:totale|importo) (?:comprensivo|al lordo) (?:di |dell')iva",
            "imposte incluse|totale imponibile e iva|vostro dare",
            r"^\W*a saldo(?=\W*$)",
            "ammontare (?:dovuto|da pagare)",
            (
                r"(?:(?:netto|totale|importo|saldo) |^\W*)(?:da|a) (?:pagare|versare|saldare|rimborsare|"
                r"accreditare|addebitare|bonificare)"
            ),
            r"(?:(?:netto|totale|importo|saldo) |^\W*)a (?:(?:suo|vostro|nostro|vs\.?) )?(?:credito|debito|favore)",
            "totale accredito",
            "importo (?:rimborsato|accreditato)",
        ),
        Label.PLAIN_TOTAL: ("total[ei]", "somma", r"^\W*tot\.", r"^\W*lordo(?=\W*$)"),
        Label.NET: (
            r"sub[\s-]?totale",
            "(?<!su )imponib(?:il[ei]|\\.)",
            "valore merce",
            "totale (?:netto|merc[ei]|beni|righe|prestazioni|servizi|competenze|onorari|compensi)",
        ),
        Label.INSIDE: ("di cui", "compres[ao]"),
        Label.TAX_SUM: (r"sub[\s-]?tota?ale? iva",),
        Label.TAX: ("impost[ae]", "iva"),
        Label.TURNOVER_TAX: (r"i\.?v\.?a",),
        Label.ADJUSTMENT: (
            *("trasporto", "spese(?: di)? (?:trasporto|spedizione)", "sconto", "ritenut[ae]", "arrotondamento"),
            *("(?:imposta|tassa) di soggiorno", "anticipazion[ei]", "vuoti", "cauzion[ei]", "fuori campo"),
            (
                r"spese (?:di |d')?(?:imballo|incasso|bancarie|accessorie|varie|postali|generali|anticipate|"
                r"esenti|bollo|gestione)"
            ),
            *(
                "(?:imposta di |marca da )?boll[oi]",
                "spedizione",
                "imball(?:o|aggio)",
                "abbuon[oi]",
                "ribasso",
                "riduzione",
            ),
            *(
                "maggiorazione",
                r"arrot(?:ondamenti|\.)",
                "contributo (?:integrativo|previdenziale|cassa|ambientale|conai)",
            ),
            *("cassa (?:previdenza|avvocati)", "cpa", "rivalsa", "eco-?contributo", "rimborso spese", "trattenut[ae]"),
            *(r"esente art\.? ?15", "coperto", "mancia", "supplemento", "sovrapprezzo", "affrancatura"),
        ),
        Label.PAID: ("accont[oi]", "pagato", "gia (?:versato|corrisposto)", "pagament[oi] ricevut[oi]"),
        Label.PREPAID: (
            *(
                "caparra",
                "ritenut[ae]",
                "trattenut[ae]",
                "versato",
                "incassato",
                "pagamenti",
                "fondo spese",
                "deposito",
            ),
            *(
                "scissione dei pagamenti",
                "split payment",
                "buono regalo",
                "voucher",
                "sconto in fattura",
                r"ra(?=\W*(?:$|su ))",
            ),
        ),
        Label.CASH_DISCOUNT: ("sconto (?:cassa|per pagamento)",),
        Label.WITHOUT: ("senza ",),
        Label.OTHERWISE: ("altrimenti", "oltre"),
        Label.TENDER: ("contant[ei]", "resto", "pagamento (?:elettronico|con carta)", "bancomat"),
        Label.CHANGE: ("resto",),
        Label.ROUNDING: ("arrotondamento",),
    },
    papers={
        DocumentType.CREDIT_NOTE: ("nota (?:di )?(?:ac)?credito", "nota di variazione", "fattura di storno"),
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
