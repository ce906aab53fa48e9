"""Parts of kernels compiled once: as code to be linked, not as functions of their own.

numba makes a whole function of everything that it compiles: it optimises it together with all that it calls, and turns
it into machine code. Of a part only its code inside the kernels is ever used, where all of that is done again; left out
for the parts, a first run compiles in less than half of the time. The kernels' machine code is the same.

This builds on the inside of numba's code generator, where a later numba may differ without a name being gone. So it is
for the versions that it was tested with alone: with others the import ends with ImportError.
"""

from __future__ import annotations

from typing import Any

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

TESTED = ("0.68.",)
"""What the versions begin with; add one when tests/test_compiled.py passes with it."""

if not numba.__version__.startswith(TESTED):
    raise ImportError(f"linking of parts is not tested with numba {numba.__version__}")


class PartCompiler(Compiler):  # type: ignore[misc]
    """numba's compiler, with the code of a part for a result."""

    def define_pipelines(self) -> Any:
        """The passes of numba, on a library of our own."""
        self.state.library = PartLibrary(self.state.targetctx.codegen(), "part")
        return super().define_pipelines()


class PartLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a part and of all that it calls, ready to be linked."""

    def finalize(self) -> None:
        """Link what the part calls; whatever links the part optimises it."""
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """No machine code, so no address."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """What makes the code; without machine code there is no environment to tell it of."""
        return _WithoutEnvironment(self._codegen)


class _WithoutEnvironment:
    """numba's code generator, except that it takes no note of the Python side of a function."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, env_name: str, env: Any) -> None:
        """Nothing to set."""
