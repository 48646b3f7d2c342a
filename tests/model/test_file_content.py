"""The content of a model file: every inconsistent header or array is refused."""

from __future__ import annotations

import copy
import json
import random
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load, save

from made_models import (
    LARGE,
    TEXTS,
    lie_in_arrays,
    lie_in_header,
    make_documents,
    make_models,
    put_together,
    seal,
    take_apart,
)
from spokeshave import ModelFileError, load_model
from spokeshave.model.file import KEY, LARGEST, NO_DIGEST, pack_model, unpack_model
from spokeshave.model.file_content import MOST_SHARED, describe_model, restore_model
from spokeshave.model.inputs import TextInput, VectorInput
from spokeshave.model.scorers import SparseScorer
from spokeshave.text.analyzers import Analysis

MODELS = make_models()
EVERY_MODEL = pytest.mark.parametrize("name", MODELS)
PARTS = {name: take_apart(pack_model(model)) for name, model in MODELS.items()}
CONTRADICTION = "the model file contradicts itself; it was not written by Spokeshave"
EMPTY = np.zeros(0, np.uint8), np.zeros(0, np.float32)  # classes and weights of no feature


def refuse(folder, header, arrays):
    """Check that a file of these parts is refused by a sentence that names it."""
    refuse_content(folder, put_together(header, arrays))


def refuse_content(folder, content):
    path = folder / "lie.model"
    path.write_bytes(content)
    with pytest.raises(ModelFileError) as caught:
        load_model(path)
    assert str(caught.value) == f"{path}: {CONTRADICTION}"


def seal_outer(header, arrays):
    """Return the file of a header and of arrays that are compressed already."""
    return seal(save(arrays, {KEY: json.dumps(header | {"sha256": NO_DIGEST})}))


def nest(depth):
    found = []
    for _ in range(depth):
        found = [found]
    return found


@EVERY_MODEL
def test_parts_make_the_same_model_again(name):
    model, again = MODELS[name], restore_model(*describe_model(MODELS[name]))
    documents = make_documents(model)
    np.testing.assert_array_equal(
        again.decision_function(documents), model.decision_function(documents)
    )
    assert again.classes_.tolist() == model.classes_.tolist()
    assert again.feature_names_ == model.feature_names_
    assert again.provenance == model.provenance
    np.testing.assert_array_equal(again.thresholds_, model.thresholds_)
    if model.calibration_ is None:
        assert again.calibration_ is None
    else:
        np.testing.assert_array_equal(again.calibration_, model.calibration_)


@EVERY_MODEL
def test_what_is_put_together_again_is_the_file(name):
    assert put_together(*PARTS[name]) == pack_model(MODELS[name])


def test_names_may_be_of_any_letters():
    model = MODELS["vectors"]
    names = ("", "\n", "größe" * 60, "\ud800", "\U0001f332")
    model = replace(model, input=replace(model.input, names=names))
    assert unpack_model(pack_model(model)).feature_names_ == names


def test_tfidf_may_be_of_no_words():
    model = MODELS["no words"]
    given = TextInput([], "tfidf", "l2", True, np.zeros(0), Analysis())
    again = unpack_model(pack_model(replace(model, input=given)))
    np.testing.assert_array_equal(again.input.idf, np.zeros(0))


def test_what_is_not_known_is_ignored():
    header, arrays = PARTS["labels"]
    content = put_together(header | {"mood": "fine"}, arrays | {"moon": np.zeros((2, 3))})
    assert pack_model(unpack_model(content)) == pack_model(MODELS["labels"])


