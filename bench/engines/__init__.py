"""Other engines doing what bench/batch.py measures. They run in an environment of their own (requirements.txt)."""
