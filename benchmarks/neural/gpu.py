"""The same training on the CPU and, where JAX sees one, on a GPU.

    python -m benchmarks.neural.gpu --out FILE      a table in Markdown, and FILE as JSON

Three networks on digits (generated ones where TACIT_DATA is absent): the autoencoder of Hinton
and Salakhutdinov, a restricted Boltzmann machine and a Wasserstein GAN. The time of a pass is
the median of the passes after the first, which compiles. The GPU makes more passes, so its last
loss may be lower.
"""

import argparse
import json
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks import machine
from benchmarks.data import digits
from benchmarks.harness import Answer, Case, Contender, Data

__all__ = ["cases", "main"]

NETWORKS = {
    "autoencoder 784-1000-500-250-30": "Autoencoder",
    "RBM, 784 x 1000": "RBM",
    "Wasserstein GAN, 784-512-512": "GAN",
}
PASSES = {"cpu": 3, "gpu": 6}


def cases(scale: float) -> list[Case]:
    """Where there is a GPU, both devices as contenders."""
    if "gpu" not in devices():
        return []
    n = max(1_000, int(60_000 * scale))
    return [
        Case(
            f"{n:,} digits, {name}",
            partial(rows, n, name),
            (
                Contender("Tacit on the GPU", partial(contend, device="gpu")),
                Contender("Tacit on the CPU", partial(contend, device="cpu"), rival="cpu"),
            ),
            lambda data, answer: float(answer["loss"]),
            measure="loss",
            tolerance=0.05,
            targets={"cpu": 2.0},
            repeats=1,
        )
        for name in NETWORKS
    ]


def rows(n: int, name: str, folder: Path) -> Data:
    X, origin = digits(n)
    low, high = float(X.min()), float(X.max())
    return {"X": (X - low) / (high - low), "name": name, "about": origin}


def contend(data: Data, threads: int, *, device: str) -> Answer:
    return train(data["name"], data["X"], device, passes=3)


def train(name: str, X: np.ndarray, device: str, *, passes: int) -> dict[str, float]:
    """Train one of the networks; the seconds of a pass, and of the first one."""
    from tacit import neural

    ends = [time.perf_counter()]

    def clock(step: Any) -> None:
        ends.append(time.perf_counter())

    settings = {
        "Autoencoder": {"layers": (1000, 500, 250, 30), "batch_size": 256},
        "RBM": {"n_components": 1000, "batch_size": 128},
        "GAN": {"n_latent": 64, "generator": (512, 512), "discriminator": (512, 512),
                "output": "sigmoid", "batch_size": 256},
    }[NETWORKS[name]]  # fmt: skip
    model = getattr(neural, NETWORKS[name])(
        **settings, max_iter=passes, device=device, random_state=0, callbacks=[clock]
    )
    model.fit(X)
    spans = np.diff(ends).tolist()
    return {
        "pass": median(spans[1:] or spans), "first": spans[0], "passes": passes,
        "loss": model.losses_[-1],
    }  # fmt: skip


def devices() -> list[str]:
    """The kinds of devices that JAX sees, the CPU first."""
    from tacit.neural.layers import jax

    found = ["cpu"]
    try:
        if jax.devices("gpu"):
            found.append("gpu")
    except RuntimeError:
        pass
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run every network on every device; print a table, and write all figures to a file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.neural.gpu")
    parser.add_argument("--out", type=Path, required=True, help="JSON file to write")
    parser.add_argument("--rows", type=int, default=60_000, help="digits to train on (60000)")
    options = parser.parse_args(arguments)
    from tacit.neural.layers import jax

    kinds = devices()
    names = {kind: str(jax.devices(kind)[0].device_kind) for kind in kinds}
    record: dict[str, Any] = {
        "machine": machine.describe(), "jax": jax.__version__, "devices": names, "networks": {},
    }  # fmt: skip
    print(f"{record['machine']}; JAX {jax.__version__}; {names}", flush=True)
    print("| network | device | pass s | first s | loss | CPU / GPU |", flush=True)
    print("| --- | --- | --- | --- | --- | --- |", flush=True)
    for name in NETWORKS:
        data = rows(options.rows, name, Path())
        record["data"] = f"{len(data['X']):,} x 784, {data['about']}"
        results: dict[str, Any] = {}
        for kind in kinds:
            results[kind] = train(name, data["X"], kind, passes=PASSES[kind])
            found = results[kind]
            ratio = results["cpu"]["pass"] / found["pass"]
            print(
                f"| {name} | {kind} | {found['pass']:.3f} | {found['first']:.2f} | "
                f"{found['loss']:.5g} | {ratio:.1f} |", flush=True,
            )  # fmt: skip
            record["networks"][name] = results
            options.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
