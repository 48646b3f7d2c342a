"""Sixteen classes or cuts at a time: rows of a feature-major weight matrix as vectors.

A row of ``W`` holds the weights of one feature for ``LANES`` classes (one cache line of float32) or
for ``LANES`` cuts (float64). numba does not vectorise a loop of sixteen steps, so the two loops
that decide the speed are written in LLVM's vector types: a nonzero is loaded once for all lanes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

LANES = 16
_INDEX = ir.IntType(64)
_FAST = ("reassoc", "contract", "nsz")


@intrinsic
def sum_rows(typing_context, W, indices, data, start, stop, out, has_variance):
    """Write the sum of ``data[p] * W[indices[p]]`` for p in [start, stop) into ``out``.

    If ``data`` is None, every value is one. If ``has_variance`` is not None, a row of ``W`` has
    the variances of its weights after them, which are not added up.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows = _Rows(context, builder, signature, args)

        def add_row(p: Any, total: Any) -> Any:
            return builder.fadd(total, rows.term(rows.load(rows.address(p)), p), flags=_FAST)

        total = _loop(builder, args[3], args[4], add_row, ir.Constant(rows.vector, None))
        rows.store(total, rows.vector_at(5))
        return context.get_dummy_value()

    return types.void(W, indices, data, types.int64, types.int64, out, has_variance), generate


@intrinsic
def sum_variances(typing_context, W, indices, data, start, stop, out, has_variance):
    """Write the sum of ``data[p]`` squared times the variances beside ``W[indices[p]]``.

    Like `sum_rows` else; ``has_variance`` must not be None.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows = _Rows(context, builder, signature, args)

        def add_row(p: Any, total: Any) -> Any:
            term = rows.term(rows.load(rows.variance_beside(rows.address(p))), p)
            return builder.fadd(total, rows.term(term, p), flags=_FAST)

        total = _loop(builder, args[3], args[4], add_row, ir.Constant(rows.vector, None))
        rows.store(total, rows.vector_at(5))
        return context.get_dummy_value()

    return types.void(W, indices, data, types.int64, types.int64, out, has_variance), generate


@intrinsic
def add_to_rows(typing_context, W, indices, data, start, stop, step, has_variance):
    """Add ``data[p] * step`` to ``W[indices[p]]`` for p in [start, stop), in place.

    If ``data`` is None, every value is one. If ``has_variance`` is not None, a row of ``W`` has
    the variances of its weights after them, and each term is multiplied by its variance.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows = _Rows(context, builder, signature, args)
        step_vector = rows.load(rows.vector_at(5))

        def step_row(p: Any, _: Any) -> None:
            address, term = rows.address(p), rows.term(step_vector, p)
            if rows.n_lanes > LANES:
                variance = rows.load(rows.variance_beside(address))
                term = builder.fmul(term, variance, flags=_FAST)
            rows.store(builder.fadd(rows.load(address), term, flags=_FAST), address)

        _loop(builder, args[3], args[4], step_row)
        return context.get_dummy_value()

    return types.void(W, indices, data, types.int64, types.int64, step, has_variance), generate


class _Rows:
    """The arrays of one call as LLVM values, with methods to load and store their vectors."""

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any) -> None:
        self.builder = builder
        self.arrays = [
            context.make_array(kind)(context, builder, value).data
            if isinstance(kind, types.Array)
            else None
            for kind, value in zip(signature.args, args, strict=True)
        ]
        self.number = context.get_data_type(signature.args[0].dtype)
        self.vector = ir.VectorType(self.number, LANES)
        has_variance = not isinstance(signature.args[6], types.NoneType)
        self.n_lanes = 2 * LANES if has_variance else LANES  # of a row of W

    def address(self, p: Any) -> Any:
        """Return the address of the row of W of the p-th nonzero."""
        W, indices = self.arrays[0], self.arrays[1]
        feature = self.builder.zext(self.builder.load(self.builder.gep(indices, [p])), _INDEX)
        offset = self.builder.mul(feature, ir.Constant(_INDEX, self.n_lanes))
        return self.builder.bitcast(self.builder.gep(W, [offset]), self.vector.as_pointer())

    def variance_beside(self, address: Any) -> Any:
        """Return the address of the variances of the weights at an address."""
        return self.builder.gep(address, [ir.Constant(_INDEX, 1)])

    def vector_at(self, argument: int) -> Any:
        """Return the address of an argument's array as a vector."""
        return self.builder.bitcast(self.arrays[argument], self.vector.as_pointer())

    def load(self, address: Any) -> Any:
        return self.builder.load(address, align=4)

    def store(self, vector: Any, address: Any) -> None:
        self.builder.store(vector, address, align=4)

    def term(self, vector: Any, p: Any) -> Any:
        """Return the vector times the p-th value, or the vector itself if ``data`` is None."""
        data = self.arrays[2]
        if data is None:
            return vector
        value = self.builder.load(self.builder.gep(data, [p]))
        if value.type != self.number:
            is_wider = isinstance(value.type, ir.DoubleType)
            convert = self.builder.fptrunc if is_wider else self.builder.fpext
            value = convert(value, self.number)
        first = self.builder.insert_element(
            ir.Constant(self.vector, ir.Undefined), value, ir.Constant(ir.IntType(32), 0)
        )
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), None)
        values = self.builder.shuffle_vector(first, first, everywhere)
        return self.builder.fmul(vector, values, flags=_FAST)


def _loop(
    builder: Any, start: Any, stop: Any, body: Callable[[Any, Any], Any], carried: Any = None
) -> Any:
    """Emit ``for p in range(start, stop): carried = body(p, carried)``; return ``carried``."""
    before = builder.block
    head, inside, after = (builder.append_basic_block(name) for name in ("head", "body", "end"))
    builder.branch(head)
    builder.position_at_end(head)
    p = builder.phi(start.type)
    p.add_incoming(start, before)
    value = None
    if carried is not None:
        value = builder.phi(carried.type)
        value.add_incoming(carried, before)
    builder.cbranch(builder.icmp_signed("<", p, stop), inside, after)
    builder.position_at_end(inside)
    new_value = body(p, value)
    p.add_incoming(builder.add(p, ir.Constant(p.type, 1)), builder.block)
    if value is not None:
        value.add_incoming(new_value, builder.block)
    builder.branch(head)
    builder.position_at_end(after)
    return value
