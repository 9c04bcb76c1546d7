"""Find the seller and the buyer: names, address blocks, bank accounts and VAT ids."""
