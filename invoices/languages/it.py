"""Italian."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import Language

LANGUAGE = Language(
    code="it",
    titles=(
        "fattura(?: differita| immediata| accompagnatoria)?",
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
    days="giorni|gg",
    paying=r"pagament\w+|bonifico|scadenza|netto|pagabile|saldo|ri\.?ba",
    papers={
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
