"""How a model is laid out in a file: what goes to the header, and what to the arrays.

Whatever is read is checked against the rest of it: a file may be hostile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spokeshave.inputs import TOKEN, TextInput, VectorInput
from spokeshave.model import Model
from spokeshave.scorers import N_BINS, ShapedScorer, ShapeTable, SparseScorer

Arrays = dict[str, NDArray[Any]]
Header = dict[str, Any]


def describe_model(model: Model) -> tuple[Header, Arrays]:
    """Return the header and the arrays that tell everything of a model."""
    header: Header = {
        "classes": _check_classes(model.classes_.tolist()).tolist(),
        "multilabel": model.multilabel_,
        "provenance": model.provenance,
    }
    arrays: Arrays = {"thresholds": model.thresholds_, "intercept": model.scorer.intercept}
    if model.calibration_ is not None:
        arrays["calibration"] = model.calibration_
    describe_input = _describe_text if isinstance(model.input, TextInput) else _describe_vectors
    header["input"] = describe_input(model.input, arrays)
    sparse = isinstance(model.scorer, SparseScorer)
    describe_scorer = _describe_sparse if sparse else _describe_shaped
    header["scorer"] = describe_scorer(model.scorer, arrays)
    return header, arrays


def _describe_text(given: Any, arrays: Arrays) -> Header:
    _write_names(given.names, arrays)
    if given.idf is not None:
        arrays["idf"] = given.idf
    return {
        "kind": "text",
        "weighting": given.weighting,
        "norm": given.norm,
        "strip_markup": given.strip_markup,
    }


def _describe_vectors(given: Any, arrays: Arrays) -> Header:
    _write_names(given.names, arrays)
    arrays["features"] = given.features.astype(np.int64)
    return {"kind": "vectors", "n_features": given.n_features, "keep_zeros": given.keep_zeros}


def _describe_sparse(scorer: Any, arrays: Arrays) -> Header:
    counts = np.diff(scorer.starts)
    arrays["counts"] = counts.astype(np.min_scalar_type(counts.max(initial=0)))
    arrays["of_class"] = scorer.classes
    arrays["weights"] = scorer.weights
    return {"kind": "sparse", "unit": scorer.unit}


def _describe_shaped(scorer: Any, arrays: Arrays) -> Header:
    for name in ("base", "factor", "weights"):
        arrays[name] = getattr(scorer, name)
    if scorer.table is not None:
        arrays["starts"] = scorer.table.starts.astype(np.int64)
        for name in ("levels", "probability", "prior"):
            arrays[name] = getattr(scorer.table, name)
    return {
        "kind": "shaped",
        "is_binary": scorer.is_binary,
        "is_log": scorer.is_log,
        "norm": scorer.norm,
    }


def _write_names(names: Sequence[str], arrays: Arrays) -> None:
    encoded = [name.encode("utf-8", "surrogatepass") for name in names]
    lengths = np.array([len(name) for name in encoded], np.int64)
    arrays["name_lengths"] = lengths.astype(np.min_scalar_type(lengths.max(initial=0)))
    arrays["names"] = np.frombuffer(b"".join(encoded), np.uint8)


def restore_model(header: Header, arrays: Arrays) -> Model:
    """Return the model; raise a ValueError or a KeyError where the parts contradict each other."""
    check_finite(arrays)
    _require(isinstance(header["classes"], list) and type(header["multilabel"]) is bool)
    classes = _check_classes(header["classes"])
    multilabel = header["multilabel"]
    _require(classes.size > (0 if multilabel else 1))
    n_scores = 1 if classes.size == 2 and not multilabel else classes.size
    given = _restore_input(header["input"], arrays)
    scorer = _restore_scorer(header["scorer"], arrays, n_scores, len(given.names))
    calibration = arrays.get("calibration")
    if calibration is not None:
        _take(arrays, "calibration", "<f8", (2, n_scores))
    _require(isinstance(header["provenance"], dict))
    return Model(
        classes_=classes,
        multilabel_=multilabel,
        input=given,
        scorer=scorer,
        thresholds_=_take(arrays, "thresholds", "<f8", (n_scores,)),
        calibration_=calibration,
        provenance=header["provenance"],
    )


def _check_classes(names: list[Any]) -> NDArray[Any]:
    """Return the classes, which must be of a kind that JSON tells apart, and each there once."""
    classes = np.array(names)
    is_plain = classes.ndim == 1 and classes.dtype.kind in "biufU"
    is_finite = classes.dtype.kind != "f" or np.isfinite(classes).all()
    if not (is_plain and is_finite) or len(set(classes.tolist())) < classes.size:
        raise ValueError(
            f"classes must be distinct texts, numbers or truth values. Got {names[:10]!r} instead."
        )
    return classes


def _restore_input(header: Header, arrays: Arrays) -> TextInput | VectorInput:
    names = _read_names(arrays)
    if header["kind"] == "text":
        _require(header["weighting"] in ("binary", "counts", "tfidf"))
        _require(header["norm"] in ("l2", "l1", None) and type(header["strip_markup"]) is bool)
        idf = None
        if header["weighting"] == "tfidf":
            idf = _take(arrays, "idf", "<f8", (len(names),))
        # The kernels find words by splitting text: each must be a token, and there once.
        _require(TOKEN.findall("\n".join(names).lower()) == names)
        _require(len(set(names)) == len(names))
        return TextInput(names, header["weighting"], header["norm"], header["strip_markup"], idf)
    _require(header["kind"] == "vectors" and type(header["keep_zeros"]) is bool)
    features = _take(arrays, "features", "<i8", (len(names),))
    n_features = header["n_features"]
    _require(type(n_features) is int and n_features > 0)
    _require(((features >= 0) & (features < n_features)).all())  # before differences overflow
    _require((np.diff(features) > 0).all())
    return VectorInput(n_features, features, tuple(names), header["keep_zeros"])


def _read_names(arrays: Arrays) -> list[str]:
    letters, lengths = arrays["names"], arrays["name_lengths"]
    _require(letters.dtype == np.uint8 and letters.ndim == 1)
    _require(lengths.dtype.kind == "u" and lengths.ndim == 1)
    ends = np.cumsum(lengths, dtype=np.int64)
    _require((ends[-1] if ends.size else 0) == letters.size and (np.diff(ends) >= 0).all())
    content = letters.tobytes()
    starts = (ends - lengths).tolist()
    return [
        content[start:end].decode("utf-8", "surrogatepass")
        for start, end in zip(starts, ends.tolist(), strict=True)
    ]


def _restore_scorer(
    header: Header, arrays: Arrays, n_scores: int, n_known: int
) -> SparseScorer | ShapedScorer:
    intercept = _take(arrays, "intercept", "<f8", (n_scores,))
    if header["kind"] == "sparse":
        return _restore_sparse(header, arrays, intercept, n_known)
    _require(header["kind"] == "shaped")
    return _restore_shaped(header, arrays, intercept, n_known)


def _restore_sparse(
    header: Header, arrays: Arrays, intercept: NDArray[np.float64], n_known: int
) -> SparseScorer:
    counts, classes = arrays["counts"], arrays["of_class"]
    _require(counts.shape == (n_known,) and counts.dtype.kind == "u")
    starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    _require((np.diff(starts) >= 0).all())
    weights = _take(arrays, "weights", "<f4", (int(starts[-1]),))
    _require(classes.shape == weights.shape and classes.dtype.kind == "u")
    _require(not classes.size or int(classes.max()) < intercept.size)
    _require(type(header["unit"]) is bool)
    return SparseScorer(starts, classes, weights, intercept, header["unit"])


def _restore_shaped(
    header: Header, arrays: Arrays, intercept: NDArray[np.float64], n_known: int
) -> ShapedScorer:
    _require(type(header["is_binary"]) is bool and type(header["is_log"]) is bool)
    _require(header["norm"] in ("l2", "l1", "max", None))
    shape = intercept.size, n_known
    base, factor, weights = (
        _take(arrays, name, "<f4", shape) for name in ("base", "factor", "weights")
    )
    return ShapedScorer(
        _restore_table(arrays, intercept.size, n_known),
        header["is_binary"],
        header["is_log"],
        base,
        factor,
        weights,
        header["norm"],
        intercept,
    )


def _restore_table(arrays: Arrays, n_scores: int, n_known: int) -> ShapeTable | None:
    if "starts" not in arrays:
        return None
    starts = _take(arrays, "starts", "<i8", (n_known + 1,))
    n_levels = arrays["levels"].size
    _require(starts[0] == 0 and starts[-1] == n_levels)
    _require((starts >= 0).all() and (np.diff(starts) >= N_BINS).all())
    table = ShapeTable(
        starts,
        _take(arrays, "levels", "<f8", (n_levels,)),
        _take(arrays, "probability", "<f4", (n_scores, n_levels)),
        _take(arrays, "prior", "<f8", (n_scores,)),
    )
    for shares in (table.probability, table.prior):
        _require(((shares > 0) & (shares < 1)).all())
    ascends = np.diff(table.levels) > 0
    begins = np.zeros(n_levels, bool)
    for bin in range(N_BINS + 1):  # between bins, and from the last of them to the first value
        begins[(starts[:-1] + bin)[starts[:-1] + bin < n_levels]] = True
    _require((ascends | begins[1:]).all())
    return table


def _take(arrays: Arrays, name: str, kind: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return an array, which must be of that kind and shape."""
    found = arrays[name]
    _require(found.dtype == np.dtype(kind) and found.shape == shape)
    return found


def check_finite(arrays: Arrays) -> None:
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError(f"The {name} of the model must be finite numbers of single precision.")


def _require(is_so: Any) -> None:
    if not is_so:
        raise ValueError("a part of the model does not fit the others")