HEADER_LIES = [
    ("labels", ("classes",), []),
    ("labels", ("classes",), ["ash"]),
    ("labels", ("classes",), ["ash", "oak"]),
    ("labels", ("classes",), ["ash", "oak", "ash"]),
    ("labels", ("classes",), ["ash", "oak", "yew", "elm"]),
    ("labels", ("classes",), [["ash"], ["oak"], ["yew"]]),
    ("labels", ("classes",), [["ash"], "oak", "yew"]),
    ("labels", ("classes",), nest(60)),
    ("labels", ("classes",), nest(400)),
    ("labels", ("classes",), [1, 1.0, 2]),
    ("labels", ("classes",), ["a", "a\0", "b"]),
    ("labels", ("classes",), [None, 1, 2]),
    ("labels", ("classes",), [{}, 1, 2]),
    ("labels", ("classes",), [float("nan"), float("nan"), 1]),
    ("labels", ("classes",), [float("inf"), 1, 2]),
    ("labels", ("classes",), [10**400, 1, 2]),
    ("labels", ("classes",), {"ash": 0, "oak": 1, "yew": 2}),
    ("labels", ("classes",), "ash"),
    ("labels", ("classes",), None),
    ("two classes", ("classes",), ["ash"]),
    ("one label", ("classes",), []),
    ("labels", ("multilabel",), 1),
    ("labels", ("multilabel",), None),
    ("two classes", ("multilabel",), True),
    ("labels", ("provenance",), None),
    ("labels", ("provenance",), [1]),
    ("labels", ("provenance",), "made up"),
    ("labels", ("input",), None),
    ("labels", ("input",), []),
    ("labels", ("input",), "text"),
    ("labels", ("input",), {}),
    ("labels", ("input", "kind"), "pictures"),
    ("labels", ("input", "kind"), "vectors"),
    ("labels", ("input", "kind"), ["text"]),
    ("labels", ("input", "weighting"), "bns"),
    ("labels", ("input", "weighting"), None),
    ("labels", ("input", "weighting"), "tfidf"),
    ("labels", ("input", "norm"), "max"),
    ("labels", ("input", "norm"), ["l2"]),
    ("labels", ("input", "norm"), 2),
    ("labels", ("input", "strip_markup"), 1),
    ("labels", ("input", "strip_markup"), None),
    ("word pairs", ("input", "sublinear_tf"), 1),
    ("word pairs", ("input", "analyzer"), "words"),
    ("word pairs", ("input", "analyzer"), "char"),
    ("word pairs", ("input", "analyzer"), ["word"]),
    ("word pairs", ("input", "analyzer"), None),
    ("word pairs", ("input", "ngram_range"), [1, 1]),
    ("word pairs", ("input", "ngram_range"), [2, 2]),
    ("word pairs", ("input", "ngram_range"), [2, 1]),
    ("word pairs", ("input", "ngram_range"), [0, 2]),
    ("word pairs", ("input", "ngram_range"), [True, 2]),
    ("word pairs", ("input", "ngram_range"), [1, 2.0]),
    ("word pairs", ("input", "ngram_range"), [1, 2, 3]),
    ("word pairs", ("input", "ngram_range"), [1, 10**30]),
    ("word pairs", ("input", "ngram_range"), "12"),
    ("word pairs", ("input", "ngram_range"), None),
    ("word pairs", ("input", "lowercase"), 0),
    ("word pairs", ("input", "strip_accents"), "latin"),
    ("word pairs", ("input", "strip_accents"), None),  # and one of the words has a capital
    ("word pairs", ("input", "strip_accents"), ["ascii"]),
    ("word pairs", ("input", "stop_words"), "the"),
    ("word pairs", ("input", "stop_words"), [1]),
    ("word pairs", ("input", "stop_words"), None),
    ("word pairs", ("input", "unspaced"), "words"),
    ("word pairs", ("input", "unspaced"), False),
    ("characters", ("input", "ngram_range"), [1, 2]),
    ("characters", ("input", "analyzer"), "word"),
    ("vectors", ("input", "kind"), "text"),
    ("vectors", ("input", "n_features"), 8),
    ("vectors", ("input", "n_features"), 0),
    ("vectors", ("input", "n_features"), -9),
    ("vectors", ("input", "n_features"), 9.0),
    ("vectors", ("input", "n_features"), True),
    ("vectors", ("input", "n_features"), "9"),
    ("vectors", ("input", "n_features"), None),
    ("vectors", ("input", "keep_zeros"), 0),
    ("counts in vectors", ("input", "keep_zeros"), True),
    ("counts in vectors", ("input", "weighting"), "sublinear"),
    ("counts in vectors", ("input", "weighting"), None),
    ("counts in vectors", ("input", "sublinear_tf"), 1),
    ("counts in vectors", ("input", "norm"), "max"),
    ("vectors", ("input", "weighting"), "tfidf"),  # without frequencies
    ("labels", ("scorer",), None),
    ("labels", ("scorer",), {}),
    ("labels", ("scorer", "kind"), "deep"),
    ("labels", ("scorer", "kind"), "shaped"),
    ("labels", ("scorer", "unit"), 1),
    ("labels", ("scorer", "unit"), None),
    ("shaped texts", ("scorer", "kind"), "sparse"),
    ("shaped texts", ("scorer", "norm"), "l3"),
    ("shaped texts", ("scorer", "norm"), {}),
    ("shaped texts", ("scorer", "is_log"), 0),
    ("shaped texts", ("scorer", "is_binary"), "no"),
]


