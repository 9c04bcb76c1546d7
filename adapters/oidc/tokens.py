"""Verify the tokens that an issuer signs: signature and claims, with joserfc.

Tokens are hostile until verified. joserfc checks the signature and the registered claims; this module decides which
algorithms and keys count, and distinguishes access tokens from ID tokens.
"""

import json
import logging
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from joserfc import jws
from joserfc.errors import ClaimError, InvalidKeyIdError, JoseError, SecurityWarning
from joserfc.jwk import Key, KeySet, OctKey, import_key
from joserfc.jwt import ClaimsOption, JWTClaimsRegistry

from docrail.adapters.oidc.errors import TokenRefusedError, UnknownKeyError
from docrail.dag.values.json_values import Json

log = logging.getLogger(__name__)

ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "Ed25519"),
)
"""Asymmetric only. With HS256 an issuer's public key would be a secret that everyone knows; `none` proves nothing."""

LEEWAY_SECONDS = 30
"""How far the issuer's clock may be from ours."""

ACCESS_TOKEN_TYPES = frozenset({None, "jwt", "at+jwt", "application/at+jwt"})
ID_TOKEN_TYPES = frozenset({None, "jwt"})
"""Accepted `typ` headers, in lowercase (RFC 8725, 3.11): issuers sign logout tokens and others with the same keys."""

OF_ID_TOKENS = frozenset({"nonce", "at_hash", "c_hash"})
"""Claims of ID tokens, which are for the client that signed the person in, and not for an API."""

_REGISTRY = jws.JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)  # RFC 7515, 4: ignore unknown headers
_MALFORMED = (JoseError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What joserfc raises for malformed tokens and keys: its own errors, and others where it expects another JSON type."""

Claims = dict[str, Json]


@dataclass(frozen=True, slots=True)
class Verified:
    """A token with a valid signature. Its claims are not checked yet."""

    header: Claims
    claims: Claims


def usable_keys(published: Iterable[Json]) -> KeySet:
    """Return the keys of a JWKS that may verify tokens. Keys that are weak, symmetric or malformed are skipped."""
    return KeySet([key for each in published if (key := _usable_key(each)) is not None])


def _usable_key(published: Json) -> Key | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", SecurityWarning)  # joserfc warns of RSA keys below 2048 bits
            key = import_key(published)
            key.check_use("sig")
            key.ensure_kid()
    except (*_MALFORMED, SecurityWarning) as error:
        log.info("skipped a key of the issuer: %s", type(error).__name__)
        return None
    return None if isinstance(key, OctKey) else key


def verify_signature(token: str, keys: KeySet) -> Verified:
    """Check that one of `keys` signed the token. Raises: UnknownKeyError, TokenRefusedError."""
    try:
        signed = jws.deserialize_compact(token, keys, registry=_REGISTRY)
        claims = json.loads(signed.payload or b"", object_pairs_hook=_each_once)
    except InvalidKeyIdError:
        raise UnknownKeyError("no key of the issuer has its kid") from None
    except _MALFORMED as error:
        raise TokenRefusedError(type(error).__name__) from None
    if not isinstance(claims, dict):
        raise TokenRefusedError("its claims are not an object")
    return Verified(signed.headers(), claims)


def _each_once(pairs: Sequence[tuple[str, Json]]) -> Claims:
    """Refuse a claim given twice: two readers could take different ones (RFC 7519, 4)."""
    repeated = [name for name, count in Counter(name for name, _ in pairs).items() if count > 1]
    if repeated:
        raise ValueError("a claim is given twice")
    return dict(pairs)


def check_access_token(token: Verified, issuer: str, audience: str) -> Claims:
    """Return the claims of an access token for this API. Raises: TokenRefusedError."""
    _check_type(token, ACCESS_TOKEN_TYPES)
    _check_registered(token.claims, issuer, audience)
    if given := OF_ID_TOKENS & token.claims.keys():
        raise TokenRefusedError(f"it is an ID token: it has {', '.join(sorted(given))}")
    if token.claims.get("typ", "Bearer") != "Bearer":  # Keycloak's own claim: ID, Refresh, Logout
        raise TokenRefusedError("its claim typ is not Bearer")
    if "cnf" in token.claims:
        raise TokenRefusedError("it is bound to a key of its sender, which is not checked here")
    return token.claims


def check_id_token(token: Verified, issuer: str, client_id: str, nonce: str) -> Claims:
    """Return the claims of the ID token of one sign-in (OpenID Connect Core, 3.1.3.7). Raises: TokenRefusedError."""
    _check_type(token, ID_TOKEN_TYPES)
    _check_registered(token.claims, issuer, client_id, nonce=nonce)
    audience, party = token.claims["aud"], token.claims.get("azp")
    alone = isinstance(audience, str) or len(audience) == 1
    if party != client_id and not (party is None and alone):
        raise TokenRefusedError("azp is not this client")
    return token.claims


def _check_type(token: Verified, expected: frozenset[str | None]) -> None:
    kind = token.header.get("typ")
    if (kind and str(kind).lower()) not in expected:
        raise TokenRefusedError("its typ is that of another kind of token")


def _check_registered(claims: Claims, issuer: str, audience: str, *, nonce: str | None = None) -> None:
    options: dict[str, ClaimsOption] = {
        "iss": {"essential": True, "value": issuer},
        "aud": {"essential": True, "value": audience},
        "sub": {"essential": True},
        "exp": {"essential": True},
    }
    if nonce is not None:
        options["nonce"] = {"essential": True, "value": nonce}
    try:
        JWTClaimsRegistry(None, LEEWAY_SECONDS, **options).validate(claims)
    except ClaimError as error:
        raise TokenRefusedError(f"{type(error).__name__}: {error.claim}") from None
