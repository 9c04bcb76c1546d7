"""The command `docrail`. Ctrl-C ends it without a traceback, also while its modules load."""

import gc
import importlib
import os
import signal


def main() -> None:
    """Run the command that the arguments name, and end the process with its exit code."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(128 + signal.SIGINT))  # as shells do; nothing is open yet
    gc.disable()  # modules stay until the end: collecting while they load took a tenth of a short command
    program = importlib.import_module("docrail.cli.main")
    gc.freeze()
    gc.enable()
    program.main()
