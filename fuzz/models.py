"""Model files that are damaged, or made to be hostile with a digest that is right."""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import numpy as np
from scipy import sparse

from fuzz.batches import ROOT, Finding, run_batches
from spokeshave.errors import ModelFileError
from spokeshave.model.file import KEY, NO_DIGEST, load_model, pack_model, unpack_model
from spokeshave.model.inputs import TextInput
from spokeshave.model.label_files import PredictedColumns, predict_columns
from spokeshave.model.model import Model

sys.path.append(str(ROOT / "tests"))  # of the checkout: the models that tests are made of

from made_models import (
    TEXTS,
    lie_in_arrays,
    lie_in_header,
    make_documents,
    make_models,
    put_together,
    seal,
    take_apart,
)

OLD = ROOT / "tests" / "model" / "models"
MOST_DENSE = 1000  # columns
DENSE = "documents must be dense, like the training documents."
LONG = (70_000, 10**6, 2 * 10**6)


def run(n_runs: int, seed: int) -> list[Finding]:
    """Try ``n_runs`` model files; return the findings."""
    return run_batches("models", n_runs, seed)


@cache
def list_contents() -> list[bytes]:
    """Return the content of a file of every kind, in both precisions and in every version."""
    models = make_models().values()
    both = [pack_model(model, how) for model in models for how in ("single", "byte")]
    return [*both, *(path.read_bytes() for path in sorted(OLD.glob("*.model")))]


def make_input(number: int, seed: int) -> bytes:
    """Return the content of a file."""
    rng = random.Random(f"{seed} {number}")
    return rng.choice(CHANGES)(rng.choice(list_contents()), rng)


def try_input(content: bytes, say: Callable[[str], None]) -> list[str]:
    """Load a model, and use it in every way; return what went wrong."""
    path = Path(gettempdir(), f"spokeshave-fuzz-{os.getpid()}.model")
    path.write_bytes(content)
    try:
        say("loading")
        model = load_model(path)
    except ModelFileError as error:
        return [] if str(error).startswith(f"{path}: ") else [f"{error} does not name the file"]
    except BaseException as error:
        return [f"loading: {type(error).__name__}: {error}"]
    finally:
        path.unlink()
    found = []
    for doing, use in USES.items():
        say(doing)
        try:
            use(model)
        except BaseException as error:
            if DENSE not in str(error):  # documents of so many columns are sparse here
                found.append(f"{doing}: {type(error).__name__}: {error}")
    return found


def save_input(content: bytes, path: Path) -> None:
    """Write the content of a file."""
    path.write_bytes(content)


def warm_up() -> None:
    """Compile the kernels that predict."""
    import numba  # noqa: F401  # models use it as soon as it is loaded

    for content in list_contents():
        problems = try_input(content, lambda doing: None)
        assert not problems, problems


def damage_bytes(content: bytes, rng: random.Random) -> bytes:
    """Change, remove, repeat or add a few bytes."""
    changed = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 20])):
        place = rng.choice([rng.randrange(len(changed)), rng.randrange(min(len(changed), 400))])
        match rng.randrange(6):
            case 0:
                changed[place] ^= 1 << rng.randrange(8)
            case 1:
                changed[place] = rng.choice([0, 0xFF, ord('"'), ord("["), ord("9"), ord("-")])
            case 2:
                del changed[place : place + rng.choice([1, 8, 1000])]
            case 3:
                changed[place:place] = changed[place : place + rng.choice([1, 8, 1000])]
            case 4:
                changed[place:place] = rng.randbytes(rng.choice([1, 8]))
            case _:
                changed[:8] = rng.choice(SIZES).to_bytes(8, "little")
        changed = changed or bytearray(b"\0")
    return bytes(changed)


def damage_and_seal(content: bytes, rng: random.Random) -> bytes:
    """Damage a file, mostly its arrays, and give it the digest that it should have."""
    content = _blank(content)
    start = 8 + int.from_bytes(content[:8], "little") if rng.random() < 0.8 else 0
    damaged = damage_bytes(content[start:], rng)
    n = len(content) - start if rng.random() < 0.8 else len(damaged)
    return seal(content[:start] + damaged[:n].ljust(n, b"\0"))


