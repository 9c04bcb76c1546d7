# ruff: noqa: INP001  # a folder of files, not a package
"""Install a lock file with pip and show progress, one package at a time. Run: python deploy/install.py LOCK."""

import subprocess
import sys

# --no-deps: the lock file has every package. pip looks for what is needed with an extra, as google-auth[requests],
# apart from its pin, and refuses a newer version because its hash is missing.
PIP = (sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-color")
LOCKED = ("--require-hashes", "--no-deps", "--progress-bar", "off", "-r")


def main(lock: str) -> int:
    """Return pip's exit code; show its whole output if that is not 0."""
    said, found, ends = [], 0, "\r" if sys.stdout.isatty() else "\n"
    command = (*PIP, *LOCKED, lock)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as pip:  # noqa: S603
        assert pip.stdout is not None
        for line in pip.stdout:
            said.append(line)
            if line.startswith("Collecting "):
                found += 1
                show(f"  {found:3} {line.split()[1]}", ends)
            elif line.startswith("Installing "):
                show("  unpacking", "\n")
    if pip.returncode:
        sys.stderr.write("".join(said))
    return pip.returncode


def show(text: str, ends: str) -> None:
    """Write a line; on a terminal, over the one before."""
    sys.stdout.write(f"{text:<60}{ends}")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
