"""Entry of `docrail`: Ctrl-C is no traceback, not even while the commands are loaded, which takes a second."""

import gc
import importlib
import os
import signal


def main() -> None:
    """Load the commands, run the one that the arguments name, and end the process with its code."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(128 + signal.SIGINT))  # as shells do; nothing is open yet
    gc.disable()  # what is loaded stays for ever: to look through it again and again took a tenth of a short command
    program = importlib.import_module("program")
    gc.freeze()
    gc.enable()
    program.main()


if __name__ == "__main__":
    main()
