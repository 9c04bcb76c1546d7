"""Resolve secret references: `secret://name` is replaced by its value only here, inside an activity.

Only names that the definition's author wrote are resolved: a document with the text `secret://bank` does not get the
bank's key, even if a template puts that text into a header.

A secret is the file `<tenant>/<name>` in one folder, as container platforms mount them; it is read at each use, so a
new value needs no restart. The file `<tenant>/<name>.hosts` lists the hosts that it may be sent to: whoever may start
runs can write a definition, and with it any address.
"""

import asyncio
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from docrail.adapters.redaction import Redaction, record, redaction
from docrail.dag.language.secret_names import SECRET_REFERENCE
from docrail.dag.values.json_values import Json

MAX_SECRET_BYTES = 65_536

_TENANT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class MissingSecretError(ValueError):
    """The tenant has no such secret, or no secrets folder is configured."""


class RefusedSecretError(ValueError):
    """The definition does not name the secret there, or it may not be sent to that host."""


@dataclass(frozen=True, slots=True)
class Revealed:
    """Texts with resolved secrets. The representation hides them."""

    texts: Mapping[str, str]
    redaction: Redaction = field(default_factory=Redaction)
    """Redacts these secrets and all others that the activity was given."""

    def __repr__(self) -> str:
        return f"Revealed({', '.join(self.texts)})"


@dataclass(frozen=True, slots=True)
class SecretStore:
    """Read secrets from `folder`; None: there are none."""

    folder: Path | None = None

    async def load(self, tenant_id: str, name: str, *, field: str, named: Collection[str]) -> str:
        """Return the tenant's secret that `field` refers to, without a trailing line break.

        `named`: the secrets that the author wrote into the step's config. Raises: MissingSecretError,
        RefusedSecretError.
        """
        if name not in named:
            raise RefusedSecretError(
                f"{field} refers to the secret {name!r}, and the step's config does not name it as its author wrote "
                f"it: write secret://{name} there, without a template, if the step may use it"
            )
        content = await self._read(tenant_id, name)
        if not content:
            raise MissingSecretError(
                f"tenant {tenant_id!r} has no secret {name!r}: expected the file {tenant_id}/{name} in the folder of "
                "DOCRAIL_SECRETS_DIR"
            )
        record(content)
        return content

    async def find(self, tenant_id: str, name: str) -> str | None:
        """Return the tenant's secret, or None. For fixed names in the code: nothing else is checked.

        Raises: RefusedSecretError (too long).
        """
        content = await self._read(tenant_id, name)
        if content:
            record(content)
        return content or None

    async def reveal(self, tenant_id: str, texts: Mapping[str, str], host: str, *, named: Collection[str]) -> Revealed:
        """Return the headers `texts`, to be sent to `host`, with their secrets resolved; `named` as for `load`.

        Raises: MissingSecretError, RefusedSecretError.
        """
        values: dict[str, str] = {}
        for header, text in texts.items():
            names = SECRET_REFERENCE.findall(text)
            if len(names) != text.count("secret://"):
                raise MissingSecretError(f"headers.{header} refers to a secret by a name that none can have")
            for name in names:
                values[name] = await self.load(tenant_id, name, field=f"headers.{header}", named=named)
                await self.check_host(tenant_id, name, host)
        revealed = {name: SECRET_REFERENCE.sub(lambda found: values[found[1]], text) for name, text in texts.items()}
        return Revealed(revealed, Redaction(redaction().values | {*values.values()}))

    async def check_host(self, tenant_id: str, name: str, host: str) -> None:
        """Check that the secret, or what it signs, may be sent to `host`. Raises: RefusedSecretError."""
        listed = await self._read(tenant_id, name, ".hosts")
        if listed is None:
            raise RefusedSecretError(
                f"no host may receive the secret {name!r}: list those that may, one a line, in the file "
                f"{tenant_id}/{name}.hosts in the folder of DOCRAIL_SECRETS_DIR"
            )
        if host.lower() not in listed.lower().split():
            raise RefusedSecretError(
                f"the secret {name!r} may not go to {host}: the file {name}.hosts does not list it"
            )

    async def _read(self, tenant_id: str, name: str, suffix: str = "") -> str | None:
        if self.folder is None or not _TENANT.fullmatch(tenant_id):
            return None
        return await asyncio.to_thread(_content, self.folder / tenant_id / f"{name}{suffix}")


def name_of(reference: str) -> str:
    """Return the name in `secret://name`. Raises: ValueError."""
    found = SECRET_REFERENCE.fullmatch(reference)
    if found is None:
        raise ValueError("expected secret:// and a name of letters, digits, _ and -")
    return found[1]


def refuse_references(value: Json) -> Json:
    """Return `value`, in which secrets are not resolved, unless it contains a reference. Raises: ValueError.

    Bodies contain text of documents; a document that says `secret://bank` must not get the bank's key.
    """
    if isinstance(value, str) and SECRET_REFERENCE.fullmatch(value.strip()):
        raise ValueError(f"{value.strip()} would be sent as it stands: secrets are resolved in headers only")
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        refuse_references(part)
    return value


def _content(path: Path) -> str | None:
    try:
        with path.open("rb") as stream:
            content = stream.read(MAX_SECRET_BYTES + 1)
            if len(content) > MAX_SECRET_BYTES:
                raise RefusedSecretError(f"the file of the secret {path.name!r} has more than {MAX_SECRET_BYTES} bytes")
            return content.decode("utf-8").rstrip("\r\n")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except UnicodeDecodeError:
        raise MissingSecretError(f"the file of the secret {path.name!r} is not UTF-8 text") from None
