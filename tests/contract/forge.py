"""Forge model files: change one value at random, make every checksum right, open, use.

    python -m tests.contract.forge --cases 500            every class, 500 forged files each
    python -m tests.contract.forge --only KMeans --seed 7
    python -m tests.contract.forge --seed each            every plain value in turn, no draws
    NUMBA_BOUNDSCHECK=1 python -m tests.contract.forge    kernels check their own indices

A forged file may be refused with ModelFileError, or open as a model that answers, or that
refuses a call with ValueError. Anything else is a finding: another exception, a signal, a hang,
memory without bound. Every case runs in a child process, which reports before it begins.
"""

import argparse
import copy
import inspect
import itertools
import json
import random
import resource
import select
import subprocess
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

import numpy as np

PATIENCE = 60  # seconds for one step
START = 900  # seconds for the first: kernels may have to be compiled
MEMORY = 12 * 2**30  # of addresses; Numba alone maps some
SKIPPED = {"fit", "fit_predict", "fit_transform", "save", "set_callbacks", "set_params"}

EXTREME = [0, 1, -1, 2, 127, 255, 2**15, 2**31 - 1, 2**31, -(2**31), 2**40, 2**62, -(2**62)]
FLOATS = [0.0, -1.0, 1e-300, 1e30, 1e300, -1e300, float("nan"), float("inf")]
VALUES = [*EXTREME, *FLOATS[:-2], "", "x", "filename", None, True, [], {}, [1, 2], 10**30]


# --- Changes ---


