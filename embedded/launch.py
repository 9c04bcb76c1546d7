"""Become a program that dies with its parent: python -I -S launch.py SIGNAL PARENT UID GID REACH PROGRAM ARGUMENT...

The child itself must request the kernel's parent-death signal, between fork and exec. Doing that in a
`preexec_fn` runs Python in a fork of a process that has threads (Temporal's client starts some), where a lock held by
another thread stays locked forever; Python 3.12 warns of it. So a fresh interpreter does it, in 20 ms, and then
becomes the program: same pid, with no intermediate process that could die separately or use memory.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG, PR_SET_KEEPCAPS, PR_SET_SECUREBITS, PR_CAP_AMBIENT = 1, 8, 28, 47  # linux/prctl.h
PR_CAP_AMBIENT_RAISE = 2
CAP_VERSION_3, CAP_DAC_OVERRIDE = 0x20080522, 1  # linux/capability.h
SECBIT_NO_SETUID_FIXUP = 1 << 2  # linux/securebits.h


def main() -> None:
    """Prepare this process according to the arguments and replace it by the program."""
    death_signal, parent, uid, gid, reach = map(int, sys.argv[1:6])
    os.umask(0o077)  # what it writes is data: no other user reads it
    if uid != os.geteuid():
        become(uid, gid, reach=bool(reach))
    for ignored_by_python in (signal.SIGPIPE, signal.SIGXFSZ):  # an ignored signal would stay ignored across exec
        signal.signal(ignored_by_python, signal.SIG_DFL)
    if sys.platform == "linux":
        # After setuid, which clears it. Other systems have no such signal: a killed parent leaves its servers running.
        _checked(_libc().prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0))
    if os.getppid() != parent:
        sys.exit("the parent died first")
    os.execv(sys.argv[6], sys.argv[6:])  # noqa: S606 - no shell is wanted


def become(uid: int, gid: int, *, reach: bool) -> None:
    """Switch from root to user `uid`. With `reach`, keep the right to pass through folders closed to others."""
    libc = _libc() if reach else None
    if libc:
        _checked(libc.prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0))
        # access(2), by which initdb looks for its programs, else ignores what a user other than root may. A container
        # may forbid it; then the programs must be where that user reaches them.
        libc.prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0)
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)
    if libc:
        bit = 1 << CAP_DAC_OVERRIDE
        header = (ctypes.c_uint32 * 2)(CAP_VERSION_3, 0)
        sets = (ctypes.c_uint32 * 6)(bit, bit, bit, 0, 0, 0)  # effective, permitted, inheritable; low words first
        _checked(libc.capset(header, sets))
        _checked(libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_OVERRIDE, 0, 0))


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    main()
