"""Reading a document once, by local readers or a model, however many documents have its bytes."""
