"""ARFF files to learn from: vectors, or texts where there is a string, with the class guessed."""

from __future__ import annotations

from dataclasses import dataclass

from spokeshave.corpus.arff import read_arff
from spokeshave.corpus.arff_texts import read_arff_texts
from spokeshave.corpus.documents import Texts, Vectors
from spokeshave.corpus.encodings import explain_encoding, read_decoded
from spokeshave.corpus.orders import Delivery, Order, mark
from spokeshave.corpus.relations import Relation, Target, find_text, guess_target, open_relation
from spokeshave.corpus.wording import quote
from spokeshave.errors import CorpusError


def load_arff(order: Order) -> Delivery:
    r"""Read an ARFF file as texts where its only string stands beside a nominal class.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "corn.arff")
    ...     _ = path.write_text("@attribute story string\n@attribute corn {0, 1}\n@data\nOil,0")
    ...     load_arff(Order(path, "arff")).read
    ['arff', "text from attribute 'story' (guessed)", "label from attribute 'corn' (guessed)"]
    """
    (documents, found), encoding = read_decoded(lambda name: _read(order, name), order.encoding)
    check_width(order, documents.X.shape[1] if isinstance(documents, Vectors) else None)
    read, guesses = found.describe(order, encoding)
    return Delivery(documents, read, guesses, encoding, found.text, found.target.name)


@dataclass(frozen=True)
class Found:
    """What is found in the header of an ARFF file.

    Attributes
    ----------
    target : Target
        The class attribute.
    text : str or None
        The attribute of texts, if there is one.
    has_others : bool
        Whether there are more than two attributes.
    """

    target: Target
    text: str | None
    has_others: bool

    @property
    def target_name(self) -> str | None:
        """Return the name of the class attribute; None for the last one, as readers take it."""
        return None if self.target.is_last else self.target.name

    def describe(self, order: Order, encoding: str) -> tuple[list[str], list[str]]:
        """Say how the file is read and what was guessed."""
        label = f"label from attribute {quote(self.target.name)}{mark(order.label is None)}"
        reasons = [self._explain_text(), "" if order.label is not None else self._explain_label()]
        read = [order.format, self._describe_text(), label]
        return read, [*reasons, explain_encoding(encoding, order.encoding)]

    def _describe_text(self) -> str:
        return "" if self.text is None else f"text from attribute {quote(self.text)}{mark(True)}"

    def _explain_text(self) -> str:
        if self.text is None:
            return ""
        rest = ", and what is neither text nor label is left out" if self.has_others else ""
        return f"the text is attribute {quote(self.text)}, the only string{rest}"

    def _explain_label(self) -> str:
        rest = ", the last" if self.target.is_last else ""
        return f"the label is attribute {quote(self.target.name)}{rest}"


def look_at_header(relation: Relation, order: Order) -> Found:
    """Find the class attribute that is told or else guessed, and the attribute of texts.

    Examples
    --------
    >>> from pathlib import Path
    >>> from spokeshave.corpus.attributes import parse_attribute
    >>> attributes = map(parse_attribute, ["@attribute story string", "@attribute class {0, 1}"])
    >>> relation = Relation("corn.arff", tuple(attributes))
    >>> look_at_header(relation, Order(Path("corn.arff"), "arff")).text
    'story'
    """
    target = guess_target(relation) if order.label is None else Target(str(order.label), False)
    text = find_text(relation, relation.locate(None if target.is_last else target.name))
    return Found(target, None if text is None else text.name, len(relation.attributes) > 2)


def check_width(order: Order, width: int | None) -> None:
    """Raise where there are not as many features as were told; texts have none.

    Examples
    --------
    >>> from pathlib import Path
    >>> check_width(Order(Path("corn.arff"), "arff", n_features=3), None)
    Traceback (most recent call last):
    ...
    spokeshave.errors.CorpusError: corn.arff: it has no features where 3 should be
    """
    if order.n_features is not None and width != order.n_features:
        found = "no" if width is None else width
        raise CorpusError(order.path, f"it has {found} features where {order.n_features} should be")


def _read(order: Order, encoding: str) -> tuple[Texts | Vectors, Found]:
    with open_relation(order.path, encoding) as (relation, _):
        found = look_at_header(relation, order)
    read = read_arff if found.text is None else read_arff_texts
    documents = read(
        order.path, target=found.target_name, encoding=encoding, bad_rows=order.bad_rows
    )
    return documents, found