def change_array(array, draw):
    """A changed copy: one value, all values, the shape, the order or the dtype."""
    flat = array.reshape(-1).copy()
    kind = draw.choice(["one", "one", "one", "few", "all", "shape", "order", "dtype"])
    if kind in ("one", "few", "all") and flat.size:
        if array.dtype == bool:
            value = not flat[0]
        elif array.dtype.kind == "f":
            value = array.dtype.type(draw.choice(FLOATS))
        else:
            info = np.iinfo(array.dtype)
            value = draw.choice(
                [e for e in (*EXTREME, flat.size, flat.size - 1) if info.min <= e <= info.max]
            )
        size = {"one": 1, "few": 3, "all": flat.size}[kind]
        start = draw.randrange(flat.size - min(size, flat.size) + 1)
        flat[start : start + size] = value
        return flat.reshape(array.shape)
    if kind == "shape":
        changed = draw.choice(["shorter", "longer", "empty", "column", "flat", "half"])
        if changed == "shorter":
            return array[:-1]
        if changed == "longer" and len(array.shape) and array.size:
            return np.concatenate([array, array[-1:]])
        if changed == "empty":
            return array[:0]
        if changed == "column":
            return array[..., None]
        if changed == "half":
            return array[: len(array) // 2]
        return flat
    if kind == "order" and flat.size:
        draw.shuffle(order := list(range(flat.size)) if flat.size < 10**5 else [0])
        return flat[order].reshape(array.shape) if len(order) == flat.size else flat[::-1]
    dtypes = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return array.astype(draw.choice(dtypes))


def places(node, path=()):
    """The paths of all values in a JSON document."""
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in items:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


def change_document(document, draw):
    """Replace or remove one value of a parameter, an attribute or their description."""
    document = copy.deepcopy(document)
    parts = [p for p in places(document) if p[0] in ("params", "fitted", "dims") and p[1:]]
    path = draw.choice(parts)
    node = document
    for key in path[:-1]:
        node = node[key]
    if draw.random() < 0.1:
        del node[path[-1]]
        return document, f"{path} removed"
    value = draw.choice(VALUES)
    node[path[-1]] = value
    return document, f"{path} = {value!r}"


def forge(document, arrays, draw):
    """A changed document and arrays, and what was changed."""
    if draw.random() < 0.3 or not arrays:
        document, what = change_document(document, draw)
        return document, arrays, what
    name = draw.choice(sorted(arrays))
    document = copy.deepcopy(document)
    if draw.random() < 0.1 and arrays[name].ndim:
        # A forger who knows that these belong together cuts all of them.
        size, cut = len(arrays[name]), draw.choice([0, 1, len(arrays[name]) // 2])
        same = {k: a[:cut] for k, a in arrays.items() if a.ndim and len(a) == size}
        return document, {**arrays, **same}, f"{sorted(same)} cut from {size} to {cut}"
    changed = change_array(arrays[name], draw)
    # The document repeats dtype and sizes; a careful forger changes them too.
    node = find_node(document, name)
    if isinstance(node, dict) and "dtype" in node and draw.random() < 0.8:
        node["dtype"] = changed.dtype.name
    before, after = arrays[name], changed
    what = f"{name}: {before.dtype}{before.shape} -> {after.dtype}{after.shape}"
    if before.shape == after.shape and before.dtype == after.dtype:
        where = np.flatnonzero(before.reshape(-1).view("u1") != after.reshape(-1).view("u1"))
        place = int(where[0]) // before.itemsize if where.size else -1
        what += f" at {place}: {after.reshape(-1)[place]!r}" if after.size else ""
    return document, {**arrays, name: changed}, what


def every_change(document, arrays):
    """Every attribute removed, and every plain value replaced by one of each kind, in turn."""
    plain = ["", "x", None, True, [], [1, 2], {"type": "dict", "items": {}}, -1, 0, 2**40, 1e9]
    stored = ("array", "strings", "sparse", "model", "index")
    for part, name in [(p, n) for p in ("params", "fitted") for n in document[p]]:
        node = document[part][name]
        own = f"{name}." if part == "fitted" else f"params.{name}."
        rest = {k: a for k, a in arrays.items() if f"{k}." != own and not k.startswith(own)}
        if part == "fitted":
            changed = copy.deepcopy(document)
            del changed[part][name]
            yield changed, rest, f"{name} removed"
        if isinstance(node, dict) and node.get("type") in stored:
            continue
        for value in plain:
            changed = copy.deepcopy(document)
            changed[part][name] = value
            yield changed, rest, f"{part}.{name} = {value!r}"


def find_node(document, name):
    """The node of the document that describes an array, for the plain cases."""
    top = document.get("params" if name.startswith("params.") else "fitted", {})
    return top.get(name.removeprefix("params.").split(".")[0])


# --- Uses ---


def probes(model, X, y):
    """Calls that a model may be asked for: (name, function of the model)."""
    text = isinstance(X, list)
    few, labels = X[:12], None if y is None else y[:12]
    known = {
        "X": few, "y": labels, "documents": few, "raw_documents": few, "sentences": few,
        "texts": few, "text": few[0] if text else None, "sentence": few[0] if text else None,
        "query": "fox dog", "word": "fox", "history": ["the"], "prefix": "the", "n": 3,
        "top": 3,
        "n_samples": 3, "document": 0, "index": 0, "row": 0, "distance": 1.0, "n_clusters": 2,
        "pairs": few, "user": 0, "item": 0, "positive": ["fox"], "k": 2, "size": 3,
        "first": "fox", "second": "dog", "words": ["fox", "dog", "cat"], "one": 0, "other": 1,
        "id": 0, "v": few, "similarity": 0.5, "columns": [0], "values": [0.5],
        "a": "fox", "b": "dog", "c": "cat",
    }  # fmt: skip
    special = {  # by the name of the method
        "merge_topics": lambda model: [[[0, 1]]],
        "topics_by": lambda model: [few, [i % 2 for i in range(12)]],
        "mentions": lambda model: [few[0]],
        "top_features": lambda model: [model.classes_[0]],
        "affine": lambda model: [np.eye(2, few.shape[1]), [1.0, 2.0]],
        "decode": lambda model: [few[0].encode()],
        "choose": lambda model: [["the fox runs", "the dgo runs"]],
        "most_similar": lambda model: [["fox"]],
        "smoothed_counts": lambda model: [0],
        "held_out_likelihood": lambda model: [np.round(few)],
        "score_documents": lambda model: [np.round(few)],
        "inverse_transform": lambda model: [model.transform(few)],
        "row_distances": lambda model: [model.frequencies()],
        "scores": lambda model: [model.frequencies()],
        "telling_words": lambda model: [y[0]],
        "add_users": lambda model: [[(10**6, item) for _, item in few[:4]], [3.0] * 4],
        "add_items": lambda model: [[(user, 10**6) for user, _ in few[:4]], [3.0] * 4],
    }
    if hasattr(model, "classes_"):  # those of a recommender take a user and an item
        special["explain"] = lambda model: [few[0] if text else few[:1]]
        special["score"] = lambda model: [few, model.predict(few) if y is None else labels]
    if type(model).__name__ == "AttributeRecommender":
        special["add_items"] = lambda model: [{10**6: ["a0", "b1"]}]
    if hasattr(model, "n_latent"):
        special["generate"] = lambda model: [np.zeros((2, model.n_latent))]
    for name, method in inspect.getmembers(type(model)):
        if name.startswith("_") or name in SKIPPED:
            continue
        if isinstance(method, property):
            yield name, lambda model, name=name: getattr(model, name)
            continue
        if not inspect.isfunction(method):
            continue
        required = [
            p.name
            for p in list(inspect.signature(method).parameters.values())[1:]
            if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]
        if name in special:
            make = special[name]
            yield name, lambda model, name=name, make=make: getattr(model, name)(*make(model))
            continue
        if name == "partial_fit":
            required = ["X", "y"] if labels is not None else ["X"]
        if all(known.get(each) is not None for each in required):
            arguments = [known[each] for each in required]
            yield name, lambda model, name=name, a=arguments: answer(getattr(model, name)(*a))


def answer(result):
    """The result, or the start of what a generator gives."""
    if inspect.isgenerator(result) or isinstance(result, itertools.chain):
        return list(itertools.islice(result, 20))
    return result


def usable(model, X, y):
    """The probes that a good model answers."""
    kept = []
    for name, probe in probes(model, X, y):
        try:
            probe(copy.deepcopy(model))
        except Exception:
            continue
        kept.append((name, probe))
    return kept


# --- Child ---


def run_cases(names, cases, start, seed):
    """Forge and use ``cases`` files of every class, from the ``start``-th on."""
    for i, name in enumerate(names):
        numbers = range(max(0, start - i * cases), cases)
        if numbers:
            with tempfile.TemporaryDirectory() as folder:
                run_class(name, numbers, i * cases, Path(folder) / "model.safetensors", seed)


def run_class(name, numbers, first, path, seed):
    """Forge and use files of one class; one JSON line before each step."""
    import tacit
    from tacit.core import ModelFileError
    from tacit.core.tensorfile import open_tensors
    from tests.contract.cases import FITS

    model, X, y = FITS[name]()
    if "engine" in model.get_params(deep=False):
        model.set_params(engine="serial")
    model.fit(X) if y is None else model.fit(X, y)
    model.save(path)
    with open_tensors(path, kind="model") as file:
        document, arrays = file.document, file.read()
    document.pop("data_blake2b", None)
    calls = usable(tacit.load(path), X, y)
    each = list(every_change(document, arrays)) if seed == "each" else []
    for number in numbers:
        if seed == "each":
            if number >= len(each):
                break
            changed, tensors, what = each[number]
        else:
            changed, tensors, what = forge(
                document, arrays, random.Random(f"{seed}/{name}/{number}")
            )
        case = {"place": first + number, "what": f"{name}: {what}"[:240]}
        say(case, "load")
        try:
            loaded = load_with_sizes(path, changed, tensors)
        except ModelFileError:
            continue
        except BaseException as error:
            say(case, "load", describe(error))
            continue
        for call, probe in calls:
            say(case, call)
            try:
                probe(loaded)
            except ValueError:
                continue
            except BaseException as error:
                if not (isinstance(error, KeyError) and " " in str(error)):  # ours, a sentence
                    say(case, call, describe(error))


def load_with_sizes(path, document, tensors):
    """Write and open a forged file, with the sizes that its arrays have, as a forger would."""
    import tacit
    from tacit.core import ModelFileError, modelfile
    from tacit.core.tensorfile import write_tensors

    plain, sizes = modelfile.check_schema, []

    def watch(cls, *rest):
        sizes.append((modelfile.name_of(cls), plain(cls, *rest)))
        return sizes[-1][1]

    modelfile.check_schema = watch
    try:
        write_tensors(path, document, tensors)
        try:
            return tacit.load(path)
        except ModelFileError as error:
            if "declares the sizes" not in str(error):
                raise
        for node in models_of(document):
            if node["class"] == sizes[-1][0]:
                node["dims"] = sizes[-1][1]
        write_tensors(path, document, tensors)
        return tacit.load(path)
    finally:
        modelfile.check_schema = plain


def models_of(node):
    """The nodes of a document that describe a model."""
    if isinstance(node, dict):
        if "class" in node and "dims" in node:
            yield node
        for value in node.values():
            yield from models_of(value)
    elif isinstance(node, list):
        for value in node:
            yield from models_of(value)


def say(case, call, finding=None):
    print(json.dumps({**case, "call": call, "finding": finding}), flush=True)


def describe(error):
    frames = traceback.extract_tb(error.__traceback__)
    where = " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in frames[::-1][:4])
    return f"{type(error).__name__}: {str(error)[:160]} ({where})"


# --- Parent ---


def run(names, cases, seed="0", module="tests.contract.forge"):
    """Findings: what was changed in a file of which class, the call, and what happened."""
    start, stop, found = 0, len(names) * cases, []
    while start < stop:
        start, more = run_child(module, names, cases, start, seed)
        found += more
    return found


def run_child(module, names, cases, start, seed):
    """Run a child until it ends or dies. Where to go on, and its findings."""
    command = [sys.executable, "-m", module, "--child", "--only"]
    command += [";".join(names), "--cases", str(cases), "--start", str(start), "--seed", seed]
    place, what, call, found = start - 1, "", "start", []
    with tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        assert child.stdout is not None
        while True:
            limit = START if place < start else PATIENCE
            ready, _, _ = select.select([child.stdout], [], [], limit)
            line = child.stdout.readline() if ready else ""
            if not line:
                break
            if not line.startswith("{"):  # LAPACK prints what it does not like
                found.append(f"{what} | {call} | prints {line.strip()!r}")
                continue
            message = json.loads(line)
            place, what, call = message["place"], message["what"], message["call"]
            if message["finding"]:
                found.append(f"{what} | {call} | {message['finding']}")
        if not ready:
            child.kill()
        code = child.wait()
        child.stdout.close()
        errors.seek(0)
        how = f"exit {code}: {errors.read()[-300:]}" if ready else f"hangs for {PATIENCE} s"
    if ready and code == 0:
        return len(names) * cases, found
    if place < start:
        raise RuntimeError(f"{names}, from {start} on: {how}")
    return place + 1, [*found, f"{what} | {call} | {how}"]


def main(module, description, every, run_cases):
    """The command line of a fuzzer: parent, or with --child the child."""
    parser = argparse.ArgumentParser(description=description.split("\n")[0])
    parser.add_argument("--only", help="names of cases, separated by semicolons")
    parser.add_argument("--cases", type=int, default=100, help="forged files of each")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--start", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = options.only.split(";") if options.only else list(every())
    if options.seed == "each":
        options.cases = 10**6  # or as many as there are
    if options.child:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        warnings.simplefilter("ignore")
        run_cases(names, options.cases, options.start, options.seed)
        return 0
    total = 0
    each = "every plain value" if options.seed == "each" else f"{options.cases} forged files"
    for name in names:
        found = run([name], options.cases, options.seed, module)
        print(f"{name}: {each}, {len(found)} findings", flush=True)
        for each in found:
            print(f"    {each}", flush=True)
        total += len(found)
    print(f"{len(names)} times {each}, {total} findings")
    return 1 if total else 0


def every_class():
    from tests.contract.cases import FITS

    return FITS


if __name__ == "__main__":
    sys.exit(main("tests.contract.forge", __doc__, every_class, run_cases))
