"""Runs a program as on Linux 5.10, without epoll_pwait2(2): a filter of system calls answers ENOSYS.
The library of `PRELOADED` is loaded into that program alone. Arguments: the program and its own."""

import ctypes
import os
import struct
import sys

EPOLL_PWAIT2 = 441
FILTER = [
    struct.pack("HBBI", 0x20, 0, 0, 0),  # load the number of the call
    struct.pack("HBBI", 0x15, 0, 1, EPOLL_PWAIT2),
    struct.pack("HBBI", 0x06, 0, 0, 0x00050000 | 38),  # SECCOMP_RET_ERRNO, ENOSYS
    struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000),  # SECCOMP_RET_ALLOW
]
code = ctypes.create_string_buffer(b"".join(FILTER))
program = struct.pack("HxxxxxxQ", len(FILTER), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0) != 0:
    sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")
os.environ["LD_PRELOAD"] = os.environ.pop("PRELOADED")
os.execv(sys.argv[1], sys.argv[1:])
