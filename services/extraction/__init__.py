"""Reading a document once, by local readers or a model, however often it is asked for."""
