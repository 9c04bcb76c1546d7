"""The API with default settings and its OpenAPI document, made once for all tests that walk them: it takes a second."""

from typing import Any

from docrail.api.app import create_app
from docrail.settings import Settings

API = create_app(Settings())
DOCUMENT: dict[str, Any] = API.openapi()