def lie(content: bytes, rng: random.Random) -> bytes:
    """Change some parts of the header and of the arrays."""
    header, arrays = _take_apart(content)
    for _ in range(rng.randrange(1, 4)):
        if rng.random() < 0.5 and isinstance(header.get("scorer"), dict):
            header = lie_in_header(header, rng)
        else:
            arrays = lie_in_arrays(arrays, rng) or arrays
    return put_together(header, arrays)


def lie_quietly(content: bytes, rng: random.Random) -> bytes:
    """Change what may be so: values of arrays, or options of the input and the scorer."""
    header, arrays = _take_apart(content)
    for _ in range(rng.randrange(1, 4)):
        name = rng.choice([name for name in arrays if arrays[name].size] or [None])
        if name is None or rng.random() < 0.3:
            part = header[rng.choice(["input", "scorer"])]
            key = rng.choice([key for key in part if key in OPTIONS])
            part[key] = rng.choice(OPTIONS[key])
            continue
        arrays[name] = array = arrays[name].copy()
        first, second = rng.randrange(array.size), rng.randrange(array.size)
        if rng.random() < 0.5:
            array.flat[[first, second]] = array.flat[[second, first]]
        elif array.dtype.kind == "f":
            array.flat[first] = rng.choice([0, -1, 1e-320, 1e-30, 3e38, -3e38, 0.999999, 5e307])
        else:
            array.flat[first] = array.flat[second]
    return put_together(header, arrays)


