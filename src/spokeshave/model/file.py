"""Model files: one safetensors file of arrays and a JSON header, without any code.

The header has the version of the format and a digest of the whole file, which detects damage. The
content of the arrays is validated too, because a file with a correct digest may still be hostile.
Arrays are compressed; names share their beginnings with the name before, and inverse document
frequencies, of which there are few, are numbered. Weights may be multiples of a step.
"""

from __future__ import annotations

import hashlib
import json
import platform
import zlib
from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spokeshave.errors import ModelFileError
from spokeshave.model.inputs import TextInput, VectorInput
from spokeshave.model.model import Model
from spokeshave.model.scorers import N_BINS, ShapedScorer, ShapeTable, SparseScorer
from spokeshave.text.analyzers import ANALYZERS, MARK, Analysis, split_marked
from spokeshave.utils.atomic import write_atomic

PACKAGES = ("spokeshave", "numpy", "scipy", "scikit-learn", "numba")


def list_versions() -> dict[str, str]:
    """Return the versions of Python and of the packages by name."""
    from importlib.metadata import version  # slow to import, and predicting does not need it

    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


FORMAT = "spokeshave model"
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
LONGEST_HEADER = 1 << 26
LARGEST, LARGEST_RATIO = 1 << 22, 100  # bytes of arrays: this many, or these for a byte of the file
MOST_SHARED = 32  # bytes that a name has from the name before, on average
KINDS = ("|u1", "<u2", "<u4", "<i8", "<f4", "<f8")
PART = 1 << 16  # weights that are rounded, or read, at a time
N_STEPS = 64  # in the root mean square weight of a class, in byte precision
NO_DIGEST = "0" * 64
KEY = "spokeshave"

Arrays = dict[str, NDArray[Any]]
Header = dict[str, Any]


def save_model(
    model: Any,
    path: str | Path,
    *,
    classes: Sequence[Any] | None = None,
    provenance: dict[str, Any] | None = None,
    precision: str = "single",
) -> None:
    """Write a fitted model atomically to a file that `load_model` reads.

    The file contains only the words that are kept. If the normalisation of a document depends on
    removed words, as in a masked model, the file contains them too, without weights.

    Parameters
    ----------
    model : estimator, pipeline or Model
        A `ShavedSVC`, a `ShapedSVC`, a `DualLinearSVC`, or scikit-learn's `LinearSVC`,
        `LogisticRegression`, `SGDClassifier` or `Perceptron`, alone or at the end of a pipeline
        that begins with a `DocumentVectorizer`, a `TermWeighter` or a `StandardScaler` and may
        select features; or a result of `load_model`.
    path : str or Path
        The file.
    classes : sequence, optional
        Names of the classes, in the order of the columns of multilabel targets.
    provenance : dict, optional
        Origin of the model, as JSON values; versions are added.
    precision : {"single", "byte"}, default="single"
        The precision that weights are rounded to. "byte" makes each a multiple of a 64th of
        the root mean square weight of its class, which takes about a byte in the file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.pipeline import make_pipeline
    >>> from spokeshave import DocumentVectorizer, DualLinearSVC, load_model, save_model
    >>> texts = ["grey ash bark", "ash bark", "old oak acorn", "oak acorn"]
    >>> model = make_pipeline(DocumentVectorizer(), DualLinearSVC(random_state=0))
    >>> _ = model.fit(texts, ["ash", "ash", "oak", "oak"])
    >>> with TemporaryDirectory() as folder:
    ...     save_model(model, Path(folder, "trees.model"))
    ...     load_model(Path(folder, "trees.model")).predict(["An acorn!"])
    array(['oak'], dtype='<U3')
    """
    if precision not in ("single", "byte"):
        raise ValueError(f"precision must be 'single' or 'byte'. Got {precision!r} instead.")
    if isinstance(model, Model):
        if classes is not None or provenance is not None:
            raise ValueError(
                "classes and provenance must be None for a loaded model, which has its own."
            )
    else:
        from spokeshave.model.export import export_model

        found = {"versions": list_versions(), **(provenance or {})}
        model = export_model(model, classes=classes, provenance=found)
    write_atomic(path, pack_model(model, precision))


def load_model(path: str | Path) -> Model:
    """Read a model from a file; neither numba nor scikit-learn is needed.

    Parameters
    ----------
    path : str or Path
        A file written by `save_model` or the command line.

    Returns
    -------
    model : Model

    Examples
    --------
    >>> from spokeshave import load_model
    >>> load_model("trees.model")
    Traceback (most recent call last):
    spokeshave.errors.ModelFileError: trees.model: there is no such file
    """
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        raise ModelFileError(path, "there is no such file") from None
    except IsADirectoryError:
        raise ModelFileError(path, "this is a folder; name a model file in it") from None
    except OSError as error:
        raise ModelFileError(path, f"it cannot be read ({error.strerror})") from None
    try:
        return unpack_model(content)
    except _Damage as damage:
        raise ModelFileError(path, str(damage)) from None


