"""QR codes and payment codes."""
