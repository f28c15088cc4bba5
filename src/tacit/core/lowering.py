"""Fast-math flags for one function alone.

With Numba's ``fastmath`` option, whatever is compiled in the course of a function inherits its
flags: the kernels it calls, and Numba's functions for ``max``, ``sum`` or a power. Numba then
uses that version wherever the same function is called, in the process and through the cache on
disk. So a sum could be reassociated in a kernel without fastmath, depending on what was
compiled before it. The same is true of ``forceinline``.

Here both are applied while the code of the function is generated, where nothing inherits them.
"""

from functools import cache
from typing import Any

from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.cpu_options import FastMathOptions
from numba.core.fastmathpass import rewrite_module
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering

__all__ = ["compiler_with"]


@cache
def compiler_with(flags: frozenset[str], inline: bool) -> type[CompilerBase]:
    """A compiler that gives all operations these flags, and the function that of ``inline``."""

    class FlaggedLower(Lower):
        def lower_normal_function(self, fndesc: Any) -> None:
            super().lower_normal_function(fndesc)
            if inline:
                self.function.attributes.discard("noinline")
                self.function.attributes.add("alwaysinline")
            if flags:
                rewrite_module(self.module, FastMathOptions(set(flags)))

    @register_pass(mutates_CFG=True, analysis_only=False)
    class FlaggedLowering(NativeLowering):
        _name = "flagged_lowering"
        lowering_class = FlaggedLower

    class FlaggedCompiler(CompilerBase):
        def define_pipelines(self) -> list[PassManager]:
            default = DefaultPassBuilder.define_nopython_pipeline(self.state)
            pipeline = PassManager("flagged")
            for step, description in default.passes:
                pipeline.add_pass(
                    FlaggedLowering if step is NativeLowering else step, description
                )
            pipeline.finalize()
            return [pipeline]

    return FlaggedCompiler
