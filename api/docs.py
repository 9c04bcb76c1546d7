"""Serve the /docs page: Swagger UI for the OpenAPI document, from installed files, so that it works offline."""

from fastapi import FastAPI, Request, Response
from starlette.responses import HTMLResponse
from starlette.staticfiles import StaticFiles

PATH = "/docs"
ASSETS = ("fastapi_swagger", "resources")
"""The package and folder with the files of a Swagger UI release. None of the package's code is run."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; "  # the icons are in the style sheet
    "connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"  # prevents clickjacking: the page sends requests
)
"""Blocks everything from other origins, whatever Swagger UI or a displayed text requests."""

HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-cache",
}

# All addresses are relative, so that the page also works behind a proxy that serves the API under a path prefix.
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Docrail API</title>
<link rel="stylesheet" href="docs/assets/swagger-ui.css">
<link rel="icon" type="image/png" href="docs/assets/favicon-32x32.png">
</head>
<body>
<div id="swagger-ui"></div>
<script src="docs/assets/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
"""

# A separate file because the policy forbids inline scripts. Without `validatorUrl: null` an external service would be
# asked to validate the document.
START = """\
SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  displayRequestDuration: true,
  validatorUrl: null,
});
"""


def add_docs(api: FastAPI) -> None:
    """Serve the page and its files. They are for people, and not part of the OpenAPI document."""
    api.add_route(PATH, _page, include_in_schema=False)
    api.add_route(f"{PATH}/start.js", _start, include_in_schema=False)
    api.mount(f"{PATH}/assets", StaticFiles(packages=[ASSETS]))


async def _page(_: Request) -> Response:
    return HTMLResponse(PAGE, headers=HEADERS)


async def _start(_: Request) -> Response:
    return Response(START, media_type="text/javascript", headers=HEADERS)
