"""``python -m benchmarks.first_call``: what the first call of a command compiles.

Runs each command in a new process with an empty folder of kernels and again with what that run
cached, and prints the seconds of both, and how much more processor time the first took, which
other work on the machine hardly changes. With ``--kernels`` it lists what was compiled: the
seconds of each kernel without those of the kernels it calls, and every signature, so that a
kernel that is compiled for two dtypes, layouts or widths shows; of Numba's own functions also
the kernel that called for them. The documents are docstrings of installed packages, the rows
scikit-learn's digits.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

COMMANDS = {
    "counts": ["counts", "documents.csv"],
    "cluster": ["cluster", "digits.csv"],
    "classify": ["classify", "train", "documents.csv", "--out", "{out}.safetensors"],
    "lm": ["lm", "train", "text.txt", "--out", "{out}.safetensors"],
    "explore": ["explore", "documents.csv", "--out", "{out}.tacit"],
}
TARGETS = {"counts": 8, "cluster": 12, "classify": 15, "lm": 10, "explore": 25}


def write_inputs(folder: Path) -> None:
    import csv

    import numpy as np
    from sklearn.datasets import load_digits

    from tacit.datasets import docstrings

    found = docstrings(limit=2_000)
    texts = found.documents or []
    with (folder / "documents.csv").open("w", encoding="utf8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "label"])
        rows.writerows(zip(texts, found.metadata["package"], strict=True))
    lines = [line for text in texts for line in text.splitlines() if line.strip()]
    (folder / "text.txt").write_text("\n".join(lines), encoding="utf8")
    digits = load_digits().data
    header = ",".join(f"pixel{j}" for j in range(digits.shape[1]))
    np.savetxt(folder / "digits.csv", digits, "%g", ",", header=header, comments="")


# --- In the process of the command ---


@contextmanager
def recording(compiled: list[dict[str, Any]]) -> Iterator[None]:
    """Note each compilation with its seconds, less those of compilations inside it.

    Numba compiles one function at a time, so that one stack serves all threads.
    """
    from numba.core import event

    inside: list[float] = [0.0]
    callers: list[str] = []

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            inside.append(0.0)
            callers.append(name_of(event))
            starts.append(time.thread_time())

        def on_end(self, event: Any) -> None:
            seconds = time.thread_time() - starts.pop()
            nested = inside.pop()
            inside[-1] += seconds
            callers.pop()
            ours = [name for name in callers if not name.startswith("numba.")]
            compiled.append({
                "kernel": name_of(event),
                "caller": ours[-1] if ours else "",
                "signature": ", ".join(map(str, event.data["args"])),
                "seconds": seconds - nested,
            })  # fmt: skip

    def name_of(event: Any) -> str:
        function = event.data["dispatcher"].py_func
        return f"{function.__module__}.{function.__qualname__}"

    starts: list[float] = []
    with event.install_listener("numba:compile", Listener()):
        yield


def run_command(out: str, arguments: list[str]) -> int:
    from tacit.cli.main import main

    compiled: list[dict[str, Any]] = []
    with recording(compiled):
        code = main(arguments)
    Path(out).write_text(json.dumps(compiled), encoding="utf8")
    return code


# --- The command ---


def measure(name: str, inputs: Path) -> dict[str, Any]:
    """Seconds of the first call and of the second, and what the first compiled."""
    result: dict[str, Any] = {"name": name}
    with tempfile.TemporaryDirectory() as folder:
        for run in ("cold", "warm"):
            arguments = [each.format(out=f"{folder}/{run}") for each in COMMANDS[name]]
            record = f"{folder}/{run}.json"
            start, before = time.perf_counter(), processor_seconds()
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.first_call", "--run", record, *arguments],
                cwd=inputs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                env={
                    **os.environ,
                    "TACIT_CACHE": f"{folder}/kernels",
                    "PYTHONPATH": os.pathsep.join([*filter(None, sys.path), os.getcwd()]),
                },
            )  # fmt: skip
            result[run] = time.perf_counter() - start
            result[f"{run} processor"] = processor_seconds() - before
            if done.returncode:
                raise SystemExit(done.stdout)
            result[f"{run} kernels"] = json.loads(Path(record).read_text("utf8"))
    return result


def processor_seconds() -> float:
    """Of the processes started here that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def show_kernels(result: dict[str, Any]) -> None:
    kernels: dict[str, list[dict[str, Any]]] = {}
    for each in result["cold kernels"]:
        kernels.setdefault(each["kernel"], []).append(each)

    def total(name: str) -> float:
        return float(sum(each["seconds"] for each in kernels[name]))

    for name in sorted(kernels, key=total, reverse=True):
        times = f" in {len(kernels[name])} variants" if len(kernels[name]) > 1 else ""
        print(f"{total(name):7.2f} s  {name}{times}")
        for each in kernels[name]:
            caller = f"  for {each['caller']}" if name.startswith("numba.") else ""
            print(f"             {each['seconds']:5.2f} s  ({each['signature']}){caller}")
    again = [each["kernel"] for each in result["warm kernels"]]
    if again:
        print(f"compiled again by the second call: {', '.join(again)}")


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--run"]:
        return run_command(arguments[1], arguments[2:])
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.first_call", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("commands", nargs="*", metavar="WORD", help=", ".join(COMMANDS))
    parser.add_argument("--kernels", action="store_true", help="list what was compiled")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        write_inputs(Path(folder))
        print("command     first  second    more  processor  target  kernels  variants")
        for name in options.commands or COMMANDS:
            result = measure(name, Path(folder))
            more = result["cold"] - result["warm"]
            work = result["cold processor"] - result["warm processor"]
            compiled = result["cold kernels"]
            print(
                f"{name:9} {result['cold']:7.1f} {result['warm']:7.1f} {more:7.1f} "
                f"{work:10.1f} {TARGETS[name]:7} "
                f"{len({each['kernel'] for each in compiled}):8} {len(compiled):9}",
                flush=True,
            )
            if options.kernels:
                show_kernels(result)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
