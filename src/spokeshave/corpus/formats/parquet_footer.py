"""The footer and the page headers of a parquet file, checked before anything is decoded.

polars allocates the rows and bytes that a file claims to have, and the process is aborted if there
is not as much memory. So every count is compared with the size of the file and with other counts.

The format is that of https://github.com/apache/parquet-format: structures in the compact protocol
of Thrift, of which this reads numbers and lists and skips the rest.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import lru_cache
from os import stat
from pathlib import Path
from typing import Any, TypeAlias

from spokeshave.corpus import limits

Fields: TypeAlias = dict[int, Any]  # the values of a structure by the numbers of its fields

_MAGIC = b"PAR1"
_TAIL = 8  # bytes after the footer: its length, and the magic bytes
_MAX_DEPTH = 64  # of structures, and of columns
_MAX_WIDTH = 2**20  # bytes of a value of fixed width
_SLACK = 100  # bytes that some writers leave out of the size of a column
_FIXED_WIDTH, _REPEATED = 7, 2  # a type and a repetition of columns
_UNCOMPRESSED, _SNAPPY = 0, 1  # codecs
_MAX_SNAPPY = 64  # times the size of a page; the codec cannot do more
_DATA, _DICTIONARY, _DATA_V2 = 0, 2, 3  # types of pages, other than indexes
_HEADERS = {_DATA: 5, _DICTIONARY: 7, _DATA_V2: 8}  # fields of a page header


class UnsoundParquet(Exception):
    """A parquet file whose counts contradict its size or each other; the message is the problem."""


def require_sound(path: str | Path) -> None:
    """Raise UnsoundParquet if a parquet file claims more than it can have.

    A file that does not begin and end like a parquet file passes: its reader explains that.
    """
    state = stat(path)
    _require_sound(str(path), state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=128)
def _require_sound(path: str, size: int, time: int) -> None:
    """Check a file, once for each state that it has."""
    if size < 2 * len(_MAGIC) + _TAIL:
        return
    with (
        Path(path).open("rb") as file,
        closing(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)) as content,
    ):
        if content[:4] == content[-4:] == _MAGIC:
            _File(content).check()


class _File:
    """The content of a parquet file."""

    def __init__(self, content: mmap.mmap) -> None:
        self._content = content
        length = int.from_bytes(content[-_TAIL:-4], "little")
        self._end = len(content) - _TAIL - length  # of the columns
        _require(self._end >= len(_MAGIC), "its footer is longer than the file")

    def check(self) -> None:
        footer = Thrift(self._content, self._end, len(self._content) - _TAIL).read()
        leaves = list(_list_leaves(_get_list(footer, 2)))
        n_rows = 0
        for group in _get_list(footer, 4):
            n_rows += self._check_group(group, leaves)
        _require(n_rows == footer.get(3), "its row groups do not have as many rows as it claims")

    def _check_group(self, group: Any, leaves: list[bool]) -> int:
        _require(isinstance(group, dict), "a row group is missing")
        n_rows, columns = _get_count(group, 3, "rows"), _get_list(group, 1)
        _require(len(columns) == len(leaves), "a row group does not have all columns")
        n_cells = n_rows
        sizes = []
        for column, is_repeated in zip(columns, leaves, strict=True):
            chunk = column.get(3) if isinstance(column, dict) else None
            if not isinstance(chunk, dict):
                raise UnsoundParquet("a column has no description")
            n_values = _get_count(chunk, 5, "values")
            _require(is_repeated or n_values == n_rows, "a column does not have a value per row")
            n_cells += n_values
            sizes.append(self._check_chunk(chunk, n_values))
        allowed = max(limits.MAX_CELLS, limits.MAX_CELLS_PER_BYTE * len(self._content))
        _require(n_cells <= allowed, f"it claims {n_cells:,} values, more than its size allows")
        unpacked = sum(sizes)
        allowed = max(limits.MAX_PAGE_BYTES, limits.MAX_EXPANSION * len(self._content))
        _require(unpacked <= allowed, f"it claims {unpacked:,} bytes, more than its size allows")
        return n_rows

    def _check_chunk(self, chunk: Fields, n_values: int) -> int:
        """Check the pages of a column in a row group; return their size unpacked."""
        size, position = _get_count(chunk, 7, "bytes"), _get_count(chunk, 9, "bytes before it")
        if 11 in chunk and 0 < (first := _get_count(chunk, 11, "bytes before it")) < position:
            position = first  # the dictionary comes first
        if not n_values:
            return 0
        end = position + size
        _require(len(_MAGIC) <= position <= end <= self._end, "a column lies outside the file")
        furthest = min(end + _SLACK, self._end)
        n_found = n_unpacked = 0
        while n_found < n_values and position < end:
            thrift = Thrift(self._content, position, furthest)
            page = thrift.read()
            packed = _get_count(page, 3, "bytes of a page")
            position = thrift.position + packed
            _require(position <= furthest, "a page lies outside its column")
            n_found += _check_page(page, packed, chunk.get(4))
            n_unpacked += page[2]
        _require(n_found == n_values, "its pages do not have as many values as it claims")
        return n_unpacked


def _check_page(page: Fields, packed: int, codec: object) -> int:
    """Check the header of a page; return the number of rows or list items in it."""
    unpacked, kind = _get_count(page, 2, "bytes of a page"), page.get(1)
    if not isinstance(kind, int):
        raise UnsoundParquet("a page has no type")
    _require(
        unpacked <= limits.MAX_PAGE_BYTES,
        f"it has a page of {unpacked:,} bytes where {limits.MAX_PAGE_BYTES:,} are allowed",
    )
    _require(codec != _UNCOMPRESSED or unpacked == packed, "a page has two sizes")
    _require(codec != _SNAPPY or unpacked <= _MAX_SNAPPY * packed + 64, "a page is too large")
    if kind not in _HEADERS:
        return 0
    header = page.get(_HEADERS[kind])
    if not isinstance(header, dict):
        raise UnsoundParquet("a page has no header")
    n_values = _get_count(header, 1, "values of a page")
    if kind == _DICTIONARY:
        _require(n_values <= unpacked, "a dictionary claims more values than it has bytes")
        return 0
    if kind == _DATA_V2:
        levels = _get_count(header, 5, "bytes") + _get_count(header, 6, "bytes")
        _require(levels <= min(packed, unpacked), "a page has more levels than bytes")
        _require(_get_count(header, 2, "nulls") <= n_values, "a page has more nulls than values")
        _require(_get_count(header, 3, "rows") <= n_values, "a page has more rows than values")
    return n_values


def _list_leaves(schema: list[Any]) -> Iterator[bool]:
    """Yield for each column of values whether it is inside a list."""
    elements = iter(schema)
    root = _get_element(elements)
    yield from _list_children(elements, _get_count(root, 5, "columns"), False, 0)


def _list_children(
    elements: Iterator[Any], n_children: int, is_repeated: bool, depth: int
) -> Iterator[bool]:
    _require(depth < _MAX_DEPTH, "its columns are nested too deeply")
    for _ in range(n_children):
        element = _get_element(elements)
        repeats = is_repeated or element.get(3) == _REPEATED
        if 1 in element:
            if element[1] == _FIXED_WIDTH:
                width = _get_count(element, 2, "bytes of a value")
                _require(0 < width <= _MAX_WIDTH, f"it claims values of {width:,} bytes")
            yield repeats
        else:
            n_inner = _get_count(element, 5, "columns")
            yield from _list_children(elements, n_inner, repeats, depth + 1)


def _get_element(elements: Iterable[Any]) -> Fields:
    element = next(iter(elements), None)
    if not isinstance(element, dict):
        raise UnsoundParquet("it claims more columns than it describes")
    return element


def _get_count(fields: Fields, number: int, unit: str) -> int:
    """Return a field that counts something."""
    value = fields.get(number)
    if not isinstance(value, int):
        raise UnsoundParquet(f"it does not say the number of {unit}")
    _require(value >= 0, f"it claims {value:,} {unit}")
    return value


def _get_list(fields: Fields, number: int) -> list[Any]:
    value = fields.get(number)
    if not isinstance(value, list):
        raise UnsoundParquet("its footer lacks columns or row groups")
    return value


def _require(is_met: bool, problem: str) -> None:
    if not is_met:
        raise UnsoundParquet(problem)


class Thrift:
    """Structures in the compact protocol of Thrift.

    Numbers become int, lists become lists, structures become dicts by the numbers of their fields;
    everything else becomes None.

    Parameters
    ----------
    content : bytes or mmap
        The bytes.
    position, end : int
        Where a structure starts, and where it must have ended.

    Attributes
    ----------
    position : int
        Where the next value starts.
    """

    def __init__(self, content: bytes | mmap.mmap, position: int, end: int) -> None:
        self._content, self.position, self._end = content, position, end

    def read(self) -> Fields:
        """Return the fields of the structure that starts here."""
        try:
            fields = self._read_struct(0)
        except IndexError:
            self.position = self._end + 1
        _require(self.position <= self._end, "its footer or a page header is cut short")
        return fields

    def _read_struct(self, depth: int) -> Fields:
        _require(depth < _MAX_DEPTH, "its structures are nested too deeply")
        fields: Fields = {}
        number = 0
        while header := self._read_byte():
            number = number + (header >> 4) if header >> 4 else self._read_integer()
            kind = header & 15
            # A truth value is in the type of its field.
            fields[number] = None if kind in (1, 2) else self._read(kind, depth)
        return fields

    def _read(self, kind: int, depth: int) -> Any:
        if kind in (4, 5, 6):
            return self._read_integer()
        if kind == 8:
            size = self._read_unsigned()
            self.position += size
        elif kind == 12:
            return self._read_struct(depth + 1)
        elif kind in (9, 10):
            return self._read_list(depth + 1)
        elif kind in (1, 2, 3, 7):
            self.position += 8 if kind == 7 else 1
        else:
            # Parquet has neither maps nor other types.
            raise UnsoundParquet("its footer or a page header has a value of an unknown type")
        return None

    def _read_list(self, depth: int) -> list[Any]:
        _require(depth < _MAX_DEPTH, "its structures are nested too deeply")
        header = self._read_byte()
        size = header >> 4 if header >> 4 < 15 else self._read_unsigned()
        _require(size <= self._end - self.position, "it claims a list longer than the file")
        return [self._read(header & 15, depth) for _ in range(size)]

    def _read_integer(self) -> int:
        number = self._read_unsigned()
        return (number >> 1) ^ -(number & 1)

    def _read_unsigned(self) -> int:
        byte = self._read_byte()
        number, shift = byte & 127, 7
        while byte > 127:
            _require(shift < 64, "it has a number of more than 64 bits")
            byte = self._read_byte()
            number |= (byte & 127) << shift
            shift += 7
        return number

    def _read_byte(self) -> int:
        byte = self._content[self.position]
        self.position += 1
        return byte
