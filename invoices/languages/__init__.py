"""The words of invoices and other papers, one file a language."""
