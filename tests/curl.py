"""As much of curl as the pages use, for machines that have none: -s, -X, -H, -d and -F, and one address."""

import argparse
import sys
from contextlib import ExitStack
from pathlib import Path

import httpx


def main() -> None:
    parser = argparse.ArgumentParser(prog="curl")
    parser.add_argument("url")
    parser.add_argument("-s", action="store_true")
    parser.add_argument("-X", dest="method")
    parser.add_argument("-H", dest="headers", action="append", default=[])
    parser.add_argument("-d", dest="data")
    parser.add_argument("-F", dest="form", action="append", default=[])
    asked = parser.parse_args()
    fields = dict(field.split("=", 1) for field in asked.form)
    with ExitStack() as opened:
        files = {
            name: (Path(value[1:]).name, opened.enter_context(Path(value[1:]).open("rb")))
            for name, value in fields.items()
            if value.startswith("@")
        }
        response = httpx.request(
            asked.method or ("POST" if asked.data or fields else "GET"),
            asked.url,
            headers=dict(header.split(": ", 1) for header in asked.headers),
            content=asked.data,
            data={name: value for name, value in fields.items() if name not in files} or None,
            files=files or None,
            trust_env=False,
        )
    sys.stdout.write(response.text)


if __name__ == "__main__":
    main()
