"""What will be needed soon, asked for in time.

A sparse row names rows of a table of weights all over memory, and each that is not in the
cache is waited for; so are the entries of rows that are taken in a shuffled order. The
processor cannot guess either, but whoever takes the rows knows which is next: asked for ahead,
they are there when their turn comes. It changes no result.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from tacit.core.kernel import kernel

__all__ = ["FAR", "fetch_entries", "fetch_rows"]

FAR = 1 << 20  # bytes: a table that is smaller stays in the cache by itself
LINE = 64  # bytes that come together
NEXT = 48  # entries of a row; of a longer one the processor fetches the rest by itself


@intrinsic
def ask_for(typing_context: Any, array: Any, place: Any) -> Any:
    """Bring the element at a place of a flat array to the second level of the cache."""

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        number, address = ir.IntType(32), ir.IntType(8).as_pointer()
        shape = ir.FunctionType(ir.VoidType(), [address, number, number, number])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [address], shape)
        found = builder.bitcast(builder.gep(data, [arguments[1]]), address)
        # To be read, kept for some time, data and not code.
        builder.call(prefetch, [found, *(number(value) for value in (0, 2, 1))])
        return context.get_dummy_value()

    return types.void(array, place), generate


@kernel
def fetch_rows(indices, first, end, table):
    """Ask for the rows of a table that the entries first to end name."""
    width, flat = table.shape[1], table.ravel()
    step = LINE // table.itemsize
    for t in range(np.uint64(first), np.uint64(end)):
        start = np.int64(indices[t]) * width
        for c in range(0, width, step):
            ask_for(flat, start + c)  # type: ignore[call-arg]
        ask_for(flat, start + width - 1)  # type: ignore[call-arg]  # in the next line, perhaps


@kernel
def fetch_entries(indices, data, first):
    """Ask for ``NEXT`` entries of rows. There may be fewer: nothing is read, and always the
    same number takes no branch."""
    for t in range(0, NEXT, LINE // data.itemsize):
        ask_for(data, np.int64(first) + t)  # type: ignore[call-arg]
    for t in range(0, NEXT, LINE // indices.itemsize):
        ask_for(indices, np.int64(first) + t)  # type: ignore[call-arg]
