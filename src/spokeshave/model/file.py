"""Model files: one safetensors file of arrays and a JSON header, without any code.

The header has the version of the format and a digest of the whole file, which detects damage.
Arrays are compressed. A file with a correct digest may still be hostile: the arrays that it
describes must be in proportion to its size, and `spokeshave.model.file_content` checks them.
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

from spokeshave.errors import ModelFileError
from spokeshave.model.file_content import (
    VERSION,
    Arrays,
    Header,
    check_finite,
    count_steps,
    describe_model,
    require,
    restore_model,
)
from spokeshave.model.model import Model
from spokeshave.utils.atomic import write_atomic

PACKAGES = ("spokeshave", "numpy", "scipy", "scikit-learn", "numba")


def list_versions() -> dict[str, str]:
    """Return the versions of Python and of the packages by name."""
    from importlib.metadata import version  # slow to import, and predicting does not need it

    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


FORMAT = "spokeshave model"
LONGEST_HEADER = 1 << 26
LARGEST, LARGEST_RATIO = 1 << 22, 100  # bytes of arrays: this many, or these for a byte of the file
NAME_SIZE = 64  # bytes that a name is counted as, beside those of its arrays
MOST_DIMENSIONS = 2
KINDS = ("|u1", "<u2", "<u4", "<i8", "<f4", "<f8")
INCONSISTENT = (
    *(KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError),
)
NO_DIGEST = "0" * 64
KEY = "spokeshave"


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
        return unpack_model(Path(path).read_bytes())
    except FileNotFoundError:
        raise ModelFileError(path, "there is no such file") from None
    except IsADirectoryError:
        raise ModelFileError(path, "this is a folder; name a model file in it") from None
    except OSError as error:
        raise ModelFileError(path, f"it cannot be read ({error.strerror})") from None
    except _Damage as damage:
        raise ModelFileError(path, str(damage)) from None
    except MemoryError:
        raise ModelFileError(
            path, "there is not enough memory to load it; free some, or load it on a larger machine"
        ) from None


class _Damage(Exception):
    """The content of a file is not a valid model."""


def pack_model(model: Model, precision: str = "single") -> bytes:
    """Return the content of a model file."""
    from safetensors.numpy import save

    header, arrays = describe_model(model)
    check_finite(arrays)
    if precision == "byte" and header["scorer"]["kind"] == "sparse":
        arrays["weights"], arrays["steps"] = count_steps(
            arrays["weights"], arrays["of_class"], arrays["intercept"].size
        )
    described = {name: [a.dtype.str, list(a.shape)] for name, a in sorted(arrays.items())}
    first = {"format": FORMAT, "version": VERSION, "sha256": NO_DIGEST}
    text = json.dumps({**first, **header, "arrays": described}, allow_nan=False)
    content = save(_compress(arrays), {KEY: text})
    if (length := _read_length(content)) > LONGEST_HEADER:
        raise ValueError(
            "classes, stop words and provenance must take at most "
            f"{LONGEST_HEADER >> 20} MB as JSON in a model file. Got {length >> 20} MB instead."
        )
    digest = hashlib.sha256(content).hexdigest()
    return content.replace(NO_DIGEST.encode(), digest.encode(), 1)


def _compress(arrays: Arrays) -> Arrays:
    """Return each array as compressed bytes, of which those of equal significance are together."""
    shuffled = {
        name: array.reshape(-1, 1).view(np.uint8).T.tobytes() for name, array in arrays.items()
    }
    found = {name: zlib.compress(content, 9) for name, content in shuffled.items()}
    size, n_bytes = (sum(map(len, contents.values())) for contents in (shuffled, found))
    n_names = arrays["name_lengths"].size
    if size + NAME_SIZE * n_names > _limit_size(n_bytes):  # reading would refuse it
        found = {name: zlib.compress(content, 0) for name, content in shuffled.items()}
    return {name: np.frombuffer(content, np.uint8) for name, content in found.items()}


def _limit_size(n_bytes: int) -> int:
    """Return the largest size of the arrays of a file, so that a small one cannot fill memory."""
    return max(LARGEST, LARGEST_RATIO * n_bytes)


def _expand(described: Any, compressed: Arrays) -> Arrays:
    """Return the arrays; raise a ValueError unless they are as the header describes them."""
    require(isinstance(described, dict) and described.keys() <= compressed.keys())
    for kind, shape in described.values():
        require(kind in KINDS and isinstance(shape, list))
        require(len(shape) <= MOST_DIMENSIONS and all(type(n) is int and n >= 0 for n in shape))
    sizes = {
        name: prod(shape) * np.dtype(kind).itemsize for name, (kind, shape) in described.items()
    }
    n_names = prod(described["name_lengths"][1])
    size = sum(sizes.values()) + NAME_SIZE * n_names
    require(size <= _limit_size(sum(array.nbytes for array in compressed.values())))
    arrays = {}
    for name, (kind, shape) in described.items():
        require(compressed[name].dtype == np.uint8)
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
    require(len(found) == size and reader.eof and not reader.unused_data)
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
    except INCONSISTENT:
        # The digest is correct, so the file is not damaged.
        raise _Damage(
            "the model file contradicts itself; it was not written by Spokeshave"
        ) from None


def _read_length(content: bytes) -> int:
    """Return the length of the header of a file."""
    return int.from_bytes(content[:8], "little")


def _read_header(content: bytes) -> Header:
    length = _read_length(content)
    if len(content) < 8 or length > LONGEST_HEADER:
        raise _Damage("this is not a model file; spokeshave fit writes one")
    try:
        outer = json.loads(content[8 : 8 + length])
        header: Header = json.loads(outer["__metadata__"][KEY])
        require(isinstance(header, dict) and header["format"] == FORMAT and "version" in header)
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