def lie_about_size(content: bytes, rng: random.Random) -> bytes:
    """Claim, or have, very many classes, names, weights or levels, or very long ones."""
    header, arrays = _take_apart(content)
    n = rng.choice(LONG)
    match rng.randrange(8):
        case 0:
            header["classes"] = [str(k) for k in range(2_000)] + ["x" * min(n, 10**6)]
        case 1:
            header["classes"] = list(range(min(n, 10**6)))
        case 2:
            name = rng.choice(list(arrays))
            shape = rng.choice([(n,), (n, 1), (1, n), (0, n), (n, 0)])
            arrays[name] = np.zeros(shape, arrays[name].dtype)
        case 3:
            for name in ("name_lengths", "name_shared", "names", "counts", "features", "idf"):
                if name in arrays:
                    arrays[name] = np.full(n, rng.randrange(2), arrays[name].dtype)
        case 4:
            name = rng.choice(list(arrays))
            arrays[name] = np.repeat(arrays[name], n // 70_000 + 1)
        case 5:
            header["classes"] = header["classes"] * rng.choice([2, 3, 1000])
            for name in ("thresholds", "intercept"):
                arrays[name] = np.resize(arrays[name], len(header["classes"]))
        case 6:
            header["input"]["ngram_range"] = [rng.choice([1, 2, n]), 2**31 - 1]
            header["input"]["n_features"] = rng.choice([n, 2**62, 2**63 - 1, 2**63, 10**400])
        case _:
            header["classes"] = rng.choice(
                [["\ud800", "b", "c"], ["a\0", "a", "b"], ["", " ", "\n"], ["x" * n, "y", "z"]]
            )
    return put_together(header, arrays)


def lie_in_description(content: bytes, rng: random.Random) -> bytes:
    """Change what is said of the arrays, or the arrays as they are compressed."""
    content = _blank(content)
    length = int.from_bytes(content[:8], "little")
    outer = json.loads(content[8 : 8 + length])
    header, rest = json.loads(outer["__metadata__"][KEY]), bytearray(content[8 + length :])
    described = header.get("arrays") or outer
    name = rng.choice([name for name in described if name != "__metadata__"])
    match rng.randrange(5):
        case 0 if "arrays" in header:
            described[name][1] = rng.choice(SHAPES)
        case 1 if "arrays" in header:
            described[name][0] = rng.choice(["|u1", "<u4", "<i8", "<f4", "<f8", "|O", "<U9", 3])
        case 2:
            key = rng.choice(["dtype", "shape", "data_offsets"])
            outer[name][key] = rng.choice([*SHAPES, "U8", "F64", "BF16", "X"])
        case 3:
            values = [nest(15), nest(100), nest(900), 1e308, float("nan"), "\ud800"]
            header["provenance"] = {"a": rng.choice(values)}
        case _ if rest:
            for _ in range(rng.randrange(1, 4)):
                rest[rng.randrange(len(rest))] = rng.randrange(256)
    outer["__metadata__"][KEY] = json.dumps(header)
    text = json.dumps(outer).encode()
    return seal(len(text).to_bytes(8, "little") + text + bytes(rest))


def nest(depth: int) -> list[Any]:
    """Return lists inside each other."""
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


def _take_apart(content: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the header and the arrays of a file, always in the same order."""
    header, arrays = take_apart(content)
    return header, dict(sorted(arrays.items()))


def _blank(content: bytes) -> bytes:
    """Return a file with zeros for its digest."""
    length = int.from_bytes(content[:8], "little")
    outer = json.loads(content[8 : 8 + length])
    digest = json.loads(outer["__metadata__"][KEY])["sha256"]
    return content.replace(digest.encode(), NO_DIGEST.encode(), 1)


CHANGES = (
    *(damage_bytes, damage_and_seal, lie, lie, lie_quietly, lie_quietly, lie_quietly),
    *(lie_about_size, lie_in_description),
)
OPTIONS: dict[str, list[Any]] = {
    "norm": ["l1", "l2", "max", None],
    "weighting": ["binary", "counts"],
    "ngram_range": [[1, 1], [1, 2], [1, 2**31 - 1], [2, 3], [1, 99]],
    "n_features": [9, 2**40, 2**63 - 1],
    **{key: [False, True] for key in ("sublinear_tf", "strip_markup", "lowercase", "keep_zeros")},
    **{key: [False, True] for key in ("unit", "is_binary", "is_log")},
    "analyzer": ["word", "char", "char_wb", "word+char_wb"],
    "stop_words": [["oak"], ["the"] * 1000, ["\ud800"], [""]],
    "strip_accents": ["ascii", "unicode", None],
    "unspaced": ["bigrams", None],
}
SIZES = (0, 1, 8, 400, 1 << 26, 1 << 27, 1 << 40, (1 << 64) - 1)
SHAPES: tuple[Any, ...] = (
    *([], [0], [1], [3], [2**40], [2**63], [2**70], [0, 2**62], [2**32, 2**32]),
    *([-1], [1.5], [True], [1] * 40, [10**300] * 50, "3", None, 3, [[3]], {"a": 1}),
)


def _list_documents(model: Model) -> Any:
    if isinstance(model.input, TextInput):
        return TEXTS
    n_features = model.input.n_features
    if n_features > MOST_DENSE:
        return sparse.csr_matrix((3, n_features))
    if n_features == 9:
        return make_documents(model)
    return np.ones((2, n_features))


def _explain(model: Model) -> None:
    documents = _list_documents(model)
    document = documents[:1] if sparse.issparse(documents) else documents[0]
    for label in (None, model.classes_.tolist()[-1]):
        str(model.explain(document, label))


def _tabulate(model: Model) -> None:
    for has_probability in (False, model.calibration_ is not None):
        for scores in ("none", "best", "all"):
            if scores != "all" or len(model.classes_) < MOST_DENSE:
                wanted = PredictedColumns(scores, has_probability)
                predict_columns(model, _list_documents(model), wanted)


def _predict_slowly(model: Model) -> None:
    """Predict as where numba is not loaded."""
    numba = sys.modules.pop("numba")
    try:
        model.decision_function(_list_documents(model))
    finally:
        sys.modules["numba"] = numba


def _predict_much(model: Model) -> None:
    """Predict for a text that is long, of words that are known or not."""
    if isinstance(model.input, TextInput):
        names = " ".join(model.feature_names_[:200])
        model.predict([f"{names} {names} an oak and others " * 20])


def _save_again(model: Model) -> None:
    """Save the model and load it again; what cannot be saved gets a sentence."""
    with suppress(ValueError):
        unpack_model(pack_model(model))


USES: dict[str, Callable[[Model], Any]] = {
    "predicting": lambda model: model.predict(_list_documents(model)),
    "predicting without numba": _predict_slowly,
    "predicting for a long text": _predict_much,
    "making columns": _tabulate,
    "explaining": _explain,
    "listing weights": lambda model: model.scorer.list_weights(0),
    "saving again": _save_again,
}
