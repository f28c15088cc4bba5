"""Tacit beside the best tool for each job: the same data, the same run, alternating.

    python -m benchmarks --list
    python -m benchmarks kmeans             the table, and the section of RESULTS.md
    python -m benchmarks kmeans --quick     a tenth of the rows; RESULTS.md stays as it is

A benchmark is a module in a folder here, found by its file name, with a function
``cases(scale)`` that returns a list of ``harness.Case``. See ``cluster/kmeans.py``.
"""
