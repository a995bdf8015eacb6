from __future__ import annotations

import email.utils
import json
import random
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx

LONGEST_WAIT = 60.0


def quoted(value: str) -> str:
    """The value as one segment of a path."""
    return quote(value, safe="")


@dataclass(frozen=True)
class Event:
    """An event of a stream: its number, its type (`message.delta`), and what it says."""

    id: str
    event: str
    data: dict[str, Any]


class ApiError(Exception):
    """A refusal of the platform, or a failure behind its address.

    `code` is the platform's (`not_found`), or `unknown`. `error_id` names the request in its log. `details` has each fault
    of a 422 with its place in the request. `body` is all of it.
    """

    def __init__(self, response: httpx.Response) -> None:
        try:
            body = response.json()
            body = body.get("error", body)
        except (ValueError, AttributeError):
            body = {"message": response.text[:200] or response.reason_phrase}
        self.status = response.status_code
        self.code: str = body.get("code", "unknown")
        self.error_id: str | None = body.get("error_id")
        self.details: list[dict[str, str]] = body.get("details", [])
        self.body: dict[str, Any] = body
        faults = [f"{one['path']}: {one['message']}" for one in self.details]
        super().__init__("\n".join([f"{self.status}: {body.get('message')}", *faults]))


def retry_delay(n: int, retry_after: str | None) -> float:
    """Seconds until the next try after the `n`th, at most a minute.

    What `Retry-After` says (RFC 9110, 10.2.3: seconds or a date), otherwise 0.5, 1, 2 and so on, less up to a half at
    random, so that clients do not come back together.
    """
    if retry_after is not None:
        try:
            return min(max(float(retry_after), 0.0), LONGEST_WAIT)
        except ValueError:
            at = email.utils.parsedate_to_datetime(retry_after).timestamp()
            return min(max(at - time.time(), 0.0), LONGEST_WAIT)
    return min(0.5 * 2 ** (n - 1), LONGEST_WAIT) * (1 - random.random() / 2)


def _is_file(value: object) -> bool:
    return isinstance(value, (bytes, tuple)) or hasattr(value, "read")


def _encode(body: Any) -> dict[str, Any]:
    """A body with a file becomes a form, bytes go as they are (OTLP), all else is JSON."""
    if body is None:
        return {}
    if isinstance(body, bytes):
        return {"content": body, "headers": {"content-type": "application/x-protobuf"}}
    if isinstance(body, dict) and any(_is_file(value) for value in body.values()):
        files = {name: value for name, value in body.items() if _is_file(value)}
        data = {
            name: value if isinstance(value, str) else json.dumps(value)
            for name, value in body.items()
            if name not in files
        }
        return {"files": files, "data": data}
    return {"json": body}


class Transport:
    """Sends requests, again where that is safe.

    A request that fails on the way, or with 502, 503 or 504, is sent again if a second time changes nothing: reads,
    replacements, deletions, and creations that carry an `Idempotency-Key`, which is added. 429 was refused before anything
    happened, so it always is. `tries` is how often a request is sent at most; `timeout` is in seconds.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        tries: int = 5,
        timeout: float = 120.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._tries = tries
        self._http = httpx.Client(
            base_url=f"{url.rstrip('/')}/api/v2",
            headers={"authorization": f"Bearer {key}"},
            timeout=timeout,
            transport=transport,
        )

    def close(self) -> None:
        """End the connections."""
        self._http.close()

    def request(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        query: dict[str, Any] | None = None,
        headers: dict[str, str | None] | None = None,
        takes_key: bool = False,
        stream: bool = False,
    ) -> httpx.Response:
        """Send any request below /api/v2 and return the whole response, with its ETag. Raises ApiError."""
        encoded = _encode(body)
        sent = {name: value for name, value in (headers or {}).items() if value is not None}
        if takes_key:
            sent.setdefault("Idempotency-Key", str(uuid.uuid4()))
        repeatable = takes_key or method in ("GET", "PUT", "DELETE")
        request = self._http.build_request(
            method,
            path,
            params={name: value for name, value in (query or {}).items() if value is not None},
            **{**encoded, "headers": {**encoded.get("headers", {}), **sent}},
        )
        n = 1
        while True:
            retry_after = None
            try:
                response = self._http.send(request, stream=stream)
                if response.is_success:
                    return response
                response.read()
                response.close()
                again = response.status_code == 429 or (repeatable and response.status_code in (502, 503, 504))
                if not again or n >= self._tries:
                    raise ApiError(response)
                retry_after = response.headers.get("retry-after")
            except httpx.TransportError:
                if not repeatable or n >= self._tries:
                    raise
            time.sleep(retry_delay(n, retry_after))
            n += 1

    def _call(self, method: str, path: str, **options: Any) -> Any:
        response = self.request(method, path, **options)
        if response.status_code == 204:
            return None
        is_json = response.headers.get("content-type", "").startswith("application/json")
        return response.json() if is_json else response.text

    def _download(self, method: str, path: str, **options: Any) -> bytes:
        return self.request(method, path, **options).content

    def _follow(self, method: str, path: str, **options: Any) -> Iterator[Event]:
        """Yield the events of a stream; after a lost connection, go on behind the last one (`Last-Event-ID`)."""
        last: str | None = None
        while True:
            response = self.request(method, path, stream=True, **options)
            if response.status_code == 204:
                return
            wait, before = 2.0, last
            try:
                for block in _blocks(response):
                    wait = float(block.get("retry", wait * 1_000)) / 1_000
                    if "data" not in block:
                        continue
                    event = Event(block.get("id", ""), block.get("event", "message"), json.loads(block["data"]))
                    last = event.id
                    yield event
                    if event.event == "run.completed":
                        return
            except httpx.TransportError:
                pass
            finally:
                response.close()
            # At once, if this connection brought anything.
            if last == before:
                time.sleep(wait)
            method, options = "GET", {"headers": {"Last-Event-ID": last}}


def _blocks(response: httpx.Response) -> Iterator[dict[str, str]]:
    """The fields of each event (HTML Living Standard, 9.2.6, as far as the platform uses it)."""
    fields: dict[str, str] = {}
    for line in response.iter_lines():
        name, _, value = line.partition(":")
        if line == "":
            yield fields
            fields = {}
        elif name:
            fields[name] = value.removeprefix(" ")
