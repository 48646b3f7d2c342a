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

from spokeshave.errors import ModelFileError
from spokeshave.layout import Arrays, Header, check_finite, describe_model, restore_model
from spokeshave.model import Model
from spokeshave.whole_files import write_whole

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
        from spokeshave.export import export_model
        from spokeshave.versions import list_versions

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
