"""Named tuples handed on as the address of their fields.

numba takes a named tuple of arrays apart in every call: a table of forty arrays is three hundred values, over and over
again in the code of each of a hundred functions. With its address alone for a value a first run compiles in two thirds
of the time.

Compiled code only reads the fields themselves, which are filled in before it begins, so loads of them are told to be of
memory that never changes. What fills them in must then be kept apart from what reads them, or a compiler that sees both
might read first.

This builds on the inside of numba as `planner.compiled.linking` does, and is for the same versions.
"""

from __future__ import annotations

from functools import partial, reduce
from hashlib import sha256
from typing import Any

from numba.core import cgutils, types
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

import planner.compiled.linking  # noqa: F401 - it refuses versions of numba that are not known

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
