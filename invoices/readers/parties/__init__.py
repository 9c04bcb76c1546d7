"""The seller: names, addresses and bank accounts."""
