"""The content of a model file: the header and the arrays of a model, and the model of them.

A header and arrays that were read may be hostile. Every type, shape, range and order is checked
before it is used, and nothing is made before the counts agree.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spokeshave.model.inputs import TextInput, VectorInput
from spokeshave.model.model import Model
from spokeshave.model.scorers import N_BINS, ShapedScorer, ShapeTable, SparseScorer
from spokeshave.text.analyzers import ANALYZERS, MARK, Analysis, split_marked

# 1 had single words only, 2 had arrays that were not compressed, 3 had no steps, and 4 no weighted
# vectors.
VERSION = 5
FIRST_OPTIONS = {
    "sublinear_tf": False,
    "analyzer": "word",
    "ngram_range": [1, 1],
    "lowercase": True,
    "strip_accents": None,
    "stop_words": [],
    "unspaced": None,
}  # of texts in files of version 1
AS_GIVEN = {"weighting": "counts", "sublinear_tf": False, "norm": None}  # vectors before version 5
MOST_SHARED = 32  # bytes that a name has from the name before, on average
PART = 1 << 16  # weights that are rounded, or read, at a time
DEEPEST = 20  # lists and dicts in each other, in the provenance
WIDEST = 1 << 24  # characters of all names of classes, each as long as the longest
SURROGATE = re.compile("[\ud800-\udfff]")
PLAIN = (str, bool, int, float)
N_STEPS = 64  # in the root mean square weight of a class, in byte precision

Arrays = dict[str, NDArray[Any]]
Header = dict[str, Any]


def describe_model(model: Model) -> tuple[Header, Arrays]:
    """Return the header and the arrays of a model."""
    header: Header = {
        "classes": _check_classes(model.classes_.tolist()).tolist(),
        "multilabel": model.multilabel_,
        "provenance": model.provenance,
    }
    arrays: Arrays = {"thresholds": model.thresholds_, "intercept": model.scorer.intercept}
    if model.calibration_ is not None:
        arrays["calibration"] = model.calibration_
    is_text, is_sparse = isinstance(model.input, TextInput), isinstance(model.scorer, SparseScorer)
    _write_names(model.input.names, arrays)
    header["input"] = (_describe_text if is_text else _describe_vectors)(model.input, arrays)
    header["scorer"] = (_describe_sparse if is_sparse else _describe_shaped)(model.scorer, arrays)
    return header, arrays


def count_steps(
    weights: NDArray[np.float32], classes: NDArray[Any], n_classes: int
) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """Return weights as natural numbers of steps, and the step of each class.

    The numbers 0, 1, -1, 2, -2 and so on of steps are 0, 1, 2, 3, 4. An error of a fraction of the
    usual weight is lost among the weights of a document, whatever the size of the weight.

    Examples
    --------
    >>> numbers, steps = count_steps(np.array([1, -7, 2], np.float32), np.array([0, 0, 1]), 3)
    >>> numbers.tolist(), steps.tolist()
    ([25, 180, 127], [0.078125, 0.03125, 1.0])
    """
    parts = [slice(start, start + PART) for start in range(0, weights.size, PART)]
    n_weights, squares = np.zeros(n_classes), np.zeros(n_classes)
    for part in parts:  # a large model has little memory to spare
        n_weights += np.bincount(classes[part], minlength=n_classes)
        squares += np.bincount(classes[part], weights[part].astype(float) ** 2, n_classes)
    steps = (np.sqrt(squares / np.maximum(n_weights, 1)) / N_STEPS).astype(np.float32)
    steps[steps == 0] = 1
    counted = [_count_multiples(weights[part], steps[classes[part]]) for part in parts]
    return np.concatenate([np.zeros(0, np.uint8), *counted]), steps


def _count_multiples(weights: NDArray[np.float32], steps: NDArray[np.float32]) -> NDArray[Any]:
    numbers = np.rint(weights.astype(float) / steps).astype(np.int64)
    return _shrink(np.where(numbers > 0, 2 * numbers - 1, -2 * numbers))


def _describe_weighting(given: Any, arrays: Arrays) -> Header:
    if given.idf is not None:
        levels, codes = np.unique(given.idf, return_inverse=True)
        arrays["idf"], arrays["idf_levels"] = _shrink(codes), levels
    return {
        "weighting": given.weighting,
        "norm": given.norm,
        "sublinear_tf": given.sublinear_tf,
    }


def _describe_text(given: Any, arrays: Arrays) -> Header:
    return {
        "kind": "text",
        **_describe_weighting(given, arrays),
        "strip_markup": given.strip_markup,
        "analyzer": given.analysis.analyzer,
        "ngram_range": list(given.analysis.ngram_range),
        "lowercase": given.analysis.lowercase,
        "strip_accents": given.analysis.strip_accents,
        "stop_words": sorted(given.analysis.stop_words),
        "unspaced": given.analysis.unspaced,
    }


def _describe_vectors(given: Any, arrays: Arrays) -> Header:
    arrays["features"] = given.features.astype(np.int64)
    return {
        "kind": "vectors",
        **_describe_weighting(given, arrays),
        "n_features": given.n_features,
        "keep_zeros": given.keep_zeros,
    }


def _describe_sparse(scorer: Any, arrays: Arrays) -> Header:
    arrays["counts"] = _shrink(np.diff(scorer.starts))
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
    shared = count_shared(encoded)
    if shared.sum() > MOST_SHARED * len(names):  # reading would refuse it
        shared[:] = 0
    rests = [name[n:] for name, n in zip(encoded, shared.tolist(), strict=True)]
    arrays["name_shared"] = _shrink(shared)
    arrays["name_lengths"] = _shrink(np.array([len(rest) for rest in rests], np.int64))
    arrays["names"] = np.frombuffer(b"".join(rests), np.uint8)


def count_shared(names: Sequence[bytes]) -> NDArray[np.int64]:
    """Return how many bytes of each name are also the beginning of the name before it.

    Examples
    --------
    >>> count_shared([b"acorn", b"acre", b"oak"])
    array([0, 2, 0])
    """
    letters = np.frombuffer(b"".join(names), np.uint8)
    lengths = np.array([len(name) for name in names], np.int64)
    starts = np.cumsum(lengths) - lengths
    shared = np.zeros_like(lengths)
    alike = np.arange(1, lengths.size)  # names that begin like the one before, as far as seen
    while alike.size:
        depth = shared[alike[0]]
        alike = alike[np.minimum(lengths[alike], lengths[alike - 1]) > depth]
        same = letters[starts[alike] + depth] == letters[starts[alike - 1] + depth]
        alike = alike[same]
        shared[alike] += 1
    return shared


def _shrink(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return natural numbers in the smallest type."""
    return numbers.astype(np.min_scalar_type(numbers.max(initial=0)))


