"""Define why an issuer cannot be used, and why a token is refused. No message contains a token or a part of one."""


class IssuerUnavailableError(Exception):
    """The issuer does not answer, or its answer cannot be used. A later request may succeed."""


class TokenRefusedError(Exception):
    """The token proves nothing. The text is for the log."""


class UnknownKeyError(TokenRefusedError):
    """No known key has the token's key id: the issuer may have a new one."""
