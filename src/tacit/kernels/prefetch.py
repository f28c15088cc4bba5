"""Ask the processor to load a row of a matrix before it is needed.

Kernels that visit rows in random order wait for memory at every one; a list of the next rows is
often known. Numba has no such instruction, LLVM has. It changes no result.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

__all__ = ["prefetch_row"]

LINE = 64  # bytes of a cache line


def request_row(typing: Any, rows: Any, i: Any) -> Any:
    """Load row i of a C-ordered matrix into the cache, to be written to."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        step = cgutils.unpack_tuple(builder, array.strides, 2)[0]
        byte, i32 = ir.IntType(8).as_pointer(), ir.IntType(32)
        start = builder.bitcast(array.data, byte)
        first = builder.mul(arguments[1], step)
        kind = ir.FunctionType(ir.VoidType(), [byte, i32, i32, i32])
        load = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        to_write, keep, data = (ir.Constant(i32, n) for n in (1, 3, 1))
        line = ir.Constant(step.type, LINE)
        with cgutils.for_range(builder, builder.udiv(step, line)) as loop:
            place = builder.add(first, builder.mul(loop.index, line))
            builder.call(load, [builder.gep(start, [place]), to_write, keep, data])
        return context.get_dummy_value()

    return types.void(rows, types.int64), generate


prefetch_row: Any = intrinsic(request_row)  # called as prefetch_row(rows, i)
