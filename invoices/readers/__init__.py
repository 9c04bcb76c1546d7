"""Readers: they turn a document's bytes into an InvoiceData. Parsing libraries are loaded only here."""