class _Damage(Exception):
    """The content of a file is not a valid model."""


def pack_model(model: Model, precision: str = "single") -> bytes:
    """Return the content of a model file."""
    from safetensors.numpy import save

    header, arrays = describe_model(model)
    _check_finite(arrays)
    if precision == "byte" and header["scorer"]["kind"] == "sparse":
        arrays["weights"], arrays["steps"] = count_steps(
            arrays["weights"], arrays["of_class"], arrays["intercept"].size
        )
    described = {name: [a.dtype.str, list(a.shape)] for name, a in sorted(arrays.items())}
    first = {"format": FORMAT, "version": VERSION, "sha256": NO_DIGEST}
    text = json.dumps({**first, **header, "arrays": described}, allow_nan=False)
    content = save(_compress(arrays), {KEY: text})
    digest = hashlib.sha256(content).hexdigest()
    return content.replace(NO_DIGEST.encode(), digest.encode(), 1)


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


def _compress(arrays: Arrays) -> Arrays:
    """Return each array as compressed bytes, of which those of equal significance are together."""
    shuffled = {
        name: array.reshape(-1, 1).view(np.uint8).T.tobytes() for name, array in arrays.items()
    }
    found = {name: zlib.compress(content, 9) for name, content in shuffled.items()}
    sizes = [sum(map(len, contents.values())) for contents in (shuffled, found)]
    if sizes[0] > _limit_size(sizes[1]):  # reading would refuse it
        found = {name: zlib.compress(content, 0) for name, content in shuffled.items()}
    return {name: np.frombuffer(content, np.uint8) for name, content in found.items()}


def _limit_size(n_bytes: int) -> int:
    """Return the largest size of the arrays of a file, so that a small one cannot fill memory."""
    return max(LARGEST, LARGEST_RATIO * n_bytes)


def _expand(described: Any, compressed: Arrays) -> Arrays:
    """Return the arrays; raise a ValueError unless they are as the header describes them."""
    _require(isinstance(described, dict) and described.keys() <= compressed.keys())
    for kind, shape in described.values():
        _require(kind in KINDS and isinstance(shape, list))
        _require(all(type(n) is int and n >= 0 for n in shape))
    sizes = {
        name: prod(shape) * np.dtype(kind).itemsize for name, (kind, shape) in described.items()
    }
    _require(sum(sizes.values()) <= _limit_size(sum(a.nbytes for a in compressed.values())))
    arrays = {}
    for name, (kind, shape) in described.items():
        _require(compressed[name].dtype == np.uint8)
        content = _decompress(compressed[name].tobytes(), sizes[name])
        letters = np.frombuffer(content, np.uint8).reshape(np.dtype(kind).itemsize, -1)
        arrays[name] = np.frombuffer(letters.T.tobytes(), kind).reshape(shape)
    return arrays


def _decompress(content: bytes, size: int) -> bytes:
    reader = zlib.decompressobj()
    try:
        found = reader.decompress(content, size + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    _require(len(found) == size and reader.eof and not reader.unused_data)
    return found


def unpack_model(content: bytes) -> Model:
    """Return the model of the content of a file."""
    header = _read_header(content)
    version = header["version"]
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise _Damage("the model file is damaged; fetch or make it again")
    if version > VERSION:
        raise _Damage(
            f"the model file is of version {version}, newer than this Spokeshave, which reads up "
            f"to {VERSION}; upgrade Spokeshave"
        )
    _check_digest(content, header)
    try:
        arrays = _read_arrays(content)
        if version > 2:
            arrays = _expand(header["arrays"], arrays)
        return restore_model(header, arrays)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError):
        # The digest is correct, so the file is not damaged.
        raise _Damage(
            "the model file contradicts itself; it was not written by Spokeshave"
        ) from None


def _read_header(content: bytes) -> Header:
    length = int.from_bytes(content[:8], "little")
    if len(content) < 8 or length > LONGEST_HEADER:
        raise _Damage("this is not a model file; spokeshave fit writes one")
    try:
        outer = json.loads(content[8 : 8 + length])
        header: Header = json.loads(outer["__metadata__"][KEY])
        _require(isinstance(header, dict) and header["format"] == FORMAT and "version" in header)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _Damage(
            "this is not a model file, or it is damaged; spokeshave fit writes one"
        ) from None
    return header


def _check_digest(content: bytes, header: Header) -> None:
    digest = header.get("sha256")
    if isinstance(digest, str) and len(digest) == len(NO_DIGEST):
        blank = content.replace(digest.encode("utf-8", "replace"), NO_DIGEST.encode(), 1)
        if hashlib.sha256(blank).hexdigest() == digest:
            return
    raise _Damage("the model file is damaged or cut short; fetch or make it again")


