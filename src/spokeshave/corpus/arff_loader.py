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
    _check_width(order, documents)
    label = f"label from attribute {quote(found.target.name)}{mark(order.label is None)}"
    reasons = [found.explain_text(), "" if order.label is not None else found.explain_label()]
    return Delivery(
        documents,
        read=[order.format, found.describe_text(), label],
        guesses=[*reasons, explain_encoding(encoding, order.encoding)],
        encoding=encoding,
        text=found.text,
        label=found.target.name,
    )


@dataclass(frozen=True)
class _Found:
    """The class attribute, the attribute of texts or None, and whether there are others."""

    target: Target
    text: str | None
    has_others: bool

    def describe_text(self) -> str:
        return "" if self.text is None else f"text from attribute {quote(self.text)}{mark(True)}"

    def explain_text(self) -> str:
        if self.text is None:
            return ""
        rest = ", and what is neither text nor label is left out" if self.has_others else ""
        return f"the text is attribute {quote(self.text)}, the only string{rest}"

    def explain_label(self) -> str:
        rest = ", the last" if self.target.is_last else ""
        return f"the label is attribute {quote(self.target.name)}{rest}"


def _read(order: Order, encoding: str) -> tuple[Texts | Vectors, _Found]:
    with open_relation(order.path, encoding) as (relation, _):
        found = _look(relation, order)
    read = read_arff if found.text is None else read_arff_texts
    name = None if found.target.is_last else found.target.name
    return read(order.path, target=name, encoding=encoding, bad_rows=order.bad_rows), found


def _look(relation: Relation, order: Order) -> _Found:
    target = guess_target(relation) if order.label is None else Target(str(order.label), False)
    text = find_text(relation, relation.locate(None if target.is_last else target.name))
    return _Found(target, None if text is None else text.name, len(relation.attributes) > 2)


def _check_width(order: Order, documents: Texts | Vectors) -> None:
    if order.n_features is None:
        return
    width = documents.X.shape[1] if isinstance(documents, Vectors) else "no"
    if width != order.n_features:
        raise CorpusError(order.path, f"it has {width} features where {order.n_features} should be")
