"""Models made by hand, one of every kind that a file can hold, and files that lie about them."""

from __future__ import annotations

import copy
import hashlib
import json
import zlib

import numpy as np
from safetensors.numpy import load, save

from spokeshave.model.file import KEY, NO_DIGEST
from spokeshave.model.file_content import VERSION
from spokeshave.model.inputs import TextInput, VectorInput
from spokeshave.model.model import Model
from spokeshave.model.scorers import N_BINS, ShapedScorer, ShapeTable, SparseScorer
from spokeshave.text.analyzers import Analysis

WORDS = ("acorn", "ash", "bark", "größe", "lobed", "oak", "σίτος", "spokeshaves")
TEXTS = [
    "<b>Oak</b> bark, oak &amp; ash",
    "An ACORN of the lobed oak: GRÖSSE or Größe",
    "ΣΊΤΟΣ with spokeshaves and more spokeshaves",
    "nothing that is known",
    "",
]
N_COLUMNS = 9
LARGE = 2**63


def weigh(rng, n_known, n_scores, *, unit=False):
    """Return a scorer with weights for some of the features of each class."""
    is_kept = rng.random((n_known, n_scores)) < 0.7
    return SparseScorer(
        starts=np.cumsum([0, *is_kept.sum(axis=1)]),
        classes=np.nonzero(is_kept)[1].astype(np.uint8),
        weights=rng.normal(size=is_kept.sum()).astype(np.float32),
        intercept=0.1 * rng.normal(size=n_scores),
        unit=unit,
    )


def tabulate(rng, n_known, n_scores):
    """Return what values become: features of no value, of one, and of some that ascend."""
    values = [np.unique(rng.integers(-3, 4, size=j % 4).astype(float)) for j in range(n_known)]
    levels = np.concatenate([[], *([*[0.0] * N_BINS, *found] for found in values)])
    return ShapeTable(
        starts=np.cumsum([0, *(len(found) + N_BINS for found in values)]),
        levels=levels,
        probability=rng.uniform(0.1, 0.9, size=(n_scores, len(levels))).astype(np.float32),
        prior=rng.uniform(0.1, 0.9, size=n_scores),
    )


def shape(rng, n_known, n_scores, *, has_table=True, norm=None, is_binary=False, is_log=False):
    """Return a scorer of features that are shaped for each class."""
    base, factor, weights = rng.normal(size=(3, n_scores, n_known)).astype(np.float32)
    table = tabulate(rng, n_known, n_scores) if has_table else None
    intercept = rng.normal(size=n_scores)
    return ShapedScorer(table, is_binary, is_log, base, factor, weights, norm, intercept)


def make_model(names, given, score, *, multilabel=False, is_calibrated=False, seed=3, **options):
    """Return a model with these classes and this input, and weights made up by ``score``."""
    rng = np.random.default_rng(seed)
    n_scores = 1 if len(names) == 2 and not multilabel else len(names)
    return Model(
        classes_=np.array(names),
        multilabel_=multilabel,
        input=given,
        scorer=score(rng, len(given.names), n_scores, **options),
        thresholds_=rng.normal(size=n_scores),
        calibration_=rng.normal(size=(2, n_scores)) if is_calibrated else None,
        provenance={"data": "made up"},
    )


def read_words(weighting="binary", norm=None, *, words=WORDS, idf=None):
    """Return what reads texts."""
    return TextInput(words, weighting, norm, True, idf)


def read_pairs():
    """Return what reads texts as words and pairs of words."""
    analysis = Analysis(ngram_range=(1, 2), strip_accents="unicode", stop_words=frozenset({"the"}))
    words = ("acorn", "old oak", "Oak", "ash", "grey ash")
    return TextInput(words, "counts", "l2", True, None, analysis, sublinear_tf=True)


def read_characters():
    """Return what reads texts as characters of words."""
    analysis = Analysis(analyzer="char_wb", ngram_range=(2, 3), lowercase=False)
    return TextInput((" o", "oa", "oak", "ash", "sh ", " A"), "counts", None, True, None, analysis)


def read_both():
    """Return what reads texts as words, and as characters of them."""
    analysis = Analysis(analyzer="word+char_wb", ngram_range=(1, 2))
    words = ("*oa", "oak", "*ash", "old oak", "* a")
    return TextInput(words, "counts", "l2", True, None, analysis, sublinear_tf=True)


def read_columns(*, keep_zeros=False, **options):
    """Return what reads some columns of vectors."""
    names = ("height", "girth", "leaves", "age", "rings")
    return VectorInput(N_COLUMNS, np.array([0, 2, 3, 5, 8]), names, keep_zeros, **options)