def _read_arrays(content: bytes) -> Arrays:
    from safetensors import SafetensorError, deserialize

    kinds = {
        "U8": "<u1", "U16": "<u2", "U32": "<u4", "I64": "<i8", "F32": "<f4", "F64": "<f8",
    }  # fmt: skip
    try:
        return {
            name: np.frombuffer(found["data"], kinds[found["dtype"]]).reshape(found["shape"])
            for name, found in deserialize(content)  # type: ignore[no-untyped-call]
        }
    except SafetensorError as error:
        raise ValueError(str(error)) from None


def measure_arrays(content: bytes) -> dict[str, int]:
    """Return the size in bytes of each array of a model file."""
    return {name: array.nbytes for name, array in _read_arrays(content).items()}


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
    _check_finite(arrays)
    _require(isinstance(header["classes"], list) and type(header["multilabel"]) is bool)
    classes = _check_classes(header["classes"])
    multilabel = header["multilabel"]
    _require(classes.size > (0 if multilabel else 1))
    n_scores = 1 if classes.size == 2 and not multilabel else classes.size
    given = _restore_input(header["input"], arrays, header.get("version", VERSION))
    scorer = _restore_scorer(header["scorer"], arrays, n_scores, len(given.names))
    calibration = arrays.get("calibration")
    if calibration is not None:
        _get_array(arrays, "calibration", "<f8", (2, n_scores))
    _require(isinstance(header["provenance"], dict))
    return Model(
        classes_=classes,
        multilabel_=multilabel,
        input=given,
        scorer=scorer,
        thresholds_=_get_array(arrays, "thresholds", "<f8", (n_scores,)),
        calibration_=calibration,
        provenance=header["provenance"],
    )


def _check_classes(names: list[Any]) -> NDArray[Any]:
    """Return the classes, which must be distinct and of a type that JSON preserves."""
    classes = np.array(names)
    is_plain = classes.ndim == 1 and classes.dtype.kind in "biufU"
    is_finite = classes.dtype.kind != "f" or np.isfinite(classes).all()
    if not (is_plain and is_finite) or len(set(classes.tolist())) < classes.size:
        raise ValueError(
            f"classes must be distinct strings, numbers or booleans. Got {names[:10]!r} instead."
        )
    return classes


def _restore_input(header: Header, arrays: Arrays, version: int) -> TextInput | VectorInput:
    names = _read_names(arrays, has_shared=version > 2)
    if header["kind"] == "text":
        if version == 1:
            header = {**header, **FIRST_OPTIONS}
        idf = _restore_weighting(header, arrays, version, len(names))
        _require(type(header["strip_markup"]) is bool)
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
    _require(header["kind"] == "vectors" and type(header["keep_zeros"]) is bool)
    features = _get_array(arrays, "features", "<i8", (len(names),))
    n_features = header["n_features"]
    _require(type(n_features) is int and n_features > 0)
    _require(((features >= 0) & (features < n_features)).all())  # first: differences may overflow
    _require((np.diff(features) > 0).all())
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
    _require(not (given.keep_zeros and given.is_weighted))
    return given


def _restore_weighting(
    header: Header, arrays: Arrays, version: int, n_known: int
) -> NDArray[Any] | None:
    """Return the inverse document frequencies, if there are any."""
    _require(header["weighting"] in ("binary", "counts", "tfidf"))
    _require(header["norm"] in ("l2", "l1", None) and type(header["sublinear_tf"]) is bool)
    if header["weighting"] != "tfidf":
        return None
    idf = _read_idf(arrays, version)
    _require(idf.shape == (n_known,) and idf.dtype == np.float64)
    return idf


def _restore_analysis(header: Header) -> Analysis:
    analyzer, limits, stop_words = header["analyzer"], header["ngram_range"], header["stop_words"]
    _require(analyzer in ANALYZERS and type(header["lowercase"]) is bool)
    _require(header["strip_accents"] in ("ascii", "unicode", None))
    _require(header["unspaced"] in ("bigrams", None))
    _require(isinstance(limits, list) and all(type(n) is int for n in limits))
    min_n, max_n = limits
    _require(1 <= min_n <= max_n < 1 << 31)
    _require(isinstance(stop_words, list) and all(isinstance(word, str) for word in stop_words))
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
    _require(len(set(names)) == len(names))
    if analysis.parts:
        for part, places in zip(analysis.parts, split_marked(names), strict=True):
            _check_terms([names[place].removeprefix(MARK) for place in places], part)
        return
    min_n, max_n = analysis.ngram_range
    if analysis.analyzer != "word":  # a word may be too short for min_n characters
        shortest = min_n if analysis.analyzer == "char" else 1
        _require(all(shortest <= len(name) <= max_n for name in names))
        return
    _require(all(min_n <= name.count(" ") + 1 <= max_n for name in names))
    words = [word for name in names for word in name.split(" ")]
    _require(analysis.has_words(words))


