"""The /docs page: Swagger UI on our own OpenAPI document, out of installed files, so that it works without Internet."""

from fastapi import FastAPI, Request, Response
from starlette.responses import HTMLResponse
from starlette.staticfiles import StaticFiles

PATH = "/docs"
ASSETS = ("fastapi_swagger", "resources")
"""The package and its folder that hold Swagger UI as it is released. None of the package's code is run."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; "  # its icons are in its style sheet
    "connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"  # a page that sends requests must not be clicked through another one's frame
)
"""Nothing from elsewhere is loaded, told or run, whatever Swagger UI or a text that it shows would like."""

HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}

# All addresses are relative, so that the page also works behind a proxy that serves the API under a folder.
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

# A file of its own because the policy forbids scripts in the page. Without `validatorUrl: null` a foreign service
# would be asked about our document.
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
    """Serve the page and what it loads. For people, so none of it is in the OpenAPI document."""
    api.add_route(PATH, _page, include_in_schema=False)
    api.add_route(f"{PATH}/start.js", _start, include_in_schema=False)
    api.mount(f"{PATH}/assets", StaticFiles(packages=[ASSETS]))


async def _page(_: Request) -> Response:
    return HTMLResponse(PAGE, headers=HEADERS)


async def _start(_: Request) -> Response:
    return Response(START, media_type="text/javascript", headers=HEADERS)
