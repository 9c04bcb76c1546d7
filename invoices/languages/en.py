"""English."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import BRACKETED, IN_SENTENCE, NO, Label, Language

_BUYERS = r"(?:(?:your|customer'?s?|cust\.?|buyer'?s?|client|purchaser'?s?|official) )?"

LANGUAGE = Language(
    code="en",
    titles=(
        r"(?:tax |vat |sales |commercial |credit )?invoice(?: ?[/(-]? ?(?:copy|duplicate|statement|receipt)\)?)?",
        r"credit[ -]?(?:note|memo(?:randum)?)",
        "(?:credit )?adjustment note",
        "refund (?:note|invoice)",
        "fee (?:note|account)",
        "(?:note|statement|memorandum) of (?:fees?|charges)",
        "bill of (?:supply|costs)",
        "(?:rent|service charge) demand",
    ),
    months=(
        "january jan",
        "february feb",
        "march mar",
        "april apr",
        "may",
        "june jun",
        "july jul",
        "august aug",
        "september sept sep",
        "october oct",
        "november nov",
        "december dec",
    ),
    common=(
        "the and of to for invoice date due total amount payment please your with from number price "
        "description quantity tax account bank within days thank terms"
    ),
    printed=(
        "amount balance currency customer description invoice issued number payable payment price quantity "
        "receipt subtotal total"
    ),
    days="days?",
    weeks="weeks?",
    counts="one=1 two=2 three=3 four=4 six=6 ten=10 fourteen=14 thirty=30 sixty=60",
    paying=r"nett?|pay(?:ment|able)?|paid|due|terms|settle\w*|credit|remit|account",
    labels={
        Label.INVOICE: ("invoices?", r"\binv"),
        Label.NUMBERED: (
            *("inv", "bill", "receipt", "voucher", "statement", "doc", "document", "credit", "cn", "memo"),
            *("(?<![a-z] )note", "check", "debit note", "application(?: for payment)?"),
            *("invc?e?", "folio", "billing(?: document)?", "demand", "notice", "cash sale", "c/n", "cr note", "refund"),
        ),
        Label.COUNTED: ("(?<!id )doc(?:ument)?",),
        Label.NUMBER: (
            rf"invoice{BRACKETED}[\s-]*{NO}",
            rf"(?:invoice|bill|billing|document|fee note|credit(?: note)?) ref(?:erence|\.)?(?: {NO})?",
            rf"invoice (?:document|serial|code|identifier|unique reference)\.?(?: {NO})?",
            *(rf"invoice(?:'s)? {NO}\.?(?: ?/ ?| & | and )(?:date|\w+ {NO})", rf"our invoice(?!\W*{NO})"),
        ),
        Label.DATED: ("dated", "of"),
        Label.OTHER_PAPER: (
            *("statement", "debit", "adjustment", "application", r".*docs?(?![a-z])", ".*document"),
            *("check", "folio", "demand", "notice", "cash sale", "refund"),
        ),
        Label.TITLE: (r"(?:bill|folio|debit note)(?=\W+(?:[a-z]{1,4}[-./]?)?\d)",),
        Label.CREDIT_NUMBER: (r"c/?n(?![a-z])", r"cr(?:edit)?[\s.-]+n(?!ot)", "credit ref"),
        Label.CORRECTION: ("correct",),
        Label.ISSUE_DATE: (
            (
                r"(?:inv(?:oice)?\.?|account|receipt|bill|billing|issued?|issuing|issuance|doc(?:ument)?\.?|statement|notice|"
                r"demand|folio)\s*(?:date|dt|day)"
            ),
            *(r"(?:credit(?: note)?|adjustment note|cn|refund|tax(?: invoice)?|vat)\s*date", "(?:credit )?memo date"),
            r"date\s*(?:of\s*)?(?:issue|invoice|document|bill|billing|notice|credit|raise|create)d?",
            r"^\W*(?:creation|submission|transaction|sale|posting) date",
            r"^\W*(?:(?:invoice )?created|prepared|credited|generated|sent|issue|dt)(?: on)?(?=\W*(?:\d|$))",
            *(
                r"^\W*date (?:submitted|prepared|generated|sent|credited)",
                r"(?:(?:date|invoice)\s*/\s*)?tax point(?: date)?",
            ),
            *("(?:issued|dated|billed|invoiced)(?: on)?", r"(?:^\W*|invoice\W+)(?:submitted|raised)(?: on)?"),
        ),
        Label.WEAK_DATE: (
            "tax point",
            r".*(?:submi\w+|raised|creat\w+|prepared|generated|sent|receipt|transaction|\bsale|posting)",
        ),
        Label.OTHER_DOCUMENT: (
            *("previous", "preceding", "referred", "refers", "related", "against", "corrects", "less", "deducted"),
            *("original", r"orig\."),
        ),
        Label.ORDER: ("order", "purchase", "contract", "delivery", "quote"),
        Label.ORDER_REFERENCE: (
            rf"{_BUYERS}(?:purchase )?ord(?:er|\.)?[\s-]*(?:{NO}|ref(?:erence|\.)?)(?: {NO})?",
            rf"{_BUYERS}(?:purchase )?o/(?:{NO}|n)",
            (
                rf"(?:{_BUYERS}|reference )p[./]? ?o(?!\.? ?box|\.?-(?!n[ou.]))\.?"
                rf"(?:[\s-]*(?:{NO}|ref(?:erence|\.)?)|(?=\s*(?:$|[:#]|[^\W\d_]*[-/]?\d)))"
            ),
            r"your order|(?:customer'?s?|cust\.?) (?:purchase )?order(?=\W*(?:$|\d))",
            r"purchase order(?=\s*(?:$|:|\d))|purchase (?:number|no\.?)(?![a-z])",
        ),
        Label.STAY: ("arrivals?", "departures?", r"check[\s-]?(?:in|out)", "stay"),
        Label.PLAIN_DATE: ("date",),
        Label.PAYMENT_TERMS: ("(?:mode ?/ ?)?terms(?: of payment)?", "payment terms?"),
        Label.DUE_DATE: (
            r"(?:payment\s*)?due(?: for payment)?\s*(?:date(?: for payment)?(?: is)?|by|on|no later than)?",
            r"pay(?:ment|able)?\s*(?:by|(?:on or )?before|until|not? later than|deadline|on(?=\W*$| (?:[a-z]+ )?\d))",
            r"^\W*(?:(?:final|expected) payment|payable) date|^\W*date (?:for payment|payable)",
            r"net (?:by|on|until)(?= (?:[a-z]+ )?\d)",
            "(?:(?:to|must|should) be )(?:paid|settled)(?: in full)? (?:by|(?:on or )?before|no later than)",
            *("paid by(?= .{4,40} interest)", "(?:payment|invoice) (?:expiry|expiration) date"),
            "(?:latest|last) payment date|(?:net|terms) date",
            "settlement date|(?:date of )?maturity(?: date)?",
            r"(?:(?:last|latest|final) date|last day|deadline) (?:(?:for|of) payment|to pay)(?: is)?",
            r"^\W*(?:deadline|(?:no|not) later than|(?:payment )?expected by|cleared funds by)(?=\W*(?:\d|$))",
            *(r"(?:overdue|late) after|^\W*(?:payment )?terms(?=\W*\d{1,2}[./-]\d)", "reach us by"),
            (
                rf"(?:remit(?:tance)?|transfer|settle|pay(?:able)?)(?:ment)?\b{IN_SENTENCE}{{0,40}}?"
                r"\b(?:until|before|no later than|by)"
            ),
            rf"(?:balance|remainder)\b{IN_SENTENCE}{{0,40}}?\b(?:no later than|at the latest (?:by|on)|by(?= \d))",
            "(?:direct debit|dd|auto ?-?(?:pay|debit)|collection|debit|charge|withdrawal) (?:taken )?(?:date|on)",
            *(r"to be (?:collected|charged|debited|withdrawn)(?: by direct debit)? on", "date of collection"),
            rf"(?:will|we['\u2019]ll) (?:be )?(?:collect|take|debit|charge)\w*\b{IN_SENTENCE}{{0,50}}?\bon(?: or \w+)?",
            r"(?:payment|payable)(?: terms)?\W{1,2}(?:(?:within|in) )*(?=\d{1,3} days(?![a-z]))",
        ),
        Label.DELIVERY_DATE: (
            "(?:actual )?(?:delivery|supply|service|performance) date",
            *("date of (?:delivery|supply|service|performance)", "date (?:delivered|supplied)", "delivered on"),
        ),
        Label.FUTURE: (
            *("for the first time", r"(?:new|future|next) (?:\w+ ){0,2}?(?:instal\w*|payments?|invoice|bill)"),
        ),
        Label.SELLER: (
            *(
                "sold by",
                "(?:seller|vendor|supplier)(?: (?:name|details))?",
                "from",
                "(?:invoice )?issued by",
                "issuer",
            ),
            *(
                "(?:service )?provider",
                "(?:bill(?:ed|ing)?|invoiced?) (?:from|by)",
                "(?:services )?(?:supplied|provided) by",
            ),
            *("creditor", "landlord", "lessor", "licensor", "exporter", "consignor", "our details"),
            *("merchant name", "sub-?contractor"),
        ),
        Label.PAYEE: (
            r"(?:pay(?:able|ments?)?|remit(?:tance|(?: payment)?)|cheques(?: to be made)? payable) to",
            *("payee(?: name)?", r"(?:bank )?(?:account|acct?\.?|a/c) (?:name|title|owner|holder(?:'?s? name)?)"),
            *("(?:account )?in the name of|name (?:of|on) account", "in favou?r of|favouring"),
            "beneficiary(?: account)?(?: name)?",
        ),
        Label.BUYER: (
            r"bill(?:ed|ing)?[\s-]*(?:to|address|details|information)(?:[\s-]*(?:address|party))?",
            *(r"invoic(?:ed?|ing)[\s-]*(?:to|address|recipient)(?: party)?", r"sold[\s-]*to(?:[\s-]*party)?"),
            *(r"invoice for(?=\W*$|:)", "prepared for", r"ship(?:ped|ping)?[\s-]*(?:to|address)(?: address)?"),
            r"deliver(?:y|ed)?[\s-]*(?:to|address)",
            "(?:our )?(?:customer|client|buyer|recipient)(?: (?:name|details|information|address))?",
            *("purchaser", "purchased by", "consignee", "(?:(?:name|details) of )?rec(?:ipient|eiver)", "attn"),
            *("(?:issued|addressed|charge|suppl(?:ied|y)) to", "invoicee", "for the attention of", "your details"),
            r"to(?! (?:pay|be|date|settle)(?![a-z]))",
        ),
        Label.BUYER_ROLE: (
            *(
                "patient",
                "guest(?: name)?",
                "student",
                "tenant",
                "member",
                "lessee",
                "hirer",
                "policy ?holder",
                "insured",
            ),
            *("payer", "debtor", "employer", "subscriber"),
        ),
        Label.SALUTATION: (r"messrs\.?",),
        Label.ATTENTION: ("fao", "attn", "for the attention of"),
        Label.THIRD_PARTY: ("(?:fiscal|tax) representative",),
        Label.YOURS: ("your", r"cust(?:omer'?s?|\.)?", "client", "buyer'?s?", r"debit\w*", "debtor"),
        Label.RECIPIENTS: ("recipient'?s?", "purchaser'?s?"),
        Label.REGISTRATION: (
            *("registered", r"co(?:mpany)?[ .-]{1,2}(?:no|number|reg\w*)", r"(?:vat|gst|sst) (?:reg\w*|no|id|number)"),
            *("abn", "acn", "nzbn", "uen", "charity (?:no|number|reg)"),
            "gstin",
        ),
        Label.VAT_ID: (
            *("vatin", r"v\.?a\.?t\.?(?:\s*(?:reg\w*\.?|id\w*|no|nr|number|#))*", "value added tax no"),
            rf"tax (?:reg\w*\.? |id\w* )?{NO}",
        ),
        Label.CURRENCY: ("(?:invoice |document )?currency",),
        Label.DESCRIPTION: (
            r"desc\w*",
            *("items?", "products?", "goods", "services?", "activity", "article", "title", "details?", "particulars"),
            "work(?: carried out| done)?",
            *("narrati(?:ve|on)", "treatments?", "procedure", "tasks?"),
        ),
        Label.QUANTITY: (
            *("qty", "qnty", "quantity", "quant", "count", "hours", "hrs", "units?", "days", "nights", "pcs"),
        ),
        Label.PRICE: (r"(?:unit\s*)?(?:price|cost|rate)", "hourly", "each", "per (?:unit|hour|day)", "u/p"),
        Label.AMOUNT: (
            *(
                r"(?:line\s*)?(?:amount|total|value)",
                "charges?",
                "debits?",
                r"ext(?:ended|ension|\.)",
                "fees?",
                "sum",
                "amt",
            ),
        ),
        Label.TABLE_END: (
            "(?:payment|tax|vat) (?:terms|information|details|breakdown|summary|analysis|method)",
            *("total(?:s| summary)", "notes?", "remarks"),
        ),
        Label.GROSS: (r"incl\w*", "including", "gross", "due", "payable", "in (?:your )?(?:credit|favou?r)"),
        Label.BEFORE_TAX: (
            *(r"exc(?:l\w*)?", "excluding", "before (?:tax|vat)", r"ex[.-]? ?(?:vat|gst|tax)", r"pre-?(?:tax|vat)"),
            *(r"w/o (?:vat|gst|tax)", "subject to (?:vat|gst|tax)", "(?:vat|tax) base", "untaxed"),
            *("(?:less|without|net of) (?:vat|gst|tax)", r"sub[\s-]?total"),
        ),
        Label.SUM: ("total", "amount", "price"),
        Label.INCLUDING: ("incl", "inclusive", "including", "with (?:vat|tax)"),
        Label.TOTAL: (
            r"(?:grand|gross|(?<!net )invoice|final|overall|bill)\s*(?:total(?! net(?:t|\W|$))|amount)",
            *(r"total\s*(?:amount)?\s*(?:due|payable|to pay)", "amount to pay"),
            *(r"^\W*(?:(?:to|you) pay(?: now)?|this bill)(?=\W*$)", "(?<!net )invoice value"),
            *(
                r"total\s*(?:(?:for|of) )?(?:(?:this|the) )?(?:invoice|bill)(?![a-z])",
                r"(?:amount|balance)?\s*(?:due(?!-\d)|payable)",
            ),
            *(r"total (?:vat|gst|tax(?:es)?) inc(?:l\w*)?", "total (?:after|with) (?:vat|gst|tax(?:es)?)"),
            *(r"(?:total|amount|price)?\s*inc(?:l|luding|lusive)?\.?\s*(?:of\s*)?(?:vat|tax|gst)", "inclusive total"),
            "please pay",
            "(?:total|amount) (?:(?:value|amount) )?(?:(?:to be|to|of|this) )*(?:credit|refund)(?:ed)?(?: amount)?",
            *("(?<!net )(?:credit|refund) (?:total|amount|value)", "(?:amount|total|balance) in your favou?r"),
            "pay this amount",
            "(?:amount|balance|total) (?:owed|owing|outstanding|to pay)|outstanding (?:balance|amount)",
            r"(?:(?:amount|total|balance) )?to be (?:paid|collected|debited|charged|refunded)",
            r"(?:total|amount|sum) for payment|(?<!less )(?:payment|remittance|settlement|direct debit) amount",
            "(?:vat|tax|gst)[ -]inclusive (?:total|amount|price)|inclusive amount",
            r"(?:total|amount) (?:amount )?(?:after|plus|\+) (?:vat|gst|tax)",
            "(?:gross|bill) (?:value|price)|final price|invoice (?:sum|gross|balance)",
            "net to pay|amount (?:chargeable|charged)|document amount|ttl|amount to (?:settle|remit|be charged)",
            "credit note (?:amount|value)",
        ),
        Label.PLAIN_TOTAL: ("totals?", r"^\W*(?:sum|gross)(?=\W*$)", "sum of (?:lines|items)"),
        Label.NET: (
            *(r"sub[\s-]?total", r"nett?\s*(?:invoice )?(?:total|amount|value|price)?"),
            "total nett?|invoice total net",
            r"(?:total|amount|price)\s*(?:excl|excluding|before|without|ex)\.?\s*(?:vat|tax|gst)?",
            "(?:total )?(?:taxable|vatable)(?: (?:amount|value|total|suppl(?:y|ies)))?",
            *("(?:assessable|basic) value|base amount", "goods value", "value of (?:goods|supplies|services)"),
            *("net goods", r"(?:goods|merchandise)(?: (?:total|amount|value)|(?=\W*$))"),
        ),
        Label.NET_TOTAL: ("nett? ?total",),
        Label.INSIDE: (r"incl\w*", "therein"),
        Label.TAX_SUM: (
            r"sub[\s-]?total (?:vat|tax|gst)",
            r"^\W*(?:total )?(?:invoice )?(?:vat|tax|gst)(?: amount)?(?: due| payable|(?=\W*$))",
            "insurance premium tax|ipt",
        ),
        Label.TAX: (r"(?:sales\s*)?(?:tax|taxes|vat|gst|hst|pst|qst|rst|cst|sgst|cgst|igst|sst)",),
        Label.TURNOVER_TAX: ("vat", "gst", "hst", "sales tax"),
        Label.ADJUSTMENT: (
            *(
                "shipping",
                "freight",
                "delivery",
                "postage",
                "handling",
                "carriage",
                "insurance(?! premium tax)",
                "surcharge",
                "coupon",
                "deposit",
            ),
            *("tip", r"serv(?:ice)?\.? ?ch(?:ar|r)?ge?s?", "p ?& ?p", "discount", "rebate"),
            (
                "(?<!total )(?<!totaal )(?<!net )(?<!nett )(?<!netto )(?<!vat )(?<!tax )(?<!o[fn] )(?<!this )"
                "credits?(?! (?:total|amount|sum|value|note|memo|nett?|excl?|before)(?![a-z]))"
            ),
            *("withholding(?: tax)?", "rounding", "(?:city|tourist|tourism|visitors?'?|bed)[ -]?(?:tax|levy)"),
            *("disbursements?", "gratuity", "s ?& ?h"),
            "outside (?:the )?scope",
            r"restocking (?:fee|charge)s?|^\W*less(?= *:(?! *(?:vat|tax|gst|sub)))",
        ),
        Label.PAID: (
            *("(?:amount |already |total )?(?:paid|prepaid|received)", "payments?(?: received)?", "advance", "balance"),
        ),
        Label.PREPAID: (
            *("deposits?", "retainer", r"(?:part|pre|down)[\s-]?payments?", "withh(?:eld|olding)", "retention"),
            *("wht", "tds", "pswt", "cis(?: deduction| tax)?", "(?:gift card|voucher|credits?|trust)(?: applied)?"),
            *("(?:previously|already) (?:invoiced|billed|certified)", "(?:interim|previous) (?:invoices?|bills?)"),
            *("held(?: on account)?", "(?:medicare|insurance) (?:benefit|rebate)", "contribution", "excess"),
        ),
        Label.NOT_A_SUM: (r"per\w*", r"(?<!standard )rate", "ratio", "after (?:the )?(?:cash )?discount"),
        Label.CASH_DISCOUNT: (
            *("(?:cash|early|prompt|settlement) (?:payment )?discount", "discount for (?:early|prompt|cash)"),
        ),
        Label.WITHOUT: ("without ", "no "),
        Label.OTHERWISE: ("otherwise", "thereafter", "after that"),
        Label.TENDER: (
            *("cash", "change", "tender(?:ed)?", "visa", "master ?card", "maestro", "amex", "edc"),
            *("(?:(?:credit|debit|bank) ?)?card", "contactless"),
        ),
        Label.TENDER_WORD: ("due", "given", "back", "amt", "amount", "paid", "payment", "received", "returned"),
        Label.CHANGE: ("(?:cash )?change",),
        Label.ROUNDING: (r"ro?und(?:ing|ed)?(?= ?(?:adj|diff|$|\W))\w*",),
    },
    papers={
        DocumentType.CREDIT_NOTE: (
            r"(?:sales |tax )?credit[ -]?(?:note|memo(?:randum)?|invoice)",
            "(?:credit )?adjustment note|refund (?:note|invoice)",
        ),
        DocumentType.RECEIPT: ("(?:(?:sales|cash|till|payment|official|customer) )?receipt",),
        DocumentType.DUNNING_LETTER: (
            r"(?:(?:first|second|third|final|last|friendly|\d\w+) )?(?:(?:payment|invoice|overdue) ){0,2}reminder",
            *("(?:final|overdue|past due|late payment) (?:payment )?notice", "notice of default", "final demand"),
            *("letter before action", "reminder letter"),
        ),
        DocumentType.STATEMENT: (
            *("(?:(?:customer|supplier|vendor) )?statement of accounts?", "account statement"),
            *("(?:customer|supplier) statement", "open items(?: list)?"),
        ),
        DocumentType.PURCHASE_ORDER: ("purchase order(?: form)?", "order form", "work order"),
        DocumentType.QUOTE: (
            *("(?:(?:price|sales) )?quot(?:e|ation)", "(?:written )?estimate", "proposal", "offer(?: letter)?"),
        ),
        DocumentType.DELIVERY_NOTE: (
            *("delivery (?:note|slip|docket)", "packing (?:slip|list)", "dispatch note", "goods received note"),
        ),
        DocumentType.REMITTANCE_ADVICE: ("(?:payment|remittance) advice(?: note)?", "remittance(?: slip)?"),
        DocumentType.CONTRACT: (
            r"(?:\w+ )?(?:services?|framework|lease|rental|maintenance|licen[cs]e|sales) (?:agreement|contract)",
            *(r"(?:consulting|supply|employment|non-disclosure) (?:agreement|contract)", "agreement", "contract"),
        ),
    },
)
