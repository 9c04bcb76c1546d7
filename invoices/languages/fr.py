"""French."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import BRACKETED, IN_SENTENCE, NO, OF, Label, Language

LANGUAGE = Language(
    code="fr",
    titles=(
        (
            "(?:auto)?facture(?: (?:rectificative|definitive|finale|intermediaire|mensuelle|simplifiee|acquittee|"
            "electronique|commerciale|originale|recapitulative|unique)"
            "| de (?:vente|doit|situation|solde|prestations?|services|travaux|location|loyer|transport|consultation|"
            "regularisation|cloture|credit)"
            "| d'(?:acompte|avoir|eau|electricite|energie|hebergement|honoraires))?"
        ),
        "avoir(?: client| commercial| financier| sur facture)?|note de credit(?: client)?",
        (
            "(?:note|memoire|etat|decompte|releve|bordereau) (?:de )?(?:d'|frais et (?:d')?)?(?:honoraires|frais)"
            "(?: et de debours)?"
        ),
        "(?:note de provision|releve de prestations|liquidation d'honoraires)",
        "quittance de loyer|avis d'echeance|appel de (?:charges|cotisation|fonds|provisions)|avis de cotisation",
        "titre de recettes?|avis des sommes a payer",
    ),
    months=(
        "janvier janv jan",
        "fevrier fevr fev",
        "mars",
        "avril avr",
        "mai",
        "juin",
        "juillet juil jul",
        "aout aou",
        "septembre sept sep",
        "octobre oct",
        "novembre nov",
        "decembre dec",
    ),
    common=(
        "et le la les de du des pour votre facture date montant total paiement quantite prix tva client "
        "designation echeance reglement jours virement nous merci adresse"
    ),
    printed="avoir designation echeance emission facture montant numero payer quantite reglement taxes total",
    days="jours",
    weeks="semaines?",
    counts="une=1 deux=2 trois=3 quatre=4 six=6 huit=8 dix=10 quinze=15 trente=30 soixante=60",
    paying=r"nets?|pa[iy]e\w*|regle\w*|echeance|virement|payable|prelevement|verser|lcr|date (?:de )?facture",
    labels={
        Label.INVOICE: ("factures?",),
        Label.NUMBERED: (
            *("document", "fact", "recu", "quittance", "note de debit", "piece", "liquidation", "decompte", "releve"),
            *("avis", "bordereau", "etat", "fa", "memoire", "situation", "titre"),
            "ticket(?: de caisse)?",
        ),
        Label.COUNTED: (
            *(
                "fact",
                "piece",
                "(?<!id )document",
                "decompte",
                "releve",
                "liquidation",
                "quittance",
                "bordereau",
                "titre",
            ),
            *("avis", "recu", "ticket", "memoire", "facturation", "note(?: de credit|(?! d))"),
        ),
        Label.NUMBER: (
            rf"facture{BRACKETED}[\s-]*{NO}",
            rf"{NO}\.? {OF}fact?t?ur[ae] ?/ ?(?:invoice|factuur|rechnung)(?:[\s-]*{NO})?",
            "facture ref(?:erence)?",
            r"(?:ref(?:erence|\.)?|code|identifiant) (?:de )?(?:la |l')?(?:facture|avoir)",
            r"ref(?:erence|\.)? (?:du )?(?:document|piece)",
            rf"facture (?:de |d')?(?!client|klant)\w+ {NO}",
        ),
        Label.DATED: ("du", "date"),
        Label.SLIP: ("ticket",),
        Label.OTHER_PAPER: (
            *(
                ".*debit(?![a-z])",
                ".*liquidation",
                ".*decompte",
                ".*releve",
                ".*piece",
                ".*ticket",
                ".*titre",
                ".*appel",
            ),
            *(".*avis", ".*bordereau", ".*situation", ".*etat", ".*quittance", "fa(?![a-z])", "ref.*document"),
        ),
        Label.CORRECTION: ("rectificative",),
        Label.ISSUE_DATE: (
            (
                r"date\s*(?:de\s*|du\s*|d')?(?:la\s*|l')?(?:facture|facturation|emission(?: de la facture)?|"
                r"edition|document|"
                r"piece|fact\.?|avoir|note(?: (?:de )?(?:credit|frais|d'honoraires))?|nc|decompte|releve|appel|"
                r"titre|memoire|"
                "quittance|redaction|delivrance|creation|liquidation)"
            ),
            "(?:editee?|emise?|etablie?|faite?|delivree?|facturee?|creee?) le",
            "fait a [a-z' -]{3,30}?,? le",
            "date (?:d'etablissement|de l'avis|de mise en recouvrement)",
            r"dt\.? facture",
            r"(?<!a )datee? du",
            r"^\W*emission(?=\W*(?:$|\d))",
            r"^\W*le\s*(?::(?=\s*\d)|:?$)",
            r"^\W*en date du",
            r"^\W*(?:facture|avoir) (?:en date )?du(?=\s*:?$)",
            r"facture le(?=\W*(?:\d|$))",
        ),
        Label.OTHER_DOCUMENT: (
            *(
                "moins",
                "a deduire",
                "sur facture",
                "associee?s?",
                "liee?s?",
                "precedente?",
                "d'origine",
                "originale?s?",
            ),
        ),
        Label.ORDER: ("commande", "contrat", "devis", "livraison"),
        Label.ORDER_REFERENCE: (
            (
                rf"(?:v(?:otre|os)? ?/? ?)?(?:{NO}\.? {OF}|ref(?:erence|"
                rf"\.)? {OF})?(?:votre )?(?:bons? de )?(?:commande|cde)"
                rf"(?: client| acheteur| d'achat)?(?:[\s-]*{NO})?"
            ),
            rf"b\.?c\.?[\s-]*{NO}|{NO}\.? bc|{NO}\.? d'engagement|votre po|{NO} po",
        ),
        Label.STAY: ("arrivee", "depart", "sejour"),
        Label.PLAIN_DATE: ("date",),
        Label.PAYMENT_TERMS: ("(?:conditions|delai|modalites) de (?:paiement|reglement)",),
        Label.DUE_DATE: (
            r"(?:date\s*(?:d'|de\s*)?)?(?:limite de (?:paiement|reglement)|exigibilite)",
            "date limite",
            r"(?:date\s*(?:d'|de\s*(?:l')?)?)?echeances?(?: (?:d[eu] )?(?:paiement|reglement)| (?:de la )?facture)?",
            r"reglement (?:attendu |prevu )?(?:le|au)(?=\W*(?:\d|$))",
            r"paiement (?:au|(?:attendu|prevu) le)(?=\W*(?:\d|$))",
            (
                r"date\s*(?:(?:prevue|ultime|max\.?|maximale) )?(?:d[eu]\s*)?(?:reglement|prelevement|paiement|"
                r"debit|domiciliation)"
            ),
            r"(?:dernier (?:delai|jour)|delai|terme)(?: de (?:paiement|reglement))",
            r"(?:date )?ech\.",
            (
                r"(?:virement|cheque|traite|lcr|lettre de change|comptant)(?: bancaire| directe|"
                r" acceptee)?(?: a \d+ jours)?"
                r" (?:au|le)(?=\W*(?:\d|$))"
            ),
            (
                rf"(?:debite|preleve(?:ment)?|domicili(?:e|ation)|(?:sera|etre) (?:encaisse|"
                rf"retire))\b{IN_SENTENCE}{{0,40}}?"
                r" (?:le|au|a (?:partir|compter) du)(?= \d)"
            ),
            rf"(?:encaisser|preleve)ons\b{IN_SENTENCE}{{0,30}}? le(?= \d)",
            r"jours fin de mois (?:le|au)(?= \d)",
            (
                r"(?:paiement|reglement)\W+(?:a )?(?:virement|prelevement|domiciliation|lcr|traite|cheque|\d+ jours)\b"
                r"(?:[^.\d]|\d+ jours){0,25}?[,(] ?(?=\d)"
            ),
            r"net (?:au|le)(?= \d)",
            (
                r"(?:debit|preleve|domicili)(?:e|s|ment|ation)*(?: automatique| sepa)?(?: prevu)?"
                r" (?:le|au|a (?:partir|compter) du)(?=\W*(?:\d|$))"
            ),
            r"^\W*(?:avant|au plus tard) le",
            rf"(?:a payer|payable|regler|verser|paiement|reglement)\b{IN_SENTENCE}{{0,30}}? pour le(?=\W*(?:\d|$))",
            r"(?:a payer|payable|a regler)\b[^.\d]{0,20}? (?:le|au)(?=\W*(?:\d|$))",
            (
                rf"(?:payer|payable|regler|verser|virer|acquitter|reglement|paiement|virement)\b{IN_SENTENCE}{{0,40}}?"
                "(?:avant|au plus tard|jusqu'au|d'ici)(?: le| au)?"
            ),
            rf"(?:solde|reste|somme|montant|acompte)\b{IN_SENTENCE}{{0,40}}?\bau plus tard(?: le)?",
            (
                rf"(?:paiement|reglement|payable|virement|echeance|jours)\b{IN_SENTENCE}{{0,40}}?"
                r"\bsoit (?:au plus tard )?(?:le|au)(?=\W*(?:\d|$))"
            ),
            r"(?:due?s?|exigible|echoit|echeant) (?:pour |avant )?(?:le|au)(?=\W*(?:\d|$))",
            r"(?:paiement|reglement|virement)\W{1,2}(?:(?:a|sous|bancaire) )*(?=\d{1,3} jours(?![a-z]))",
        ),
        Label.DELIVERY_DATE: (
            r"date\s*(?:de\s*)?(?:la\s*|l')?(?:livraison|prestation|execution)",
            "livree?s? le",
        ),
        Label.FUTURE: (
            "pour la premiere fois",
            r"(?:nouvel\w*|prochaine?s?|futur\w*) (?:\w+ ){0,2}?(?:mensualites?|echeances?|prelevements?|factur\w+)",
        ),
        Label.SELLER: (
            *("fournisseur", "vendeur", "emetteur(?: de la facture)?", "prestataire(?: de services)?"),
            "(?:vendue?|vendu et expedie|emise?|etablie?|facturee?) par",
            "(?:coordonnees|identite) du (?:vendeur|fournisseur|prestataire)|societe emettrice|bailleur|creancier",
            r"raison sociale(?=\W*$)",
        ),
        Label.PAYEE: (
            *("titulaire(?: du compte)?", "beneficiaire(?: du virement)?", "intitule du compte"),
            "compte (?:ouvert )?au nom de|a l'ordre de|au benefice de",
        ),
        Label.BUYER: (
            "(?:votre )?adresse (?:du |de )?client",
            "(?:coordonnees|informations?|identite|nom) (?:du )?client",
            "contact acheteur",
            "(?:factur|livr|adress|vendu|envoy)(?:ee?|er)? a",
            "facture adressee a",
            "a l'attention de",
            "(?:adresse de )?(?:facturation|livraison)",
            "adresse (?:de facture|d'envoi)",
            *(
                "destinataire(?: de la facture)?",
                r"(?:client|acheteur)(?:e|\(e\))?(?: facture| ?/ ?acheteur)?",
                "abonne",
            ),
        ),
        Label.BUYER_ROLE: (
            *(
                "patient(?:e)?",
                "locataire",
                "maitre d'ouvrage",
                "debiteur",
                "payeur",
                "preneur(?: d'assurance| de services)?",
            ),
            *(
                "assuree?",
                "souscript(?:eur|rice)",
                "titulaire du contrat",
                "adherente?",
                "donneur d'ordres?",
                "mandant",
            ),
            *("redevable", "usager", "coproprietaire", "proprietaire", "eleve", "participante?", "stagiaire", "doit"),
            *("membre", "societaire", "commanditaire", "acquereur", "tiers facture", "compte client"),
            "(?:(?:facture|etablie?) )?pour|vos coordonnees|votre adresse",
        ),
        Label.SALUTATION: ("monsieur", "madame", "mme", "mlle", "societe", "ste"),
        Label.ATTENTION: ("p/a", "a l'attention"),
        Label.THIRD_PARTY: ("represent[ae]nte? fiscal",),
        Label.YOURS: ("votre", "vos", "client", "acheteur", r"v[./] ?(?:n[o°] ?)?tva"),
        Label.RECIPIENTS: ("preneur", "acquereur", "destinataire", "cocontractant"),
        Label.REGISTRATION: (
            *("siren", "siret", r"r\.?c\.?s", "capital", r"rp[mr](?= )"),
            r"(?:n[o°º]\.? ?)?tva(?: intra\w*)?",
        ),
        Label.VAT_ID: (r"(?:n[o°º]\s*(?:de\s*)?)?t\.?v\.?a\.?(?:\s*intra\s*communautaire|\s*intra\w*)?",),
        Label.CURRENCY: ("devise",),
        Label.DESCRIPTION: (
            *("produits?", "activite", "travaux", "designations?", "libelles?", "prestations?", "intitule", "detail"),
            *("nature", "descriptif", "objet", "articles?", "denomination", "rubrique", "postes?", "marchandises?"),
            *("actes?", "soins", "materiel", "mission", "diligences?", "consommations?"),
        ),
        Label.QUANTITY: (
            *(
                "quantites?",
                "quant",
                "qte?s?",
                "nombre",
                "nbr?e?",
                "jours",
                "heures",
                "duree",
                "unites?",
                "nuits",
                "temps",
            ),
            *("poids", "volume", "surface", "colis", "pieces"),
        ),
        Label.PRICE: (r"p\.?u\.?", "prix", "px", "tarif", "taux horaire", "cout", "unitaire"),
        Label.AMOUNT: ("montants?", "mt+", "mnt", "debit", "total", "valeur", "somme", "honoraires", "euros"),
        Label.TABLE_END: (
            "(?:conditions|modalites|moyen|mode|informations) de (?:paiement|reglement)",
            (
                "(?:detail|recapitulatif|ventilation) (?:de la )?tva|recapitulatif|coordonnees bancaires|"
                "remarques|observations"
            ),
        ),
        Label.GROSS: ("ttc", "tvac", "a payer", "(?:a|en) (?:(?:votre|notre) )?(?:credit|faveur)", "brut(?! ht)"),
        Label.BEFORE_TAX: (
            *("(?:sans|avant|base(?: de)?|assiette|soumis a) (?:tva|taxes)", r"h(?:ors |\.)?tva", "ht", "hors taxes?"),
            *("sous[ -]total", "tva non comprise"),
            "total (?:partiel|intermediaire)",
        ),
        Label.SUM: ("total", "montant", "prix"),
        Label.INCLUDING: ("inclus", "ttc", "avec tva", "(?<!la )tva comprise"),
        Label.TOTAL: (
            r"total\s*(?:facture)",
            r"total (?:tva|toutes taxes) (?:inc(?:l\w*)?|comprise?s?)",
            "total avec (?:tva|taxes)",
            "(?:toutes )?taxes (?:comprises|incluses)",
            r"^\W*a (?:payer|regler|virer|verser|rembourser|crediter)(?! a)",
            "montant (?:de la )?facture",
            "tvac",
            r"(?:total|montant|prix)\s*(?:eur\s*|general\s*)?(?:ttc|tvac|tvacp|t\.t\.c)",
            (
                "(?:net|somme|total|montant|reste|solde|acompte)(?: ttc| nette?)? a (?:nous )?"
                "(?:payer|regler|verser|virer|crediter|rembourser|debiter|prelever)"
            ),
            "(?:montant|somme) exigible|montant de (?:l'appel|l'echeance|votre facture)",
            "net (?:a deduire|du)",
            "montant (?:credite|rembourse|preleve|debite)",
            "(?:net )?a votre credit",
            "(?:net|somme|total|montant|solde) en (?:votre|notre) faveur",
            "total (?:facture|general)",
            "(?:montant|total) (?:total )?brut",
            "(?:montant|total|solde|reste) du",
            "(?:total|montant|net) (?:de l')?avoir",
        ),
        Label.PLAIN_TOTAL: ("totaux", "ttc"),
        Label.NET: (
            r"(?:total|montant|sous-total)?\s*(?:eur\s*)?ht\b",
            "(?:montant|total) (?:total )?net",
            "h(?:ors )?tva",
            "(?:base|montant) (?:imposable|taxable)",
            "base d'imposition",
            "base ht(?:va)?",
            "base soumise|assiette",
            "total (?:des )?(?:marchandises|fournitures|articles|lignes)",
            "sous[ -]total",
        ),
        Label.INSIDE: ("dont", r"compris\w*"),
        Label.TAX_SUM: (r"(?:sous-total|sub[\s-]?total) (?:de )?(?:la )?tva|tva due",),
        Label.TAX: (
            *("taxe", "tps", "tvq", "tvh"),
            r"(?:montant\s*)?tva",
            "taxes? sur la valeur ajoutee",
        ),
        Label.TURNOVER_TAX: (r"t\.?v\.?a",),
        Label.ADJUSTMENT: (
            *(r"port(?=\W*$)", "escompte", "frais(?! et hono)(?: de)?(?: port| livraison)?", "livraison", "arrondis?"),
            *("(?<!apres )(?<!avant )remise", "rabais", "ristourne", "reduction", "code promo", "geste commercial"),
            *("retenue a la source", "taxe de sejour", "debours", "consignes?", "vidanges?", "emballage"),
            *("eco[ -]?(?:participation|contribution|taxe)", "deee", "recupel", "contribution environnementale"),
            *("(?:sur)?taxe carburant", "supplement", "majoration", "pourboire", "timbre", "affranchissement"),
            *("non soumis", "hors champ"),
        ),
        Label.PAID: (
            *("acomptes?", "deja (?:pay|regl|vers|factur)ee?s?", "(?:paiement|reglement)s? (?:recu|effectue)s?"),
            "montant (?:paye|regle|verse)",
        ),
        Label.PREPAID: (
            *("arrhes", "versements?", "retenues?", "avances?", "provisions?", "reglements?", "paiements?", "depot"),
            *("paye", "regle", "encaisse", "recu ce jour", "part (?:mutuelle|assurance maladie)", "tiers payant"),
            *("prise en charge", "precompte", "(?:bon d'|cheque |carte )(?:achat|cadeau)", "mensualites", "prime cee"),
            "credit d'impot",
        ),
        Label.CASH_DISCOUNT: ("escompte",),
        Label.WITHOUT: ("pas d'", "sans ", "aucun "),
        Label.OTHERWISE: ("sinon", "passe ce delai"),
        Label.TENDER: ("especes", "rendu(?: monnaie)?", "carte (?:bancaire|bleue)", "cb(?: emv)?(?: sans contact)?"),
        Label.CHANGE: ("rendu",),
        Label.ROUNDING: ("arrondi",),
    },
    papers={
        DocumentType.CREDIT_NOTE: ("avoir", "note de credit", "facture de credit"),
        DocumentType.RECEIPT: ("ticket de caisse", "recu(?: de paiement)?"),
        DocumentType.DUNNING_LETTER: (
            r"(?:(?:premiere?|deuxieme|seconde?|troisieme|derniere?|\d\w*) )?(?:lettre de )?(?:relance|rappel)",
            "(?:lettre de )?(?:relance|rappel) (?:de (?:paiement|facture)|amiable)",
            "mise en demeure",
        ),
        DocumentType.STATEMENT: ("releve de (?:compte|factures)", "(?:etat|extrait) de compte"),
        DocumentType.PURCHASE_ORDER: ("bon de commande", "commande d'achat"),
        DocumentType.QUOTE: ("devis(?: estimatif)?", "offre(?: de prix| commerciale)?"),
        DocumentType.DELIVERY_NOTE: ("(?:bon|bordereau) de livraison",),
        DocumentType.REMITTANCE_ADVICE: ("avis de (?:paiement|virement)",),
        DocumentType.CONTRACT: (r"contrat(?: (?:de |d')\w+(?: de \w+)?)?", r"convention(?: de \w+)?"),
    },
)
