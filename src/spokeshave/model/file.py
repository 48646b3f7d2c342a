"""Models in files: arrays and a header of JSON in one safetensors file, and never any code.

The header holds the version of the format and a digest of the whole file, so that no damage goes
unnoticed. What the arrays say is checked as well: a file with a right digest may still be hostile.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spokeshave.errors import ModelFileError
from spokeshave.model.inputs import TOKEN, TextInput, VectorInput
from spokeshave.model.model import Model
from spokeshave.model.scorers import N_BINS, ShapedScorer, ShapeTable, SparseScorer
from spokeshave.utils.atomic import write_whole

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


FORMAT, VERSION = "spokeshave model", 1
LONGEST_HEADER = 1 << 26
NO_DIGEST = "0" * 64
KEY = "spokeshave"


def save_model(
    model: Any,
    path: str | Path,
    *,
    classes: Sequence[Any] | None = None,
    provenance: dict[str, Any] | None = None,
) -> None:
    """Write a fitted model to a file that `load_model` reads, whole or not at all.

    The file holds only the words that are kept. Where a document's length depends on the words
    that were removed, as in a masked model, these are kept too, without a weight. Weights are
    rounded to single precision.

    Parameters
    ----------
    model : estimator, pipeline or Model
        A `ShavedSVC`, a `ShapedSVC`, a `DualLinearSVC`, or scikit-learn's `LinearSVC`,
        `LogisticRegression`, `SGDClassifier` or `Perceptron`, alone or at the end of a pipeline
        that begins with a `DocumentVectorizer` or a `StandardScaler` and may select features; or
        what `load_model` gave.
    path : str or Path
        The file.
    classes : sequence, optional
        Names of the classes, in the order of the columns of multilabel targets.
    provenance : dict, optional
        Where the model comes from, in values of JSON; versions are added.

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
    if isinstance(model, Model):
        if classes is not None or provenance is not None:
            raise ValueError(
                "classes and provenance are of the model already. Leave them out to save it again."
            )
    else:
        from spokeshave.model.export import export_model
        from spokeshave.utils.versions import list_versions

        found = {"versions": list_versions(), **(provenance or {})}
        model = export_model(model, classes=classes, provenance=found)
    write_whole(path, pack_model(model))


def load_model(path: str | Path) -> Model:
    """Read a model from a file; neither numba nor scikit-learn is needed.

    Parameters
    ----------
    path : str or Path
        A file that `save_model` or the command line has written.

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
    """What is wrong with the content of a file."""


def pack_model(model: Model) -> bytes:
    """Return the content of a model's file."""
    from safetensors.numpy import save

    header, arrays = describe_model(model)
    check_finite(arrays)
    text = json.dumps(
        {"format": FORMAT, "version": VERSION, "sha256": NO_DIGEST, **header}, allow_nan=False
    )
    content = save({name: np.ascontiguousarray(a) for name, a in arrays.items()}, {KEY: text})
    digest = hashlib.sha256(content).hexdigest()
    return content.replace(NO_DIGEST.encode(), digest.encode(), 1)


def unpack_model(content: bytes) -> Model:
    """Return the model that the content of a file holds."""
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
        return restore_model(header, _read_arrays(content))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError):
        # The digest is right, so it was written like this.
        raise _Damage(
            "the model file contradicts itself; it was not written by Spokeshave"
        ) from None


def _read_header(content: bytes) -> Header:
    length = int.from_bytes(content[:8], "little")
    if len(content) < 8 or length > LONGEST_HEADER:
        raise _Damage("this is not a model file; spokeshave fit writes one")
    try:
        outer = json.loads(content[8 : 8 + length])
        header = json.loads(outer["__metadata__"][KEY])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _Damage(
            "this is not a model file, or it is damaged; spokeshave fit writes one"
        ) from None
    if not isinstance(header, dict) or header.get("format") != FORMAT or "version" not in header:
        raise _Damage("this is not a model file, or it is damaged; spokeshave fit writes one")
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
