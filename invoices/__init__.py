"""The invoice domain: the data model, confidence assessment and document readers. No I/O."""
