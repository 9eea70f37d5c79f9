"""Memory that a network's layers free is kept for the next batch, and not returned to the system and cleared anew.

glibc returns blocks above 128 kB at once, and the next batch pays for every page of them again: a quarter of a forward
pass, and more for a small network. No number depends on it. Only processes that are our own ask for it, the command and
the workers of a cluster: in another program's process the allocator is not ours to set.
"""

import ctypes
import functools
import os

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of malloc.h
_MOST = 1 << 30  # larger blocks are still returned
_OWN = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")


@functools.cache
def keep_freed_memory() -> bool:
    """Ask the allocator for it, once in a process; False where it has no such setting or the user has made it.

    What a process once took it then keeps until it ends; its peak may be a tenth higher.
    """
    if any(name in os.environ for name in _OWN):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # no glibc
        return False
    return bool(mallopt(_MMAP_THRESHOLD, _MOST)) and bool(mallopt(_TRIM_THRESHOLD, _MOST))