def _read_idf(arrays: Arrays, version: int) -> NDArray[Any]:
    codes = arrays["idf"]
    if version < 3:
        return codes
    levels = arrays["idf_levels"]
    n_levels = int(codes.max()) + 1 if codes.size else 0
    _require(codes.dtype.kind == "u" and levels.shape == (n_levels,))
    return np.asarray(levels[codes])


def _read_names(arrays: Arrays, *, has_shared: bool) -> list[str]:
    letters, lengths = arrays["names"], arrays["name_lengths"]
    _require(letters.dtype == np.uint8 and letters.ndim == 1)
    _require(lengths.dtype.kind == "u" and lengths.ndim == 1)
    ends = np.cumsum(lengths, dtype=np.int64)
    _require((ends[-1] if ends.size else 0) == letters.size and (np.diff(ends) >= 0).all())
    content = letters.tobytes()
    starts = (ends - lengths).tolist()
    names = [content[start:end] for start, end in zip(starts, ends.tolist(), strict=True)]
    if has_shared:
        shared = arrays["name_shared"]
        _require(shared.dtype.kind == "u" and shared.shape == lengths.shape)
        _require(int(shared.sum(dtype=np.int64)) <= MOST_SHARED * shared.size)
        before = b""
        for number, n_shared in enumerate(shared.tolist()):
            _require(n_shared <= len(before))
            before = names[number] = before[:n_shared] + names[number]
    return [name.decode("utf-8", "surrogatepass") for name in names]


def _restore_scorer(
    header: Header, arrays: Arrays, n_scores: int, n_known: int
) -> SparseScorer | ShapedScorer:
    intercept = _get_array(arrays, "intercept", "<f8", (n_scores,))
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
    shape = (int(starts[-1]),)
    _require(classes.shape == shape and classes.dtype.kind == "u")
    _require(not classes.size or int(classes.max()) < intercept.size)
    if "steps" in arrays:
        steps = _get_array(arrays, "steps", "<f4", intercept.shape)
        weights = _read_multiples(arrays["weights"], steps, classes)
    else:
        weights = _get_array(arrays, "weights", "<f4", shape)
    _require(type(header["unit"]) is bool)
    return SparseScorer(starts, classes, weights, intercept, header["unit"])


def _read_multiples(
    numbers: NDArray[Any], steps: NDArray[np.float32], classes: NDArray[Any]
) -> NDArray[np.float32]:
    """Return weights from the numbers of steps of `count_steps`."""
    _require(numbers.shape == classes.shape and numbers.dtype.kind == "u")
    weights = np.empty(numbers.size, np.float32)
    for start in range(0, numbers.size, PART):
        part = slice(start, start + PART)
        halves = (numbers[part].astype(float) + 1) // 2
        signs = np.where(numbers[part] % 2 == 1, 1.0, -1.0)
        found = signs * halves * steps[classes[part]]
        _require((np.abs(found) <= np.finfo(np.float32).max).all())
        weights[part] = found
    return weights


def _restore_shaped(
    header: Header, arrays: Arrays, intercept: NDArray[np.float64], n_known: int
) -> ShapedScorer:
    _require(type(header["is_binary"]) is bool and type(header["is_log"]) is bool)
    _require(header["norm"] in ("l2", "l1", "max", None))
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
    _require(starts[0] == 0 and starts[-1] == n_levels)
    _require((starts >= 0).all() and (np.diff(starts) >= N_BINS).all())
    table = ShapeTable(
        starts,
        _get_array(arrays, "levels", "<f8", (n_levels,)),
        _get_array(arrays, "probability", "<f4", (n_scores, n_levels)),
        _get_array(arrays, "prior", "<f8", (n_scores,)),
    )
    for shares in (table.probability, table.prior):
        _require(((shares > 0) & (shares < 1)).all())
    ascends = np.diff(table.levels) > 0
    begins = np.zeros(n_levels, bool)
    for bin in range(N_BINS + 1):  # the bins and the first value need not ascend
        begins[(starts[:-1] + bin)[starts[:-1] + bin < n_levels]] = True
    _require((ascends | begins[1:]).all())
    return table


def _get_array(arrays: Arrays, name: str, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return an array, which must have this dtype and shape."""
    found = arrays[name]
    _require(found.dtype == np.dtype(dtype) and found.shape == shape)
    return found


def _check_finite(arrays: Arrays) -> None:
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError(f"The {name} of the model must be finite numbers of single precision.")


def _require(is_so: Any) -> None:
    if not is_so:
        raise ValueError("the parts of the model are inconsistent")
