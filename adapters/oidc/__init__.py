"""Talk to an OpenID Connect issuer: its published keys, the tokens that it signs, and its sign-in page."""
