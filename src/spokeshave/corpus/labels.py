"""Labels in the cells of a table: one class per document, or several."""

from __future__ import annotations

from spokeshave.corpus.bad_rows import MalformedRow
from spokeshave.corpus.documents import Label


class LabelParser:
    """Turns cells into labels, all single or all tuples.

    Strings, whole numbers and truth values are single labels, a list of them is a tuple.

    Parameters
    ----------
    separator : str or None
        What stands between the labels of one cell; None where a cell holds one label.

    Examples
    --------
    >>> LabelParser("|").parse("wheat|corn")
    ('wheat', 'corn')
    >>> LabelParser(None).parse(7)
    '7'
    """

    def __init__(self, separator: str | None) -> None:
        if separator == "":
            raise ValueError("label_separator must be a character or more. Got '' instead.")
        self._separator = separator
        self._kind: type | None = None

    def parse(self, cell: object) -> Label:
        """Turn one cell into a label."""
        label = self._split(cell) if self._separator else _read_cell(cell)
        self._kind = self._kind or type(label)
        if type(label) is not self._kind:
            raise MalformedRow("lists and single labels are mixed; give every row a list")
        return label

    def _split(self, cell: object) -> Label:
        if _is_blank(cell):
            return ()
        if isinstance(cell, str):
            return _read_list(cell.split(self._separator))
        return _read_list(cell if isinstance(cell, list) else [cell])


def _read_cell(cell: object) -> Label:
    return _read_list(cell) if isinstance(cell, list) else _read_one(cell)


def _read_list(cells: list[object] | list[str]) -> tuple[str, ...]:
    return tuple(_read_one(cell) for cell in cells)


def _read_one(cell: object) -> str:
    if _is_blank(cell):
        raise MalformedRow("the label is missing")
    if not isinstance(cell, str | int):
        problem = f"the label is of type {type(cell).__name__}, not a string or a whole number"
        raise MalformedRow(problem)
    return str(cell)


def _is_blank(cell: object) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())
