"""Turn a token's claims into a person: tenant, name and scopes, by the operator's mapping. Pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from docrail.dag.values.json_values import Json
from docrail.services.access.models import DEFAULT_TENANT, NAME_PATTERN, RESERVED, TENANT_PATTERN, Scope, person

SUBJECT = "sub"
_SUBJECT = re.compile(r"[!-~]{1,255}")
"""A `sub` (OpenID Connect Core, 2): at most 255 ASCII characters."""


@dataclass(frozen=True, slots=True)
class ClaimMapping:
    """What claims mean here. A claim in a claim is written with a dot: `realm_access.roles`."""

    scopes: Mapping[str, frozenset[Scope]] = field(default_factory=dict)
    """The scopes that each value of the scope claim gives."""
    scope_claim: str = "roles"
    tenant_claim: str | None = None
    """The claim that names the tenant; None: everyone belongs to the default tenant."""
    name_claim: str = "preferred_username"


@dataclass(frozen=True, slots=True)
class Person:
    """A person as the claims describe them."""

    issuer: str
    subject: str
    tenant_id: str
    name: str
    scopes: frozenset[Scope]


def person_of(claims: Mapping[str, Json], mapping: ClaimMapping) -> Person:
    """Return the person of verified claims. Raises: ValueError, which says what is missing but no claim's value."""
    subject, tenant = claims[SUBJECT], DEFAULT_TENANT
    if not _SUBJECT.fullmatch(subject):
        raise ValueError("sub is not 1 to 255 ASCII characters")
    granted = (mapping.scopes.get(value, frozenset()) for value in _values(_claim(claims, mapping.scope_claim)))
    scopes = frozenset[Scope]().union(*granted)
    if not scopes:
        raise ValueError(f"no value of {mapping.scope_claim} is in DOCRAIL_OIDC_SCOPES")
    if mapping.tenant_claim is not None:
        tenant = _claim(claims, mapping.tenant_claim)
        if not isinstance(tenant, str) or not re.fullmatch(TENANT_PATTERN, tenant):
            raise ValueError(f"{mapping.tenant_claim} is not the name of one tenant")
    name = next((name for name in _names(claims, mapping.name_claim) if name not in RESERVED), None)
    if name is None:
        raise ValueError(f"neither {mapping.name_claim} nor {SUBJECT} is a valid name")
    return Person(claims["iss"], subject, tenant, name, scopes)


def _names(claims: Mapping[str, Json], name_claim: str) -> Iterator[str]:
    """Yield the valid names among the claims, best first."""
    for claim in (name_claim, SUBJECT):
        value = _claim(claims, claim)
        is_only_entered = claim == "email" and claims.get("email_verified") not in (True, "true")
        if isinstance(value, str) and re.fullmatch(NAME_PATTERN, value) and not is_only_entered:
            yield person(value)


def _claim(claims: Mapping[str, Json], path: str) -> Json:
    """Return a claim, or one in a claim: `realm_access.roles`; None if there is none."""
    if path in claims:  # some issuers require names that are URLs, with dots
        return claims[path]
    found: Json = claims
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _values(claim: Json) -> list[str]:
    """Return the texts of a list, or those of one text, as in the claim `scope`: `openid read`."""
    if isinstance(claim, str):
        return claim.split()
    return [value for value in claim if isinstance(value, str)] if isinstance(claim, list) else []