def restore_model(header: Header, arrays: Arrays) -> Model:
    """Return the model; raise a ValueError or a KeyError if its parts are inconsistent."""
    check_finite(arrays)
    require(isinstance(header["classes"], list) and type(header["multilabel"]) is bool)
    multilabel, n_classes = header["multilabel"], len(header["classes"])
    require(n_classes > (0 if multilabel else 1))
    n_scores = 1 if n_classes == 2 and not multilabel else n_classes
    thresholds = _get_array(arrays, "thresholds", "<f8", (n_scores,))
    classes = _check_classes(header["classes"])
    given = _restore_input(header["input"], arrays, header.get("version", VERSION))
    scorer = _restore_scorer(header["scorer"], arrays, n_scores, len(given.names))
    calibration = arrays.get("calibration")
    if calibration is not None:
        _get_array(arrays, "calibration", "<f8", (2, n_scores))
    require(isinstance(header["provenance"], dict) and _is_shallow(header["provenance"]))
    return Model(
        classes_=classes,
        multilabel_=multilabel,
        input=given,
        scorer=scorer,
        thresholds_=thresholds,
        calibration_=calibration,
        provenance=header["provenance"],
    )


def _check_classes(names: list[Any]) -> NDArray[Any]:
    """Return the classes, which must be distinct and of a type that JSON preserves.

    Strings are of fixed width, as numpy makes them, unless one is so long that so many would take
    much memory; then they are objects.
    """
    kinds = set(map(type, names))
    if str in kinds:
        texts = list(map(str, names))
        is_wide = max(map(len, texts)) * len(texts) > WIDEST
        is_valid = kinds <= set(PLAIN) and not SURROGATE.search("".join(texts))
        classes = np.array(texts if is_valid else [], object if is_wide else None)
    else:
        classes = np.array(names if kinds <= set(PLAIN) else [])
        is_valid = classes.dtype.kind in "biuf" and bool(np.isfinite(classes).all())
    if not is_valid or len(set(classes.tolist())) < len(names):
        raise ValueError(
            "classes must be distinct strings of valid Unicode, numbers or booleans. "
            f"Got {names[:10]!r} instead."
        )
    return classes


