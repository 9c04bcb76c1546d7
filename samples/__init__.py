"""Holds sample documents: real ones as files, and a desk of sixty invented invoices that `desk.py` draws on demand."""