@pytest.mark.parametrize(("name", "place", "value"), HEADER_LIES)
def test_a_header_that_lies_is_refused(tmp_path, name, place, value):
    header, arrays = copy.deepcopy(PARTS[name])
    part = header
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    refuse(tmp_path, header, arrays)


@EVERY_MODEL
def test_a_header_without_a_part_is_refused(tmp_path, name):
    header, arrays = PARTS[name]
    for key in ("classes", "multilabel", "provenance", "input", "scorer"):
        refuse(tmp_path, {other: header[other] for other in header if other != key}, arrays)
    for key in ("input", "scorer"):
        for inner in header[key]:
            part = {other: header[key][other] for other in header[key] if other != inner}
            refuse(tmp_path, header | {key: part}, arrays)


@EVERY_MODEL
def test_a_file_without_an_array_is_refused(tmp_path, name):
    header, arrays = PARTS[name]
    for lost in set(arrays) - {"calibration", "starts"}:  # a file may be without these
        refuse(tmp_path, header, {other: arrays[other] for other in arrays if other != lost})


@EVERY_MODEL
def test_arrays_of_another_shape_are_refused(tmp_path, name):
    header, arrays = PARTS[name]
    for changed, array in arrays.items():
        for other in (
            array[None],
            np.concatenate([array.ravel(), np.ones(1, array.dtype)]),
            array.ravel()[:-1] if array.size else np.zeros((0, 1), array.dtype),
        ):
            refuse(tmp_path, header, arrays | {changed: other})


@EVERY_MODEL
@pytest.mark.parametrize("kind", ["<f2", "<f4", "<f8", "<i2", "<i8", "<u8", "?"])
def test_arrays_of_another_kind_are_refused(tmp_path, name, kind):
    header, arrays = PARTS[name]
    for changed, array in arrays.items():
        if array.dtype != np.dtype(kind):
            refuse(tmp_path, header, arrays | {changed: array.astype(kind)})


