"""Documents with their labels, as the readers return them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from hashlib import blake2b
from itertools import pairwise
from numbers import Integral
from typing import Any, NamedTuple, TypeAlias

from spokeshave.corpus.options import quote_all

Label: TypeAlias = "str | tuple[str, ...]"
TypedLabel: TypeAlias = "str | int | tuple[str | int, ...]"  # as in a source that has types
Labels: TypeAlias = "list[str] | list[tuple[str, ...]]"
Documents: TypeAlias = "Texts | Vectors | Split"


@dataclass(frozen=True)
class Texts:
    """Documents as raw text.

    Attributes
    ----------
    texts : list of str
        One text per document.
    labels : list of str, list of tuple of str, or None
        The class of each document, a tuple of classes in a multilabel source, or None if the
        source was read without labels.
    skipped : int
        Number of malformed rows that were skipped.
    label_type : {'str', 'int', 'bool'} or None
        The type of the labels in the source, if all are of one type; 'str' if not, and None if it
        is not known.

    Examples
    --------
    >>> len(Texts(["The screen is black", "Where is my parcel?"], ["display", "delivery"]))
    2
    """

    texts: list[str]
    labels: Labels | None
    skipped: int = 0
    label_type: str | None = field(default=None, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True, eq=False)
class Vectors:
    """Documents as rows of numbers.

    Attributes
    ----------
    X : csr_matrix or ndarray of float64
        One row per document: a sparse matrix if the source is sparse, otherwise an array with NaN
        for missing values.
    labels : list of str or list of tuple of str
        The class of each document, or a tuple of classes in a multilabel source.
    feature_names : tuple of str or None
        The name of each column, or None if the source has no names.
    skipped : int
        Number of malformed rows that were skipped.
    label_type : {'str', 'int', 'bool'} or None
        As of `Texts`.

    Examples
    --------
    >>> import numpy as np
    >>> vectors = Vectors(np.array([[5.1, 3.5]]), ["setosa"], ("sepal length", "sepal width"))
    >>> vectors.X.shape
    (1, 2)
    """

    X: Any
    labels: Labels
    feature_names: tuple[str, ...] | None
    skipped: int = 0
    label_type: str | None = None


@dataclass(frozen=True)
class Split:
    """A collection that is divided into training and test documents.

    Attributes
    ----------
    train, test : Texts
        The two parts.

    Examples
    --------
    >>> split = Split(Texts(["buy wheat"], [("wheat",)]), Texts(["sell corn"], [("corn",)]))
    >>> len(split.train), len(split.test)
    (1, 1)
    """

    train: Texts
    test: Texts


def list_classes(label: Any) -> tuple[str, ...]:
    """Return the classes of a label: itself, or all of them if it is a tuple."""
    return label if isinstance(label, tuple) else (label,)


def take_documents(documents: Texts | Vectors, rows: Any) -> Texts | Vectors:
    """Return some of the documents, by number, with their labels.

    Examples
    --------
    >>> take_documents(Texts(["oak", "ash", "yew"], ["a", "b", "a"]), [2, 0]).texts
    ['yew', 'oak']
    """
    labels: Any = [(documents.labels or ())[i] for i in rows]
    if isinstance(documents, Texts):
        return replace(documents, texts=[documents.texts[i] for i in rows], labels=labels)
    return replace(documents, X=documents.X[rows], labels=labels)


def name_labels(labels: list[Any]) -> tuple[Any, str | None]:
    """Return labels as strings, by which they are compared, and the type that they had.

    Examples
    --------
    >>> name_labels([3, 10]), name_labels([(True,), ()]), name_labels([3, "x"])
    ((['3', '10'], 'int'), ([('True',), ()], 'bool'), (['3', 'x'], 'str'))
    """
    found = {type(name) for label in labels for name in list_classes(label)}
    if found <= {str}:
        return labels, "str" if found else None
    label_type: str | None = None
    for kind in found:
        label_type = join_label_types(label_type, _name_type(kind))
    numbers: Any = (name for label in labels for name in list_classes(label))
    if label_type == "int" and not all(-(2**63) <= number < 2**63 for number in numbers):
        label_type = "str"  # no array of numbers holds them
    named = [tuple(map(str, x)) if isinstance(x, tuple) else str(x) for x in labels]
    return named, label_type


def join_label_types(one: str | None, other: str | None) -> str | None:
    """Return the type of labels of two types; None is an unknown one.

    Examples
    --------
    >>> join_label_types(None, "int"), join_label_types("bool", "int")
    ('int', 'str')
    """
    if one is None or other is None:
        return one or other
    return one if one == other else "str"


def restore_labels(names: Sequence[Any], label_type: str | None) -> list[Any]:
    """Return labels in the type that they had before `name_labels`.

    Examples
    --------
    >>> restore_labels(["10", "3"], "int"), restore_labels(["False", "True"], "bool")
    ([10, 3], [False, True])
    """
    if label_type == "int":
        return [int(name) for name in names]
    return [name == "True" for name in names] if label_type == "bool" else list(names)


def _name_type(kind: type) -> str:
    if kind.__name__ in ("bool", "bool_"):  # that of numpy too
        return "bool"
    return "int" if issubclass(kind, Integral) else "str"


def list_flaws(documents: Texts | Vectors) -> list[str]:
    """Return a sentence on each flaw of training documents: its count, and what to do.

    Flaws are classes of one document, documents without a text or a label, and exact copies.

    Examples
    --------
    >>> list_flaws(Texts(["grey ash", "", "oak", "oak"], ["ash", "oak", "oak", "oak"]))[1]
    '1 of 4 documents have no text; leave them out of the file, as they teach nothing'
    """
    labels: Sequence[Any] = documents.labels or []
    n = f"{len(labels):,}"
    flaws = describe_rare(Counter(name for label in labels for name in set(list_classes(label))))
    if isinstance(documents, Texts):
        n_empty = sum(not text or text.isspace() for text in documents.texts)
        if n_empty:
            flaws.append(
                f"{n_empty:,} of {n} documents have no text; leave them out of the file, as they "
                "teach nothing"
            )
    if n_unlabelled := sum(label == () for label in labels):
        flaws.append(
            f"{n_unlabelled:,} of {n} documents have no label, and count as outside every class; "
            "if labels are missing, leave these documents out of the file"
        )
    return flaws + _describe_copies(documents, labels)


def describe_rare(counts: Mapping[Any, int]) -> list[str]:
    """Return a sentence on the classes of one document, if there are any.

    Examples
    --------
    >>> for sentence in describe_rare({"ash": 5, "yew": 1}):
    ...     print(sentence)
    1 of 2 classes have one document, too few to learn or test: 'yew'; give more, or leave them out
    """
    rare = [str(name) for name, count in counts.items() if count == 1]
    if not rare:
        return []
    return [
        f"{len(rare):,} of {len(counts):,} classes have one document, too few to learn or test: "
        f"{quote_all(rare)}; give more, or leave them out"
    ]


def _describe_copies(documents: Texts | Vectors, labels: Sequence[Any]) -> list[str]:
    """Return a sentence on the documents that repeat another, if there are any."""
    contents = documents.texts if isinstance(documents, Texts) else _list_rows(documents.X)
    first: dict[int, Any] = {}
    n_copies = n_other = 0
    for content, label in zip(contents, labels, strict=False):
        if not content or (isinstance(content, str) and content.isspace()):
            continue  # it has no text, which is another flaw
        key = hash(content)
        if key in first:
            n_copies += 1
            n_other += first[key] != label
        else:
            first[key] = label
    if not n_copies:
        return []
    other = f", {n_other:,} of them with another label" if n_other else ""
    return [
        f"{n_copies:,} of {len(labels):,} documents are exact copies of earlier ones{other}; "
        "remove those that are there by mistake, as a copy of a training document tests nothing"
    ]


_PRIME = 2**127 - 1
_BASE = 0x5E2D58D8B3BCDF1ABADEC7829054F90D


class Fingerprint(NamedTuple):
    """The number of documents, and a number that identifies them.

    The number is a polynomial of the digests of the documents, modulo a prime. The number of two
    parts together follows from those of each.

    Examples
    --------
    >>> whole = compute_fingerprint(Texts(["ash", "oak"], ["a", "b"]), ["a", "b"])
    >>> one = compute_fingerprint(Texts(["ash"], ["a"]), ["a"])
    >>> other = compute_fingerprint(Texts(["oak"], ["b"]), ["b"])
    >>> one.join(other) == whole
    True
    """

    n_documents: int = 0
    number: int = 0

    def join(self, other: Fingerprint) -> Fingerprint:
        """Return the fingerprint of these documents followed by others."""
        shifted = self.number * pow(_BASE, other.n_documents, _PRIME)
        total = self.n_documents + other.n_documents
        return Fingerprint(total, (shifted + other.number) % _PRIME)

    def __str__(self) -> str:
        return f"{self.number:032x}"


def compute_fingerprint(documents: Texts | Vectors, labels: Sequence[Any]) -> Fingerprint:
    """Return the fingerprint of documents and their labels."""
    contents = (
        (text.encode("utf-8", "surrogatepass") for text in documents.texts)
        if isinstance(documents, Texts)
        else _list_rows(documents.X)
    )
    number = 0
    for content, label in zip(contents, labels, strict=True):
        found = blake2b(content, digest_size=16)
        names = map(str, list_classes(label))  # classes of a matrix are numbers
        found.update(b"\0" + "\1".join(names).encode("utf-8", "surrogatepass"))
        number = (number * _BASE + int.from_bytes(found.digest())) % _PRIME
    return Fingerprint(len(labels), number)


def join_fingerprints(parts: Iterable[Fingerprint]) -> Fingerprint:
    """Return the fingerprint of all parts, in their order."""
    return reduce(Fingerprint.join, parts, Fingerprint())


def _list_rows(X: Any) -> Iterable[bytes]:
    import numpy as np  # texts are read without arrays
    from scipy import sparse

    if not sparse.issparse(X):
        return (row.tobytes() for row in np.ascontiguousarray(X, np.float64))
    indices, data = X.indices.astype(np.int64), X.data.astype(np.float64)
    ends = X.indptr.tolist()
    return (
        indices[start:stop].tobytes() + data[start:stop].tobytes() for start, stop in pairwise(ends)
    )
