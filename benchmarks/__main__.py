"""``python -m benchmarks [NAME ...]``: run, print, and keep the results."""

import argparse
import ast
import importlib
import json
import re
import signal
import sys
from pathlib import Path
from typing import Any

from benchmarks import machine, report
from benchmarks.harness import Case, CaseResult, run_case, scratch

BASICS = ["tacit-learn", "numpy", "scipy", "numba"]


def main(arguments: list[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    known = discover()
    if options.list:
        for name, module in known.items():
            print(f"{name:24} {summary(module).splitlines()[0]}")
        return 0
    unknown = [name for name in options.names if name not in known]
    if unknown:
        print(f"No benchmark {unknown}; there are {', '.join(known)}.", file=sys.stderr)
        return 2
    if options.repeats < 1 or options.threads < 1:
        print("--repeats and --threads must be at least 1.", file=sys.stderr)
        return 2
    passed, record = True, {}
    for name in options.names or known:
        cases = importlib.import_module(known[name]).cases(options.scale)
        chosen = [case for case in cases if re.search(options.case, case.name)]
        about, facts = summary(known[name]), describe_run(chosen, options)
        results = run(name, about, facts, chosen, options)
        body = report.render(name, about, facts, results)
        if options.scale == 1 and len(chosen) == len(cases):
            report.write_section(name, body, options.results)
        record[name] = {**facts, "cases": [report.to_json(result) for result in results]}
        passed = passed and bool(results) and all(result.passed for result in results)
    if options.json == "-":
        print(json.dumps(record, indent=1))
    elif options.json:
        Path(options.json).write_text(json.dumps(record, indent=1), encoding="utf8")
    return 0 if passed else 1


def parser() -> argparse.ArgumentParser:
    out = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Run Tacit and its rivals in turns on the same data. Installs nothing. "
        "Ends with status 1 when a target, a quality or a check is missed.",
    )
    add = out.add_argument
    add("names", nargs="*", metavar="NAME", help="benchmarks to run; all when none is named")
    add("--list", action="store_true", help="list the benchmarks and stop")
    add("--quick", dest="scale", action="store_const", const=0.1, default=1.0,
        help="a tenth of the data; RESULTS.md is left alone")  # fmt: skip
    add("--scale", type=float, help="share of the data, between 0 and 1; as --quick")
    add("--repeats", type=int, default=3, help="timed runs of each contender (3)")
    add("--threads", type=int, default=machine.cores(), help="threads for every contender")
    add("--case", default="", metavar="REGEX",
        help="only cases whose name this matches; RESULTS.md is left alone")  # fmt: skip
    add("--json", metavar="FILE", help="also write every figure as JSON; - for standard output")
    add("--results", type=Path, default=report.RESULTS, help=argparse.SUPPRESS)
    return out


def discover() -> dict[str, str]:
    """The benchmarks by name: the modules in the folders beside this file."""
    home = Path(__file__).parent
    files = sorted(home.glob("*/*.py"), key=lambda path: path.stem)
    return {f.stem: f"benchmarks.{f.parent.name}.{f.stem}" for f in files if f.stem[0] != "_"}


def summary(module: str) -> str:
    """The first paragraph of a module's docstring, without importing it."""
    path = Path(__file__).parents[1] / (module.replace(".", "/") + ".py")
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf8"))) or ""
    return text.split("\n\n", 1)[0]


def run(
    name: str, about: str, facts: dict[str, Any], cases: list[Case], options: argparse.Namespace
) -> list[CaseResult]:
    """Run the cases, printing each as soon as it is done."""

    def show(text: str) -> None:
        print(text, file=sys.stderr if options.json == "-" else sys.stdout, flush=True)

    def say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    results = []
    show(report.heading(name, about, facts))
    with scratch() as cache:  # kernels compile afresh in every run
        for case in cases:
            say(f"{name}: {case.name}")
            result = run_case(
                case,
                repeats=options.repeats,
                threads=options.threads,
                cache=cache,
                cold=case is cases[0],
                say=say,
            )
            results.append(result)
            show(report.case_section(result))
    return results


def describe_run(cases: list[Case], options: argparse.Namespace) -> dict[str, Any]:
    rivals = [contender.install for case in cases for contender in case.contenders]
    found = machine.versions(list(dict.fromkeys(BASICS + rivals)))
    return {
        "date": report.now(),
        "machine": machine.describe(),
        "versions": ", ".join(f"{name} {number}" for name, number in found.items()),
        "runs": f"{options.repeats} of each contender in turns, {options.threads} threads"
        + ("" if options.scale == 1 else f", {options.scale:g} of the data"),
    }


if __name__ == "__main__":
    # A terminated run removes its large files too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("Interrupted; RESULTS.md has no part of this run.", file=sys.stderr)
        sys.exit(130)
