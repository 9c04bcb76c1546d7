"""French."""

from docrail.invoices.facts import DocumentType
from docrail.invoices.readers.languages.language import Language

LANGUAGE = Language(
    code="fr",
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
