"""French."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.languages.language import Language

LANGUAGE = Language(
    code="fr",
    titles=(
        "facture(?: rectificative)?",
        "avoir",
        "(?:note|memoire|etat) (?:de )?(?:d'|frais et (?:d')?)?(?:honoraires|frais)",
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
    days="jours",
    paying=r"net|pai?e\w*|regle\w*|echeance|virement|payable",
    papers={
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
