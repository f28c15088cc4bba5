"""Compiled code is kept where only its user can write, mended, and never stale."""

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import typeof

from tacit.core.kernel import kernel, read_sealed, sealed

pytestmark = pytest.mark.slow  # processes of their own, and long documents

BASE = """
from tacit.core.kernel import kernel

@kernel
def base(x):
    return x + {step}
"""
CALLER = """
from base_kernels import base
from tacit.core.kernel import kernel

@kernel
def twice(x):
    return 2 * base(x)

if __name__ == "caller_kernels":
    result = twice(1)
    from_cache = bool(twice.stats.cache_hits)
"""

CHAIN = """
@kernel(fastmath={"reassoc"})
def total(x):
    s = 0.0
    for each in x:
        s += each
    return s

@kernel
def middle(x):
    return total(x) + 0.0

@kernel
def strict(x):
    s = 0.0
    for each in x:
        s += each
    return s

@kernel
def outer(x):
    return middle(x) + strict(x)
"""


def execute(folder, cache, step=10):
    """Run the two modules in a process of its own: (result, came from the cache)."""
    base, source = folder / "base_kernels.py", BASE.format(step=step)
    if not base.exists() or base.read_text() != source:
        base.write_text(source)
        (folder / "caller_kernels.py").write_text(CALLER)
    code = "import caller_kernels as c; print(c.result, c.from_cache)"
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "TACIT_CACHE": str(cache), "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    result, from_cache = done.stdout.split()
    return int(result), from_cache == "True"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The folder of the two modules, and of the cache that their first run filled."""
    folder = tmp_path_factory.mktemp("compiled")
    assert execute(folder, folder / "cache") == (22, False)
    return folder


@pytest.fixture
def run_again(compiled, tmp_path):
    """Run the two modules on a copy of that cache, which may be damaged."""
    shutil.copytree(compiled / "cache", tmp_path / "cache")
    return lambda: execute(compiled, tmp_path / "cache")


def entries(folder: Path) -> list[Path]:
    return [each for each in folder.rglob("*") if each.is_file()]


def test_machine_code_is_kept_for_the_next_process(compiled):
    assert execute(compiled, compiled / "cache") == (22, True)
    assert (compiled / "cache").stat().st_mode & 0o077 == 0
    assert not list(compiled.rglob("__pycache__/*.nbi"))


def test_what_kernels_call_has_no_wrapper_until_python_calls_it(monkeypatch):
    monkeypatch.setattr("tacit.core.kernel.cache_folder", lambda: None)
    monkeypatch.setenv("TACIT_ANNOUNCE", "0")

    @kernel
    def base(x):
        return x + 10

    @kernel
    def twice(x):
        return 2 * base(x)

    def wrapped(dispatcher):
        return [
            each.fndesc.llvm_cpython_wrapper_name in each.library.get_llvm_str()
            for each in dispatcher.overloads.values()
        ]

    assert twice(1) == 22
    assert (wrapped(base), wrapped(base.inner)) == ([], [False])
    assert base(1) == 11
    assert wrapped(base) == [True]


def test_nothing_that_is_compiled_with_a_kernel_inherits_its_fastmath(monkeypatch):
    """Numba would use that version wherever the same function is called from then on."""
    monkeypatch.setattr("tacit.core.kernel.cache_folder", lambda: None)
    monkeypatch.setenv("TACIT_ANNOUNCE", "0")

    @kernel
    def strict(x, n):
        total = 0.0
        for each in x:
            total += each**n
        return total + x.sum()

    @kernel(fastmath=True)
    def fast(x, n):
        total = 0.0
        for each in x:
            total += each**n
        return total + x.sum() + strict(x, n)

    def flagged(dispatcher):
        code = [each.library.get_llvm_str() for each in dispatcher.overloads.values()]
        assert len(code) == 1
        return " fast " in code[0]

    x = np.arange(100.0)
    assert fast(x, 3) == 2 * strict(x, 3)
    assert flagged(fast)
    assert not flagged(strict)
    assert not flagged(strict.inner)


def test_kernels_that_inline_fastmath_are_inlined_themselves(monkeypatch):
    """A copy of them in a caller would be optimized again, and might add in another order."""
    monkeypatch.setattr("tacit.core.kernel.cache_folder", lambda: None)
    monkeypatch.setenv("TACIT_ANNOUNCE", "0")
    scope = {"kernel": kernel}
    exec(CHAIN, scope)
    x = np.arange(100.0)
    assert scope["outer"](x) == 2 * x.sum()
    inlined = {
        name: "alwaysinline" in scope[name].inner.overloads[typeof(x),].library.get_llvm_str()
        for name in ("total", "middle", "strict")
    }
    assert inlined == {"total": True, "middle": True, "strict": False}


@pytest.mark.parametrize("safe", [True, False])
def test_the_first_compilation_is_announced_once_in_a_process(tmp_path, safe):
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    cache.chmod(0o700 if safe else 0o777)
    (tmp_path / "base_kernels.py").write_text(BASE.format(step=1))
    (tmp_path / "caller_kernels.py").write_text(CALLER)

    def stderr(announce="1"):
        environment = {
            **os.environ, "TACIT_CACHE": str(cache), "TACIT_ANNOUNCE": announce,
            "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        }  # fmt: skip
        code = "import caller_kernels, base_kernels as b; b.base(1.5)"
        return subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True
        ).stderr

    assert stderr("0") == ""
    for entry in entries(cache):
        entry.unlink()
    said = stderr()
    assert said.startswith("Compiling for this processor")
    assert said.count("\n") == 1
    assert str(cache) in said
    assert ("TACIT_CACHE" in said) is not safe
    assert (stderr() == "") is safe  # from the cache, the second time


def test_a_change_in_an_imported_kernel_is_noticed(tmp_path):
    assert execute(tmp_path, tmp_path / "cache", step=10) == (22, False)
    assert execute(tmp_path, tmp_path / "cache", step=20)[0] == 42


@pytest.mark.parametrize(
    "harm",
    [lambda data: data[: len(data) // 2], lambda data: b"\x00" * 40],
    ids=["cut", "zero"],
)
def test_a_damaged_entry_is_rebuilt(run_again, tmp_path, harm):
    for entry in entries(tmp_path / "cache"):
        entry.write_bytes(harm(entry.read_bytes()))
    assert run_again() == (22, False)
    assert run_again() == (22, True)


def flip_a_bit(path, draw):
    content = bytearray(path.read_bytes())
    place = draw.randrange(8 * len(content))
    content[place // 8] ^= 1 << place % 8
    path.write_bytes(content)


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_an_entry_with_a_flipped_bit_is_not_executed_but_compiled_again(
    run_again, tmp_path, suffix
):
    """One in forty flipped bits in machine code used to end in a signal."""
    draw = random.Random(0)
    for _ in range(3):
        damaged = [e for e in entries(tmp_path / "cache") if e.suffix == suffix]
        for entry in damaged:
            flip_a_bit(entry, draw)
        assert damaged
        assert run_again() == (22, False)
    assert run_again() == (22, True)


def test_every_flipped_bit_of_an_entry_is_found_before_it_is_unpickled(tmp_path):
    path, content = tmp_path / "entry", sealed(("code", list(range(300))))
    path.write_bytes(content)
    assert read_sealed(str(path)) == ("code", list(range(300)))
    with path.open("r+b", buffering=0) as file:  # a file written anew each time takes seconds
        for bit in range(8 * len(content)):
            os.pwrite(file.fileno(), bytes([content[bit // 8] ^ 1 << bit % 8]), bit // 8)
            with pytest.raises(ValueError, match="is damaged"):
                read_sealed(str(path))
            os.pwrite(file.fileno(), content[bit // 8 : bit // 8 + 1], bit // 8)
    assert read_sealed(str(path)) == ("code", list(range(300)))


def test_a_folder_that_others_can_write_to_is_not_used(compiled, tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    assert execute(compiled, shared) == (22, False)
    assert entries(shared) == []


def test_a_process_that_compiles_gives_the_bits_of_one_that_does_not(tmp_path):
    """The kernels of the silhouette call others that may add in any order (fastmath)."""
    code = (
        "import numpy as np; from tacit.measure import silhouette_score; "
        "X = np.random.default_rng(0).normal(size=(400, 64)); "
        "print([silhouette_score(X, np.arange(400) % k).hex() for k in (2, 3, 4, 5, 6)])"
    )
    environment = {**os.environ, "TACIT_CACHE": str(tmp_path / "cache"), "TACIT_ANNOUNCE": "1"}
    cold, warm = (
        subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True
        )
        for _ in range(2)
    )
    assert "Compiling" in cold.stderr
    assert "Compiling" not in warm.stderr
    assert cold.stdout == warm.stdout != ""
