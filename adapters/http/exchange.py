"""Send a tenant's requests: with secrets in the headers, and an error for each answer that was not expected."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from docrail.adapters.http.client import Answer, HttpClient, Outgoing, checked_url, is_success
from docrail.adapters.http.errors import AnswerUnusableError
from docrail.adapters.secrets import SecretStore


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends requests of one tenant. `named`: the secrets that the definition's author wrote into the step."""

    http: HttpClient
    secrets: SecretStore
    tenant_id: str
    named: Collection[str] = ()

    async def exchange(
        self,
        outgoing: Outgoing,
        defaults: Mapping[str, str],
        *,
        expected_statuses: Collection[int] = (),
        may_be_cut: bool = False,
    ) -> Answer:
        """Return the answer, without the secrets that it may repeat. `defaults`: headers, unless given.

        Raises: MissingSecretError, RefusedSecretError, RequestRefusedError, AnswerUnusableError, ValueError (never
        retried); TryAgainLaterError, UnreachableError, OutgoingTimeoutError (retried); RefusedAddressError.
        """
        host = checked_url(outgoing.url).host
        own = await self.secrets.reveal(self.tenant_id, outgoing.headers, host, named=self.named)
        given = {name.lower() for name in own.texts}
        headers = {**own.texts, **{name: value for name, value in defaults.items() if name.lower() not in given}}
        answer = (await self.http.send(replace(outgoing, headers=headers))).redacted(own.redaction)
        if not (answer.status in expected_statuses if expected_statuses else is_success(answer.status)):
            raise answer.refusal()
        if not (answer.complete or may_be_cut):
            raise AnswerUnusableError(f"{answer.request} answered more than {outgoing.max_bytes} bytes (max_bytes)")
        return answer
