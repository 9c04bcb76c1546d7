"""What a model is asked, and how its answer becomes an invoice."""
