"""Run an API as tests/api/service.py serves it, in a process of its own. Its argument is the port."""

import sys

import uvicorn

from docrail.settings import Settings
from tests.api.service import create_tested_api

if __name__ == "__main__":
    uvicorn.run(create_tested_api(Settings()), port=int(sys.argv[1]), log_level="warning", access_log=False)
