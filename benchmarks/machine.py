"""What the machine is, how busy it is, and how much memory this process has used.

Memory is resident memory. On Linux the kernel keeps the highest value (VmHWM) and lets a
process reset it, so a peak is exact and not sampled. Elsewhere ``ru_maxrss`` stands in: it
cannot be reset, so growth is an upper bound.
"""

import ctypes
import gc
import os
import platform
import resource
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tacit._version import __version__

__all__ = [
    "available_memory", "busy_seconds", "cores", "describe", "peak_resident", "resident",
    "reset_peak", "versions",
]  # fmt: skip


def describe() -> str:
    """One line: processor, cores, memory, system."""
    return (
        f"{processor()}, {cores()} cores, {total_memory() / 2**30:.0f} GB memory, "
        f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    )


def versions(packages: list[str]) -> dict[str, str]:
    """The versions of the packages that are installed; Tacit may run from its source."""
    found = {}
    for name in packages:
        try:
            found[name] = __version__ if name == "tacit" else version(name)
        except PackageNotFoundError:
            continue
    return found


def processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown processor"


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def total_memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def available_memory() -> int:
    """Bytes that can be used without swapping; the whole memory where nobody says."""
    return kilobytes("/proc/meminfo", "MemAvailable") or total_memory()


def busy_seconds() -> float | None:
    """Processor seconds spent by everybody since the machine started, or None."""
    stat = Path("/proc/stat")
    if not stat.exists():
        return None
    user, nice, system, _idle, _wait, irq, softirq, steal = map(
        int, stat.read_text().split("\n", 1)[0].split()[1:9]
    )
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


# --- This process ---


def resident() -> int:
    """Bytes of this process in memory now."""
    return kilobytes("/proc/self/status", "VmRSS") or peak_resident()


def peak_resident() -> int:
    """The most bytes of this process in memory since the last ``reset_peak``."""
    unit = 1 if sys.platform == "darwin" else 1024
    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return kilobytes("/proc/self/status", "VmHWM") or highest


def reset_peak() -> int:
    """Hand freed memory back to the system, forget the peak, return what is resident."""
    gc.collect()
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)  # glibc keeps freed arrays below 32 MB
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return resident()


def kilobytes(path: str, key: str) -> int:
    """A line such as ``VmHWM:  1234 kB`` in bytes, or 0."""
    file = Path(path)
    if file.exists():
        for line in file.read_text().splitlines():
            if line.startswith(key + ":"):
                return int(line.split()[1]) * 1024
    return 0
