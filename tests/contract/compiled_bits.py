"""Fits that run every kernel with fastmath; prints their digests, for ``test_compiled_bits``.

    python -m tests.contract.compiled_bits [backwards] [close]

With ``backwards`` the fits run in the opposite order, so that kernels are compiled in another
order. With ``close`` all kernels are compiled anew, and of every loop that LLVM compiles twice,
for arrays that may overlap and for arrays that do not, only the former is left: it runs where
arrays happen to be close in memory.
"""

import hashlib
import json
import pkgutil
import re
import sys
import warnings
from functools import partial
from importlib import import_module

import llvmlite.binding as llvm
import numpy as np
from numba.core.codegen import CPUCodeLibrary

import tacit
from tacit import measure
from tacit.cluster import KMeans, KMedoids, MiniBatchKMeans, choose_k
from tacit.core import kernel
from tacit.core.registry import find_class
from tacit.decompose import MDS
from tacit.topics import GibbsLDA, LatentDirichletAllocation
from tests.contract.cases import TEXTS, blobs, documents, triples

FLAG = re.compile(r"= f(add|sub|mul|div|cmp) .*\b(fast|reassoc)\b")
OVERLAP = re.compile(r'(%"?(?:found\.conflict|diff\.check)(\.not)?[^ ]*) = .*')


def fit(kind, *data, then=None, **params):
    """Digests of what is fitted and, with ``then``, of what that method gives."""
    known = kind().get_params() if kind is not GibbsLDA else {"random_state"}
    seed = {"random_state": 0} if "random_state" in known else {}
    model = kind(**params, **seed).fit(*data)
    fitted = [vars(model)[name] for name in sorted(vars(model)) if name.endswith("_")]
    return [*fitted, getattr(model, then)(data[0])] if then else fitted


def cases():
    """Fits wide enough for SIMD."""
    for dtype in (np.float64, np.float32):
        rows, labels = blobs(500, d=20).astype(dtype), np.arange(500) % 4
        name = dtype.__name__
        for score in ("silhouette_samples", "davies_bouldin_score", "calinski_harabasz_score"):
            yield f"{score} {name}", partial(getattr(measure, score), rows, labels)
        three = np.repeat(np.eye(3) * 9, 20, 0) + np.random.default_rng(0).normal(size=(60, 3))
        yield (
            f"MiniBatchKMeans {name}",
            partial(  # whose iterations depend on last bits
                fit, MiniBatchKMeans, three.astype(dtype), n_clusters=3, n_init=10
            ),
        )
        yield f"KMeans {name}", partial(fit, KMeans, rows, n_clusters=40)
        yield f"KMedoids {name}", partial(fit, KMedoids, rows, n_clusters=6)
        yield f"MDS {name}", partial(fit, MDS, rows[:300], max_iter=5, then="place")
        yield f"choose_k {name}", partial(table_of_k, rows)
    counts, classes = documents(n=200, v=120)
    for factors in (16, 40):
        ratings = triples()
        for kind, params in [
            ("ALS", {}), ("ALS", {"nonnegative": True, "bias": False}),
            ("ImplicitALS", {"solver": "cg"}), ("ImplicitALS", {"solver": "cholesky"}),
            ("BiasedSGD", {"n_epochs": 3}),
        ]:  # fmt: skip
            name = f"{kind} {factors} {params}"
            kind = find_class(kind)
            yield name, partial(fit, kind, *ratings, n_factors=factors, **params)
    for topics in (40, 600):
        yield (
            f"GibbsLDA {topics}",
            partial(fit, GibbsLDA, counts, n_components=topics, max_iter=5),
        )
    yield (
        "LDA",
        partial(
            fit,
            LatentDirichletAllocation,
            counts,
            n_components=40,
            max_iter=3,
            then="score_documents",
        ),
    )
    online = find_class("PassiveAggressiveClassifier")
    yield "PassiveAggressiveClassifier", partial(fit, online, counts, classes)
    yield "KMeans, sparse", partial(fit, KMeans, counts, n_clusters=5)
    for objective in ("negative-sampling", "hierarchical-softmax", "softmax"):
        for sg in (0, 1):
            yield f"Word2Vec {objective} {sg}", partial(
                fit, find_class("Word2Vec"), TEXTS, vector_size=48, min_count=1, epochs=1,
                sg=sg, objective=objective,
            )  # fmt: skip


def table_of_k(rows):
    return str(choose_k(rows, range(1, 5), random_state=0).table)


def digest(value):
    h = hashlib.blake2b(digest_size=8)
    for each in value if isinstance(value, list | tuple) else [value]:
        array = np.asarray(getattr(each, "vectors", each))  # of WordVectors
        h.update(repr(each).encode() if array.dtype == object else array.tobytes())
    return h.hexdigest()


def forget_that_arrays_are_apart():
    """Have the checks of LLVM find that arrays may overlap; the number of checks so far."""
    changed = [0]
    optimize = CPUCodeLibrary._optimize_final_module

    def with_overlap(library):
        optimize(library)
        code, checks = OVERLAP.subn(overlapping, str(library._final_module))
        if checks:
            name = library._final_module.name
            library._final_module = llvm.parse_assembly(code)
            library._final_module.name = name
            changed[0] += checks

    CPUCodeLibrary._optimize_final_module = with_overlap
    return changed


def overlapping(check):
    return f"{check[1]} = or i1 false, {'false' if check[2] else 'true'}"


def all_kernels():
    for module in pkgutil.walk_packages(tacit.__path__, "tacit."):
        if not module.name.startswith(
            ("tacit.neural", "tacit.plot")
        ):  # extras, without kernels
            for value in vars(import_module(module.name)).values():
                if isinstance(value, kernel.Kernel):
                    yield value


def may_reassociate(dispatcher):
    codes = [compiled.library.get_llvm_str() for compiled in dispatcher.overloads.values()]
    return any(FLAG.search(code) for code in codes)


def main():
    warnings.simplefilter("ignore")
    changed = None
    if "close" in sys.argv:
        kernel.cache_folder = lambda: None
        changed = forget_that_arrays_are_apart()
    order = list(cases())
    digests = {
        name: digest(run()) for name, run in order[:: -1 if "backwards" in sys.argv else 1]
    }
    report = {"digests": digests, "changed": changed}
    with_fastmath = {value for value in all_kernels() if value.fastmath}
    report["unused"] = [
        value.__name__
        for value in with_fastmath
        if not (value.overloads or value.inner.overloads)
    ]
    if changed:
        report["inherited"] = [
            value.__name__
            for value in set(all_kernels())
            if not value.reassociates
            and (may_reassociate(value) or may_reassociate(value.inner))
        ]
    print(json.dumps(report))


if __name__ == "__main__":
    main()
