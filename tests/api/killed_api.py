"""Run an API that is killed just before it starts a document's run."""

import os
import signal
from typing import Any

import pytest
import uvicorn

from docrail.api.app import create_app
from docrail.services.intake import starting
from docrail.settings import Settings


async def be_killed(*_: Any, **__: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    settings = Settings()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(starting, "begin_run", be_killed)
        uvicorn.run(create_app(settings), port=settings.api_port, log_level="warning")