@EVERY_MODEL
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_refused(tmp_path, name, value):
    header, arrays = PARTS[name]
    for changed, array in arrays.items():
        if array.dtype.kind == "f" and array.size:
            other = array.copy()
            other.flat[array.size // 2] = value
            refuse(tmp_path, header, arrays | {changed: other})


ARRAY_LIES = [
    ("labels", "of_class", {0: 3}),
    ("labels", "of_class", {-1: 255}),
    ("two classes", "of_class", {2: 1}),
    ("vectors", "of_class", {0: 200}),
    ("labels", "counts", {0: 0}),
    ("labels", "counts", {-1: 255}),
    ("labels", "name_lengths", {0: 4}),
    ("labels", "name_lengths", {0: 255}),
    ("labels", "names", {0: ord("A")}),  # a letter that lowering changes
    ("labels", "names", {0: ord(" ")}),
    ("labels", "names", {0: ord("_")}),
    ("labels", "names", {0: ord("\n")}),
    ("labels", "names", {0: 0}),
    ("labels", "names", {0: 0xFF}),  # which no text of UTF-8 holds
    ("labels", "names", {1: 0xC3}),
    ("vectors", "names", {0: 0xFF}),
    ("vectors", "features", {0: -1}),
    ("vectors", "features", {1: 0}),
    ("vectors", "features", {1: 3, 2: 2}),
    ("vectors", "features", {4: 9}),
    ("vectors", "features", {4: LARGE - 1}),
    ("vectors", "features", {3: LARGE - 10, 4: -20}),  # whose difference overflows
    ("vectors", "features", {0: -LARGE}),
    ("shaped texts", "starts", {0: 1}),
    ("shaped texts", "starts", {0: -1}),
    ("shaped texts", "starts", {1: 1}),
    ("shaped texts", "starts", {1: 99}),
    ("shaped texts", "starts", {-1: 99}),
    ("shaped texts", "starts", {-2: LARGE - 1}),
    ("shaped texts", "probability", {0: 0.0}),
    ("shaped texts", "probability", {1: 1.0}),
    ("shaped texts", "probability", {2: -0.5}),
    ("shaped texts", "probability", {3: 1e30}),
    ("shaped texts", "prior", {0: 0.0}),
    ("shaped texts", "prior", {1: 1.0}),
    ("shaped texts", "prior", {2: 2.0}),
]


@pytest.mark.parametrize(("name", "array", "values"), ARRAY_LIES)
def test_an_array_that_lies_is_refused(tmp_path, name, array, values):
    header, arrays = PARTS[name]
    changed = arrays[array].copy()
    for place, value in values.items():
        changed.flat[place] = value
    assert changed.tobytes() != arrays[array].tobytes()
    refuse(tmp_path, header, arrays | {array: changed})


@pytest.mark.parametrize("name", ["shaped texts", "shaped vectors"])
def test_levels_that_do_not_ascend_are_refused(tmp_path, name):
    header, arrays = PARTS[name]
    starts, levels = arrays["starts"], arrays["levels"]
    several = [j for j in range(len(starts) - 1) if starts[j + 1] - starts[j] > 3]
    assert several
    for j in several:
        first = starts[j] + 2
        for value in (levels[first], levels[first] - 1):
            changed = levels.copy()
            changed[first + 1] = value
            refuse(tmp_path, header, arrays | {"levels": changed})


def test_levels_that_begin_so_far_apart_that_it_overflows_are_refused(tmp_path):
    header, arrays = PARTS["shaped texts"]
    starts, levels = arrays["starts"].copy(), np.arange(arrays["levels"].size, dtype=float)
    starts[-3:-1] = LARGE - 5, -10
    assert (np.diff(starts) > 0).all()
    refuse(tmp_path, header, arrays | {"starts": starts, "levels": levels})


def take_outer(header, arrays):
    """Return the header of a file and its arrays as they are there, compressed."""
    content = put_together(header, arrays)
    length = int.from_bytes(content[:8], "little")
    return json.loads(json.loads(content[8 : 8 + length])["__metadata__"][KEY]), load(content)


DESCRIPTIONS = [
    None,
    [],
    {"names": ["|u1", [3]]},
    {"names": "|u1"},
    {"names": ["|u1", 3]},
    {"names": ["|u1", [-3]]},
    {"names": ["|u1", [True]]},
    {"names": ["|u1", [2**70]]},
    {"names": ["|O", [3]]},
    {"names": [["|u1"], [3]]},
    {"nothing": ["|u1", [3]]},
]


@pytest.mark.parametrize("described", DESCRIPTIONS, ids=str)
def test_arrays_that_are_not_as_described_are_refused(tmp_path, described):
    header, arrays = take_outer(*PARTS["labels"])
    if isinstance(described, dict):
        described = header["arrays"] | described
    refuse_content(tmp_path, seal_outer(header | {"arrays": described}, arrays))


@pytest.mark.parametrize(
    "damage",
    [
        lambda letters: letters[:-3],
        lambda letters: np.append(letters, np.uint8(0)),
        lambda letters: letters[::-1],
        lambda letters: letters[:0],
        lambda letters: letters.view(np.int8),
    ],
    ids=["cut", "longer", "reversed", "empty", "signed"],
)
def test_arrays_that_cannot_be_decompressed_are_refused(tmp_path, damage):
    header, arrays = take_outer(*PARTS["labels"])
    for name, letters in arrays.items():
        damaged = np.ascontiguousarray(damage(letters))
        refuse_content(tmp_path, seal_outer(header, arrays | {name: damaged}))


def test_a_small_file_cannot_fill_the_memory(tmp_path):
    header, arrays = PARTS["labels"]
    large = np.zeros(LARGEST + 1, np.uint8)
    content = put_together(header, arrays | {"counts": large})
    assert len(content) < 20_000
    tracemalloc.start()
    refuse_content(tmp_path, content)
    assert tracemalloc.get_traced_memory()[1] < LARGEST / 2
    tracemalloc.stop()


def rename(header, arrays, names):
    """Return the parts of the model of no words with other classes."""
    n_scores = len(names)
    thresholds = np.zeros(n_scores)
    changed = {"thresholds": thresholds, "intercept": thresholds}
    return header | {"classes": names}, arrays | changed


def test_a_long_name_among_many_classes_takes_no_more_memory_than_it_has(tmp_path):
    names = ["ash" + "e" * 10**6, *map(str, range(2_000))]
    content = put_together(*rename(*PARTS["no words"], names))
    path = tmp_path / "long.model"
    path.write_bytes(content)
    tracemalloc.start()
    model = load_model(path)
    assert tracemalloc.get_traced_memory()[1] < 20 * len(content)  # of fixed width: 8 GB
    tracemalloc.stop()
    assert model.classes_.tolist() == names
    assert model.predict(TEXTS).tolist() == 5 * names[:1]
    assert model.explain(TEXTS[0], "17").label == "17"
    assert unpack_model(pack_model(model)).classes_.tolist() == names


def test_classes_are_counted_before_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr("spokeshave.model.file_content._check_classes", None)
    header, arrays = PARTS["labels"]
    refuse(tmp_path, header | {"classes": ["a", "b"]}, arrays)


def test_very_many_names_of_no_letters_are_refused_before_they_are_made(tmp_path, monkeypatch):
    monkeypatch.setattr("spokeshave.model.file_content.restore_model", None)
    header, arrays = PARTS["vectors"]
    nothing = np.zeros(70_000, np.uint8)
    named = {"names": nothing[:0], "name_lengths": nothing, "name_shared": nothing}
    assert len(put_together(header, arrays | named)) < 5_000
    refuse(tmp_path, header, arrays | named)


def test_very_many_names_that_are_alike_are_read_again():
    model, n = MODELS["vectors"], 70_000
    given = VectorInput(n, np.arange(n), ("",) * n, False)
    scorer = SparseScorer(np.zeros(n + 1, np.int64), *EMPTY, model.scorer.intercept, False)
    again = unpack_model(pack_model(replace(model, input=given, scorer=scorer)))
    assert again.input.names == given.names


def test_a_feature_with_more_weights_than_classes_is_refused(tmp_path):
    header, arrays = PARTS["two classes"]
    counts = arrays["counts"].copy()
    first, second = np.flatnonzero(counts)[:2]
    counts[first], counts[second] = 2, 0
    assert counts.sum() == arrays["counts"].sum()
    refuse(tmp_path, header, arrays | {"counts": counts})


def test_an_array_of_many_dimensions_is_refused_before_they_are_multiplied(tmp_path):
    header, arrays = take_outer(*PARTS["labels"])
    described = header["arrays"] | {"names": ["|u1", [10**4000] * 1_000]}
    refuse_content(tmp_path, seal_outer(header | {"arrays": described}, arrays))


def test_provenance_that_is_too_deep_to_be_written_is_refused(tmp_path):
    header, arrays = PARTS["labels"]
    refuse(tmp_path, header | {"provenance": {"data": nest(30)}}, arrays)
    content = put_together(header | {"provenance": {"data": nest(10)}}, arrays)
    assert unpack_model(content).provenance == {"data": nest(10)}


@pytest.mark.parametrize("names", [["ash", "o\ud800k", "yew"], ["\ud83c", "\udf32", "yew"]])
def test_half_a_character_in_a_class_is_refused(tmp_path, names):
    header, arrays = PARTS["labels"]
    refuse(tmp_path, header | {"classes": names}, arrays)
    model = replace(MODELS["labels"], classes_=np.array(names))
    with pytest.raises(ValueError, match=r"^classes must be distinct strings of valid Unicode, "):
        pack_model(model)


def test_memory_that_there_is_not_gets_a_sentence(tmp_path, monkeypatch):
    def fail(*_):
        raise MemoryError

    monkeypatch.setattr("spokeshave.model.file.restore_model", fail)
    path = tmp_path / "large.model"
    path.write_bytes(pack_model(MODELS["labels"]))
    with pytest.raises(ModelFileError, match="there is not enough memory to load it"):
        load_model(path)


def test_a_header_that_reading_would_refuse_is_not_written(monkeypatch):
    monkeypatch.setattr("spokeshave.model.file.LONGEST_HEADER", 1000)
    with pytest.raises(ValueError, match=r"^classes, stop words and provenance must take at most"):
        pack_model(MODELS["labels"])


def test_names_that_share_too_much_are_refused(tmp_path):
    header, arrays = PARTS["vectors"]
    n = arrays["name_lengths"].size
    lengths = np.array([200, *[1] * (n - 1)], np.uint8)
    shared = np.array([0, *range(200, 199 + n)], np.uint8)
    letters = np.full(lengths.sum(), ord("a"), np.uint8)
    changed = {"names": letters, "name_lengths": lengths, "name_shared": shared}
    assert shared.sum() > MOST_SHARED * n
    refuse(tmp_path, header, arrays | changed)
    shared[1] = 201  # more than the name before has
    refuse(tmp_path, header, arrays | changed)


def test_names_and_arrays_that_are_much_alike_are_read_again(monkeypatch):
    model = MODELS["vectors"]
    names = tuple("a" * 100 + str(j) for j in range(len(model.feature_names_)))
    model = replace(model, input=replace(model.input, names=names))
    assert unpack_model(pack_model(model)).feature_names_ == names
    n = 100_000
    monkeypatch.setattr("spokeshave.model.file.LARGEST", n - 1)
    given = VectorInput(n, np.arange(n), ("",) * n, False)
    scorer = SparseScorer(np.zeros(n + 1, np.int64), *EMPTY, model.scorer.intercept, False)
    again = unpack_model(pack_model(replace(model, input=given, scorer=scorer)))
    assert again.input.n_features == n


def respell(arrays, words):
    """Return arrays with other words."""
    encoded = [word.encode("utf-8", "surrogatepass") for word in words]
    lengths = np.array(list(map(len, encoded)), np.uint8)
    letters = np.frombuffer(b"".join(encoded), np.uint8)
    return arrays | {"names": letters, "name_lengths": lengths, "name_shared": 0 * lengths}


@pytest.mark.parametrize(
    "word",
    [
        "",
        "ash",
        "two words",
        "two\nlines",
        "Oak",
        "ΣΊΤΟΣ",
        "İ",
        "i\u0307",
        "\ud800",
        "_",
        "x_y",
        "½ ",
    ],
)
def test_words_that_are_no_tokens_or_there_already_are_refused(tmp_path, word):
    header, arrays = PARTS["labels"]
    words = list(MODELS["labels"].feature_names_)
    assert unpack_model(put_together(header, respell(arrays, words))).feature_names_ == tuple(words)
    refuse(tmp_path, header, respell(arrays, [word, *words[1:]][: len(words)]))


def test_a_model_of_very_many_columns_takes_no_room(tmp_path):
    header, arrays = copy.deepcopy(PARTS["vectors"])
    header["input"]["n_features"] = 10**18
    (tmp_path / "wide.model").write_bytes(put_together(header, arrays))
    model = load_model(tmp_path / "wide.model")
    with pytest.raises(ValueError, match="documents must be rows of 1000000000000000000 features"):
        model.predict(np.zeros((1, 9)))


@pytest.mark.parametrize("name", ["labels", "vectors"])
def test_lies_about_where_things_are_do_no_harm(tmp_path, name):
    """Change every whole number to every hostile one."""
    header, arrays = PARTS[name]
    for changed, array in arrays.items():
        if array.dtype.kind == "f":
            continue
        limits = np.iinfo(array.dtype)
        for place in range(min(array.size, 12)):
            for value in (0, 1, 2, 7, -1, limits.min, limits.max, limits.max // 2):
                if limits.min <= value <= limits.max:
                    other = array.copy()
                    other[place] = value
                    use_if_loaded(tmp_path, header, arrays | {changed: other})


def use_if_loaded(folder, header, arrays):
    """Load a model, if it is not refused, and use it; return whether it was loaded."""
    path = folder / "lie.model"
    path.write_bytes(put_together(header, arrays))
    try:
        model = load_model(path)
    except ModelFileError:
        return False
    if isinstance(model.input, TextInput):
        documents = TEXTS
    elif model.input.n_features > 99:
        return True
    else:
        documents = np.ones((2, model.input.n_features))
    with np.errstate(all="ignore"):
        model.predict(documents)
        model.explain(documents[0], model.classes_.tolist()[-1])
        if model.calibration_ is not None:
            model.predict_proba(documents)
    return True


@pytest.mark.parametrize("seed", range(4))
def test_random_lies_are_refused_or_do_no_harm(tmp_path, seed, monkeypatch):
    rng = random.Random(seed)
    monkeypatch.setattr(TextInput, "_is_kernel_worth_it", lambda _: False)
    monkeypatch.setattr(  # numpy sees what is out of bounds, and kernels do not
        SparseScorer,
        "_add_up",
        lambda self, rows: self._add_up_slowly(rows, (len(rows.indptr) - 1, self.intercept.size)),
    )
    n_loaded = 0
    for _ in range(400):
        header, arrays = PARTS[rng.choice(list(PARTS))]
        for _ in range(rng.randrange(1, 4)):
            if rng.random() < 0.5 and isinstance(header.get("scorer"), dict):
                header = lie_in_header(header, rng)
            else:
                arrays = lie_in_arrays(arrays, rng) or arrays
        n_loaded += use_if_loaded(tmp_path, header, arrays)
    assert 5 < n_loaded < 150  # of these lies a few are harmless


def test_json_that_is_no_json_is_refused(tmp_path):
    header, arrays = PARTS["labels"]
    text = json.dumps(header)
    for other in (text[:-1], "[]", "3", '"oak"', "", "{}", "[" * 100_000, '{"a":' * 100_000):
        path = tmp_path / "lie.model"
        path.write_bytes(put_together(other, arrays))
        with pytest.raises(ModelFileError, match=r"lie.model: this is not a model file, or it is"):
            load_model(path)
