"""Amounts of memory: parsed, printed, and checked before hours are spent."""

import os
import re
import sys
from pathlib import Path

__all__ = [
    "available_memory", "check_memory", "format_bytes", "gigabytes", "parse_memory",
    "peak_memory", "resident_memory", "trim_memory",
]  # fmt: skip

USABLE = 0.9  # fraction of the free memory that one request may take


def check_memory(need: float, what: str, way_out: str) -> None:
    """ValueError if ``need`` bytes are not available.

    >>> check_memory(8e15, "average linkage of 32,000,000 rows", "Use fewer rows.")
    Traceback (most recent call last):
        ...
    ValueError: average linkage of 32,000,000 rows needs 8,000,000 GB of memory, ... Use ...
    """
    free = available_memory()
    if need > USABLE * free:
        raise ValueError(
            f"{what} needs {gigabytes(need)} of memory, but {gigabytes(free)} are free. "
            f"{way_out}"
        )


def parse_memory(memory: int | float | str | None) -> int | None:
    """Bytes of a limit, which is a number or text such as "2GB"; None for no limit.

    >>> parse_memory("2GB"), parse_memory("512 MiB"), parse_memory(1e9), parse_memory(None)
    (2000000000, 536870912, 1000000000, None)
    """
    if memory is None:
        return None
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", str(memory).lower())
    if isinstance(memory, bool) or (isinstance(memory, str) and not match):
        raise ValueError(f"memory={memory!r} is not an amount of memory. Give bytes, or '2GB'.")
    if isinstance(memory, str) and match:
        base = 1024 if match[3] else 1000
        size = float(match[1]) * base ** " kmgt".index(match[2] or " ")
    else:
        size = float(memory)
    if not 0 < size < 2**63:
        raise ValueError(f"memory={memory!r} must be above 0 bytes.")
    return int(size)


def format_bytes(size: float) -> str:
    """
    >>> format_bytes(1), format_bytes(300), format_bytes(4_200_000), format_bytes(5.15e9)
    ('1 byte', '300 bytes', '4.2 MB', '5.2 GB')
    """
    if size < 1000:
        return "1 byte" if round(size) == 1 else f"{size:.0f} bytes"
    for limit, unit in ((1e6, "kB"), (1e9, "MB"), (1e12, "GB")):
        if size < limit:
            value = size / limit * 1000
            return f"{value:.0f} {unit}" if value >= 100 else f"{value:.1f} {unit}"
    return f"{size / 1e12:.1f} TB"


def gigabytes(size: float) -> str:
    """
    >>> gigabytes(3.2e9), gigabytes(8e12)
    ('3.2 GB', '8,000 GB')
    """
    return f"{size / 1e9:,.1f} GB" if size < 1e11 else f"{size / 1e9:,.0f} GB"


def available_memory() -> float:
    """Bytes available without swapping: of the machine, or of the container we are in."""
    limits = []
    if hasattr(os, "sysconf"):
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    machine = numbers("/proc/meminfo")
    if "MemAvailable:" in machine:
        limits.append(1024 * machine["MemAvailable:"])
    limit, used = read("/sys/fs/cgroup/memory.max"), read("/sys/fs/cgroup/memory.current")
    if limit.isdigit() and used.isdigit():
        cached = numbers("/sys/fs/cgroup/memory.stat").get("inactive_file", 0)
        limits.append(int(limit) - int(used) + cached)
    return float(max(0, min(limits))) if limits else float("inf")


def resident_memory() -> int:
    """Bytes of memory that this process uses; where that is unknown, the most it ever used."""
    now = numbers("/proc/self/status").get("VmRSS:")
    return peak_memory() if now is None else 1024 * now


def peak_memory() -> int:
    """The most bytes of memory that this process ever used; 0 where that is unknown."""
    most = numbers("/proc/self/status").get("VmHWM:")
    if most is not None:
        return 1024 * most
    try:
        import resource
    except ImportError:  # Windows
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def trim_memory() -> None:
    """Return freed memory to the system, where the C library has a call for it."""
    import ctypes

    if sys.platform == "linux":
        getattr(ctypes.CDLL(None), "malloc_trim", lambda pad: None)(0)


def numbers(path: str) -> dict[str, int]:
    """Lines of a name and a number."""
    lines = [line.split() for line in read(path).splitlines()]
    return {words[0]: int(words[1]) for words in lines if words[1:2] and words[1].isdigit()}


def read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
