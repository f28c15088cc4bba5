"""Whether something fits in memory, before hours are spent on it."""

import os
from pathlib import Path

__all__ = ["available_memory", "check_memory", "gigabytes"]

SHARE = 0.9  # of the free memory one thing may take


def check_memory(need: float, what: str, way_out: str) -> None:
    """ValueError if ``need`` bytes are not to be had.

    >>> check_memory(8e15, "average linkage of 32,000,000 rows", "Use fewer rows.")
    Traceback (most recent call last):
        ...
    ValueError: average linkage of 32,000,000 rows needs 8,000,000 GB of memory, ... Use ...
    """
    free = available_memory()
    if need > SHARE * free:
        raise ValueError(
            f"{what} needs {gigabytes(need)} of memory, but {gigabytes(free)} are free. "
            f"{way_out}"
        )


def gigabytes(size: float) -> str:
    """
    >>> gigabytes(3.2e9), gigabytes(8e12)
    ('3.2 GB', '8,000 GB')
    """
    return f"{size / 1e9:,.1f} GB" if size < 1e11 else f"{size / 1e9:,.0f} GB"


def available_memory() -> float:
    """Bytes to be had without swapping: of the machine, or of the container we are in."""
    found = []
    if hasattr(os, "sysconf"):
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    machine = numbers("/proc/meminfo")
    if "MemAvailable:" in machine:
        found.append(1024 * machine["MemAvailable:"])
    limit, used = read("/sys/fs/cgroup/memory.max"), read("/sys/fs/cgroup/memory.current")
    if limit.isdigit() and used.isdigit():
        cached = numbers("/sys/fs/cgroup/memory.stat").get("inactive_file", 0)
        found.append(int(limit) - int(used) + cached)
    return float(max(0, min(found))) if found else float("inf")


def numbers(path: str) -> dict[str, int]:
    """Lines of a name and a number."""
    words = [line.split() for line in read(path).splitlines()]
    return {each[0]: int(each[1]) for each in words if len(each) > 1 and each[1].isdigit()}


def read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