def make_models():
    """Return models of every kind by name."""
    trees = ["ash", "oak", "yew"]
    idf = np.linspace(1, 2, len(WORDS))
    return {
        "two classes": make_model(["ash", "oak"], read_words(), weigh, unit=True),
        "labels": make_model(trees, read_words("counts", "l2"), weigh, is_calibrated=True),
        "multilabel": make_model(
            trees, read_words("tfidf", "l1", idf=idf), weigh, multilabel=True, is_calibrated=True
        ),
        "truth values": make_model(
            [False, True], read_words("counts"), weigh, is_calibrated=True, unit=True
        ),
        "vectors": make_model([3, 1, 2], read_columns(), weigh),
        "counts in vectors": make_model(
            trees,
            read_columns(weighting="tfidf", sublinear_tf=True, norm="l2", idf=np.arange(1.0, 6)),
            weigh,
        ),
        "shaped texts": make_model(trees, read_words("counts"), shape, is_log=True, norm="l2"),
        "shaped vectors": make_model(
            [0, 1], read_columns(keep_zeros=True), shape, norm="max", is_calibrated=True
        ),
        "binary values": make_model(
            trees, read_words("counts"), shape, has_table=False, is_binary=True, norm="l1"
        ),
        "word pairs": make_model(trees, read_pairs(), weigh, is_calibrated=True),
        "characters": make_model(trees, read_characters(), weigh),
        "words and characters": make_model(trees, read_both(), weigh),
        "no words": make_model(trees, read_words(words=()), weigh),
        "one label": make_model(["oak"], read_words(), weigh, multilabel=True),
    }


def make_documents(model):
    """Return documents that a model can be asked about."""
    if isinstance(model.input, TextInput):
        return TEXTS
    X = np.random.default_rng(1).integers(-3, 4, size=(12, N_COLUMNS)).astype(float)
    if model.input.is_weighted:
        return abs(X)
    if model.input.keep_zeros:
        X[1, 2] = X[2] = np.nan
    return X


def take_apart(content):
    """Return the header and the arrays of a model's file."""
    length = int.from_bytes(content[:8], "little")
    header = json.loads(json.loads(content[8 : 8 + length])["__metadata__"][KEY])
    arrays = load(content)
    for name, (kind, shape) in header.pop("arrays", {}).items():
        letters = np.frombuffer(zlib.decompress(arrays[name]), np.uint8)
        letters = letters.reshape(np.dtype(kind).itemsize, -1).T.copy()
        arrays[name] = letters.view(kind).reshape(shape)
    return header, arrays


def put_together(header, arrays):
    """Return the file of a header, given as JSON or not yet, and arrays, with a right digest."""
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    if not isinstance(header, str) and header.get("version") in range(3, VERSION + 1):
        described = {name: [a.dtype.str, list(a.shape)] for name, a in sorted(arrays.items())}
        arrays = {name: compress(array) for name, array in arrays.items()}
        header = header | {"sha256": NO_DIGEST, "arrays": described}
    text = header if isinstance(header, str) else json.dumps(header | {"sha256": NO_DIGEST})
    return seal(save(arrays, {KEY: text}))


def compress(array):
    """Return the bytes of an array as they are in a file."""
    letters = np.frombuffer(array.tobytes(), np.uint8).reshape(-1, array.itemsize)
    return np.frombuffer(zlib.compress(letters.T.tobytes(), 9), np.uint8)


def seal(content):
    """Return the content of a file with the digest that it should have."""
    digest = hashlib.sha256(content).hexdigest()
    return content.replace(NO_DIGEST.encode(), digest.encode(), 1)


JUNK = [
    *(None, True, False, 0, 1, -1, 3, 10**18, 10**30, 1.5, "", "ash", "text", "vectors", "sparse"),
    *("shaped", "l1", "l2", "max", "counts", "tfidf", [], [1], [1, 1], ["a", "b"], ["a", "b", "c"]),
    *([[1], [2]], {}, {"kind": "text"}, [None], [True, False], "é\ud800", [0.5, 1.5, 2.5]),
]
NUMBERS = [0, 1, 2, 3, -1, -2, 100, LARGE // 2, LARGE - 1, LARGE - 40, -50, -LARGE]


def lie_in_header(header, rng):
    """Return a header with something else in one place, or nothing."""
    header = copy.deepcopy(header)
    parts = [header, header["input"], header["scorer"]]
    part = rng.choice([part for part in parts if isinstance(part, dict) and part] or [header])
    key = rng.choice([key for key in part if key not in ("format", "version", "sha256")])
    part[key] = rng.choice(JUNK)
    return header


def lie_in_arrays(arrays, rng):
    """Return arrays of which one is lost, swapped, cut, longer, of another kind or changed."""
    name, other = rng.choice(list(arrays)), rng.choice(list(arrays))
    array = arrays[name]
    match rng.randrange(7):
        case 0:
            return {key: arrays[key] for key in arrays if key != name}
        case 1:
            return arrays | {name: arrays[other], other: array}
        case 2:
            return arrays | {name: array.ravel()[: max(0, array.size - 1)]}
        case 3:
            return arrays | {name: np.concatenate([array.ravel(), array.ravel()[:2]])}
        case 4:
            with np.errstate(all="ignore"):
                return arrays | {
                    name: array.astype(rng.choice(["<u1", "<u2", "<u4", "<i8", "<f4"]))
                }
        case _:
            changed = array.copy()
            for _ in range(min(array.size, rng.randrange(1, 4))):
                number = rng.choice([*NUMBERS, int(changed.flat[0]) + 1])
                is_real = array.dtype.kind == "f"
                value = float(number) if is_real else number % 2 ** (8 * array.itemsize)
                if array.dtype.kind == "i" and value >= LARGE:
                    value -= 2 * LARGE
                changed.flat[rng.randrange(array.size)] = value
            return arrays | {name: changed}
