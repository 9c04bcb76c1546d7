"""Readers: a document's bytes in, an InvoiceData out. The only place that loads parsing libraries."""
