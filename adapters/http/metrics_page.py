"""Serve Prometheus metrics under this server's own names only, so that no web page reads them by DNS rebinding."""

from collections.abc import Iterable
from wsgiref.simple_server import WSGIServer
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from prometheus_client import CollectorRegistry, make_wsgi_app, start_http_server

from docrail.adapters.http.browsers import Hosts, refusal

REFUSED = b"this page is not known by this name: if it should be, name the host in DOCRAIL_API_HOSTS\n"


def serve_metrics(registry: CollectorRegistry, host: str, port: int, hosts: Hosts) -> WSGIServer:
    """Start a thread that serves `registry` to requests for one of `hosts`, and return its server."""
    server, _ = start_http_server(port, host, CollectorRegistry())  # empty until the guard is in place
    server.set_app(_guarded(make_wsgi_app(registry), hosts))
    return server


def _guarded(page: WSGIApplication, hosts: Hosts) -> WSGIApplication:
    def answer(request: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        named = {"host": [request["HTTP_HOST"]]} if "HTTP_HOST" in request else {}
        if refusal(request["REQUEST_METHOD"], named, hosts) is None:
            return page(request, start)
        start("421 Misdirected Request", [("Content-Type", "text/plain; charset=utf-8")])
        return [REFUSED]

    return answer
