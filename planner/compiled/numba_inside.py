"""What numba does otherwise for the planner: parts of kernels as code to be linked, named tuples as addresses.

**Parts compiled once.** numba makes a whole function of everything that it compiles: it optimises it together with all
that it calls, and turns it into machine code. Of a part only its code inside the kernels is ever used, where all of
that is done again; left out for the parts, a first run compiles in less than half of the time. The kernels' machine
code is the same.

**Named tuples handed on as the address of their fields.** numba takes a named tuple of arrays apart in every call: a
table of forty arrays is three hundred values, over and over again in the code of each of a hundred functions. With its
address alone for a value a first run compiles in two thirds of the time. Compiled code only reads the fields
themselves, which are filled in before it begins, so loads of them are told to be of memory that never changes. What
fills them in must then be kept apart from what reads them, or a compiler that sees both might read first.

This builds on the inside of numba, where a later numba may differ without a name being gone. So it is for the versions
that it was tested with alone: with others the import ends with ImportError.
"""

from __future__ import annotations

from functools import partial, reduce
from hashlib import sha256
from typing import Any

import numba
from numba.core import cgutils, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.imputils import impl_ret_borrowed
from numba.core.typing.templates import AttributeTemplate
from numba.core.typing.typeof import typeof
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)

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


ir = cgutils.ir
NEVER_WRITTEN = ir.Constant(ir.IntType(64), 1)
"""The mark of loads from memory that never changes, in LLVM's words for what kind of memory a load is of."""


class Address(types.Type):
    """The type of a named tuple that is handed on as an address."""

    def __init__(self, made: Any, fields: tuple[types.Type, ...]) -> None:
        self.made, self.fields = made, fields
        super().__init__(f"Address({made.__module__}.{made.__qualname__}{fields})")

    @property
    def key(self) -> Any:
        """What tells types apart."""
        return self.made, self.fields

    @property
    def mangling_args(self) -> Any:
        """What stands for it in the names of functions, which would be as long as all fields together.

        Kept code of several types must not have one name: then the first that is loaded would be taken for all.
        """
        return f"{self.made.__name__}_{sha256(str(self.fields).encode()).hexdigest()[:12]}", ()

    def place_of(self, name: str) -> int:
        """The number of a field."""
        found: int = self.made._fields.index(name)
        return found


@register_model(Address)
class AddressModel(models.PrimitiveModel):  # type: ignore[misc]
    """How the machine holds it."""

    def __init__(self, known: Any, of: Address) -> None:
        inside = ir.LiteralStructType([known.lookup(field).get_value_type() for field in of.fields])
        super().__init__(known, of, inside.as_pointer())


@infer_getattr
class AddressFields(AttributeTemplate):  # type: ignore[misc]
    """The types of its fields."""

    key = Address

    def generic_resolve(self, of: Address, name: str) -> types.Type | None:
        """The type of a field; None where it has no such field."""
        return of.fields[of.place_of(name)] if name in of.made._fields else None


@lower_getattr_generic(Address)  # type: ignore[untyped-decorator]
def load_field(context: Any, builder: Any, of: Address, address: Any, name: str) -> Any:
    """Load a field."""
    found = builder.load(cgutils.gep_inbounds(builder, address, 0, of.place_of(name)))
    zero, module = ir.Constant(ir.IntType(64), 0), builder.module
    kind = module.add_metadata(["a field", module.add_metadata(["fields handed on by address"]), zero])
    found.set_metadata("tbaa", module.add_metadata([kind, kind, zero, NEVER_WRITTEN]))
    return impl_ret_borrowed(context, builder, of.fields[of.place_of(name)], found)


@unbox(Address)  # type: ignore[untyped-decorator]
def fill(of: Address, given: Any, c: Any) -> NativeValue:
    """Fill in the fields from Python's named tuple, and hide that what is read later was filled in here."""
    fields = cgutils.alloca_once(c.builder, c.context.data_model_manager[of].get_value_type().pointee)
    natives = [c.unbox(field, c.pyapi.tuple_getitem(given, place)) for place, field in enumerate(of.fields)]
    for place, native in enumerate(natives):
        c.builder.store(native.value, cgutils.gep_inbounds(c.builder, fields, 0, place))
    is_wrong = reduce(c.builder.or_, [native.is_error for native in natives])
    nothing = ir.FunctionType(fields.type, [fields.type])
    address = c.builder.asm(nothing, "", "=r,0,~{memory}", [fields], side_effect=True)

    def clean_up() -> None:
        for field, native in zip(of.fields, natives, strict=True):
            if c.context.enable_nrt:
                c.context.nrt.decref(c.builder, field, native.value)
            if native.cleanup is not None:
                native.cleanup()

    return NativeValue(address, is_error=is_wrong, cleanup=clean_up)


def hand_on_by_address(made: type) -> None:
    """Let numba take all of a class of named tuples for addresses."""
    typeof_impl.register(made)(partial(_type_of, made))


def _type_of(made: type, value: Any, context: Any) -> Address:
    return Address(made, tuple(typeof(field, context.purpose) for field in value))