def _is_shallow(value: Any) -> bool:
    """Return whether lists and dicts are nested so little that they can be written as JSON."""
    values = [value]
    for _ in range(DEEPEST):
        values = [
            inner
            for outer in values
            if isinstance(outer, list | dict)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return not values


def _restore_input(header: Header, arrays: Arrays, version: int) -> TextInput | VectorInput:
    names = _read_names(arrays, has_shared=version > 2)
    if header["kind"] == "text":
        if version == 1:
            header = {**header, **FIRST_OPTIONS}
        idf = _restore_weighting(header, arrays, version, len(names))
        require(type(header["strip_markup"]) is bool)
        analysis = _restore_analysis(header)
        _check_terms(names, analysis)
        return TextInput(
            names,
            header["weighting"],
            header["norm"],
            header["strip_markup"],
            idf,
            analysis,
            sublinear_tf=header["sublinear_tf"],
        )
    require(header["kind"] == "vectors" and type(header["keep_zeros"]) is bool)
    features = _get_array(arrays, "features", "<i8", (len(names),))
    n_features = header["n_features"]
    require(type(n_features) is int and 0 < n_features <= np.iinfo(np.int64).max)
    require(((features >= 0) & (features < n_features)).all())  # first: differences may overflow
    require((np.diff(features) > 0).all())
    if version < 5:
        header = {**header, **AS_GIVEN}
    given = VectorInput(
        n_features,
        features,
        tuple(names),
        header["keep_zeros"],
        header["weighting"],
        header["sublinear_tf"],
        header["norm"],
        _restore_weighting(header, arrays, version, len(names)),
    )
    require(not (given.keep_zeros and given.is_weighted))
    return given


def _restore_weighting(
    header: Header, arrays: Arrays, version: int, n_known: int
) -> NDArray[Any] | None:
    """Return the inverse document frequencies, if there are any."""
    require(header["weighting"] in ("binary", "counts", "tfidf"))
    require(header["norm"] in ("l2", "l1", None) and type(header["sublinear_tf"]) is bool)
    if header["weighting"] != "tfidf":
        return None
    idf = _read_idf(arrays, version)
    require(idf.shape == (n_known,) and idf.dtype == np.float64)
    return idf


def _restore_analysis(header: Header) -> Analysis:
    analyzer, limits, stop_words = header["analyzer"], header["ngram_range"], header["stop_words"]
    require(analyzer in ANALYZERS and type(header["lowercase"]) is bool)
    require(header["strip_accents"] in ("ascii", "unicode", None))
    require(header["unspaced"] in ("bigrams", None))
    require(isinstance(limits, list) and all(type(n) is int for n in limits))
    min_n, max_n = limits
    require(1 <= min_n <= max_n < 1 << 31)
    require(isinstance(stop_words, list) and all(isinstance(word, str) for word in stop_words))
    return Analysis(
        analyzer=analyzer,
        ngram_range=(min_n, max_n),
        lowercase=header["lowercase"],
        strip_accents=header["strip_accents"],
        strip_markup=header["strip_markup"],
        stop_words=frozenset(stop_words),
        unspaced=header["unspaced"],
    )


def _check_terms(names: list[str], analysis: Analysis) -> None:
    """Raise unless the names are distinct and could be terms of the analysis."""
    require(len(set(names)) == len(names))
    if analysis.parts:
        for part, places in zip(analysis.parts, split_marked(names), strict=True):
            _check_terms([names[place].removeprefix(MARK) for place in places], part)
        return
    min_n, max_n = analysis.ngram_range
    if analysis.analyzer != "word":  # a word may be too short for min_n characters
        shortest = min_n if analysis.analyzer == "char" else 1
        require(all(shortest <= len(name) <= max_n for name in names))
        return
    require(all(min_n <= name.count(" ") + 1 <= max_n for name in names))
    words = [word for name in names for word in name.split(" ")]
    require(analysis.has_words(words))


def _read_idf(arrays: Arrays, version: int) -> NDArray[Any]:
    codes = arrays["idf"]
    if version < 3:
        return codes
    levels = arrays["idf_levels"]
    n_levels = int(codes.max()) + 1 if codes.size else 0
    require(codes.dtype.kind == "u" and levels.shape == (n_levels,))
    return np.asarray(levels[codes])


def _read_names(arrays: Arrays, *, has_shared: bool) -> list[str]:
    letters, lengths = arrays["names"], arrays["name_lengths"]
    require(letters.dtype == np.uint8 and letters.ndim == 1)
    require(lengths.dtype.kind == "u" and lengths.ndim == 1)
    ends = np.cumsum(lengths, dtype=np.int64)
    require((ends[-1] if ends.size else 0) == letters.size and (np.diff(ends) >= 0).all())
    content = letters.tobytes()
    starts = (ends - lengths).tolist()
    names = [content[start:end] for start, end in zip(starts, ends.tolist(), strict=True)]
    if has_shared:
        shared = arrays["name_shared"]
        require(shared.dtype.kind == "u" and shared.shape == lengths.shape)
        require(int(shared.sum(dtype=np.int64)) <= MOST_SHARED * shared.size)
        before = b""
        for number, n_shared in enumerate(shared.tolist()):
            require(n_shared <= len(before))
            before = names[number] = before[:n_shared] + names[number]
    return [name.decode("utf-8", "surrogatepass") for name in names]


def _restore_scorer(
    header: Header, arrays: Arrays, n_scores: int, n_known: int
) -> SparseScorer | ShapedScorer:
    intercept = _get_array(arrays, "intercept", "<f8", (n_scores,))
    if header["kind"] == "sparse":
        return _restore_sparse(header, arrays, intercept, n_known)
    require(header["kind"] == "shaped")
    return _restore_shaped(header, arrays, intercept, n_known)


def _restore_sparse(
    header: Header, arrays: Arrays, intercept: NDArray[np.float64], n_known: int
) -> SparseScorer:
    counts, classes = arrays["counts"], arrays["of_class"]
    require(counts.shape == (n_known,) and counts.dtype.kind == "u")
    require(int(counts.max(initial=0)) <= intercept.size)
    starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    require((np.diff(starts) >= 0).all())
    shape = (int(starts[-1]),)
    require(classes.shape == shape and classes.dtype.kind == "u")
    require(not classes.size or int(classes.max()) < intercept.size)
    if "steps" in arrays:
        steps = _get_array(arrays, "steps", "<f4", intercept.shape)
        weights = _read_multiples(arrays["weights"], steps, classes)
    else:
        weights = _get_array(arrays, "weights", "<f4", shape)
    require(type(header["unit"]) is bool)
    return SparseScorer(starts, classes, weights, intercept, header["unit"])


def _read_multiples(
    numbers: NDArray[Any], steps: NDArray[np.float32], classes: NDArray[Any]
) -> NDArray[np.float32]:
    """Return weights from the numbers of steps of `count_steps`."""
    require(numbers.shape == classes.shape and numbers.dtype.kind == "u")
    weights = np.empty(numbers.size, np.float32)
    for start in range(0, numbers.size, PART):
        part = slice(start, start + PART)
        halves = (numbers[part].astype(float) + 1) // 2
        signs = np.where(numbers[part] % 2 == 1, 1.0, -1.0)
        found = signs * halves * steps[classes[part]]
        require((np.abs(found) <= np.finfo(np.float32).max).all())
        weights[part] = found
    return weights


def _restore_shaped(
    header: Header, arrays: Arrays, intercept: NDArray[np.float64], n_known: int
) -> ShapedScorer:
    require(type(header["is_binary"]) is bool and type(header["is_log"]) is bool)
    require(header["norm"] in ("l2", "l1", "max", None))
    shape = intercept.size, n_known
    base, factor, weights = (
        _get_array(arrays, name, "<f4", shape) for name in ("base", "factor", "weights")
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
    starts = _get_array(arrays, "starts", "<i8", (n_known + 1,))
    n_levels = arrays["levels"].size
    require(starts[0] == 0 and starts[-1] == n_levels)
    require((starts >= 0).all() and (np.diff(starts) >= N_BINS).all())
    table = ShapeTable(
        starts,
        _get_array(arrays, "levels", "<f8", (n_levels,)),
        _get_array(arrays, "probability", "<f4", (n_scores, n_levels)),
        _get_array(arrays, "prior", "<f8", (n_scores,)),
    )
    for shares in (table.probability, table.prior):
        require(((shares > 0) & (shares < 1)).all())
    ascends = np.diff(table.levels) > 0
    begins = np.zeros(n_levels, bool)
    for bin in range(N_BINS + 1):  # the bins and the first value need not ascend
        begins[(starts[:-1] + bin)[starts[:-1] + bin < n_levels]] = True
    require((ascends | begins[1:]).all())
    return table


def _get_array(arrays: Arrays, name: str, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return an array, which must have this dtype and shape."""
    found = arrays[name]
    require(found.dtype == np.dtype(dtype) and found.shape == shape)
    return found


def check_finite(arrays: Arrays) -> None:
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError(f"The {name} of the model must be finite numbers of single precision.")


def require(is_so: Any) -> None:
    if not is_so:
        raise ValueError("the parts of the model are inconsistent")
