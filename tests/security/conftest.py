"""Provide one API with a worker for the attacks of this folder."""

from tests.api.conftest import dsn, http, service

__all__ = ["dsn", "http", "service"]
