"""Find QR codes and read payment codes."""
