"""The domain of the flagship: what an invoice is, how far it can be trusted, and how documents are read. No I/O."""
