"""Model files: whole ones come back as they were, and damaged ones never do."""

from __future__ import annotations

import copy
import json
import pickle
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save
from sklearn.pipeline import make_pipeline

from made_models import TEXTS, make_documents, make_models, put_together, seal, take_apart
from made_up import KINDS, TREES
from spokeshave import (
    DocumentVectorizer,
    DualLinearSVC,
    ModelFileError,
    ShavedSVC,
    load_model,
    save_model,
)
from spokeshave.model.file import (
    FORMAT,
    KEY,
    NO_DIGEST,
    VERSION,
    describe_model,
    pack_model,
    restore_model,
    unpack_model,
)
from spokeshave.model.inputs import TextInput
from spokeshave.model.scorers import SparseScorer

MODELS = make_models()
CONTENTS = {name: pack_model(model) for name, model in MODELS.items()}
EVERY_MODEL = pytest.mark.parametrize("name", MODELS)
FIXTURE = Path(__file__).parent / "models" / "version-1.model"
NOT_ONE = "this is not a model file; spokeshave fit writes one"
NOT_ONE_OR_DAMAGED = "this is not a model file, or it is damaged; spokeshave fit writes one"
DAMAGED = "the model file is damaged or cut short; fetch or make it again"
WRONG_VERSION = "the model file is damaged; fetch or make it again"
NEWER = "newer than this Spokeshave, which reads up to 1; upgrade Spokeshave"


def find_problem(path, content=None):
    """Return what is wrong with a file, after writing it if there is something to write."""
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelFileError) as caught:
        load_model(path)
    assert str(caught.value).startswith(f"{path}: ")
    return caught.value.problem


def fit_trees(**options):
    model = make_pipeline(
        DocumentVectorizer(), ShavedSVC(DualLinearSVC(random_state=0, **options), n_features=3)
    )
    return model.fit(TREES, KINDS)


@EVERY_MODEL
def test_a_model_comes_back_as_it_was(tmp_path, name):
    model = MODELS[name]
    save_model(model, tmp_path / "trees.model")
    again = load_model(str(tmp_path / "trees.model"))
    documents = make_documents(model)
    np.testing.assert_array_equal(
        again.decision_function(documents), model.decision_function(documents)
    )
    np.testing.assert_array_equal(again.predict(documents), model.predict(documents))
    if model.calibration_ is not None:
        np.testing.assert_array_equal(
            again.predict_proba(documents), model.predict_proba(documents)
        )
    assert again.explain(documents[0]) == model.explain(documents[0])
    assert again.provenance == {"data": "made up"}


@EVERY_MODEL
def test_a_model_that_came_back_is_saved_as_it_was(tmp_path, name):
    save_model(MODELS[name], tmp_path / "one")
    save_model(load_model(tmp_path / "one"), tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes() == CONTENTS[name]


def test_the_same_model_is_the_same_file(tmp_path):
    for name in ("one", "two"):
        save_model(fit_trees(probability=True), tmp_path / name)
    save_model(load_model(tmp_path / "one"), tmp_path / "three")
    one, two, three = ((tmp_path / name).read_bytes() for name in ("one", "two", "three"))
    assert one == two == three


def test_a_file_tells_where_its_model_comes_from(tmp_path):
    provenance = {"data": "sentences", "seed": 3, "größe": [1.5, None, {"a": True}]}
    save_model(fit_trees(), tmp_path / "trees", provenance=provenance)
    found = load_model(tmp_path / "trees").provenance
    assert {"python", "spokeshave", "numpy", "scikit-learn"} <= set(found.pop("versions"))
    assert found == provenance


def test_provenance_may_look_like_a_digest(tmp_path):
    for digest in (NO_DIGEST, "f" * 64):
        save_model(fit_trees(), tmp_path / "trees", provenance={digest: digest})
        assert load_model(tmp_path / "trees").provenance[digest] == digest


def test_a_file_is_one_of_safetensors_and_holds_no_code():
    header, arrays = take_apart(CONTENTS["labels"])
    assert header["format"] == FORMAT
    assert header["version"] == VERSION
    assert {array.dtype.kind for array in arrays.values()} == {"u", "f"}


def damage(content, rng):
    """Return the content with some of it changed, lost, added or moved."""
    content = bytearray(content)
    place = rng.randrange(len(content))
    length = rng.choice([1, 2, 8, 64, 500])
    match rng.randrange(9):
        case 0:
            content[place] ^= 1 << rng.randrange(8)
        case 1:
            content[place] = rng.randrange(256)
        case 2:
            del content[place:]
        case 3:
            content[place:place] = rng.randbytes(length)
        case 4:
            del content[place : place + length]
        case 5:
            other = rng.randrange(len(content))
            first, second = sorted([place, other])
            middle = (first + second) // 2
            content[first:second] = content[middle:second] + content[first:middle]
        case 6:
            content += rng.randbytes(length)
        case 7:
            content[place : place + length] = bytes(len(content[place : place + length]))
        case 8:
            content[place:place] = content[place : place + length]
    return bytes(content)


@EVERY_MODEL
def test_no_damage_goes_unnoticed(tmp_path, name):
    rng = random.Random(name)
    path = tmp_path / "damaged.model"
    n_damaged = 0
    while n_damaged < 200:
        content = damage(CONTENTS[name], rng)
        if content != CONTENTS[name]:
            n_damaged += 1
            problem = find_problem(path, content)
            assert problem in (NOT_ONE, NOT_ONE_OR_DAMAGED, DAMAGED, WRONG_VERSION) or (
                problem.endswith(NEWER)
            )


def test_every_byte_counts(tmp_path):
    content = FIXTURE.read_bytes()
    path = tmp_path / "damaged.model"
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 8
        find_problem(path, bytes(changed))
        find_problem(path, content[:place])


def test_what_is_damaged_is_said_to_be(tmp_path):
    content = CONTENTS["labels"]
    assert find_problem(tmp_path / "a", content[:-1]) == DAMAGED
    assert find_problem(tmp_path / "a", content + b"\0") == DAMAGED
    assert find_problem(tmp_path / "a", content[:-5] + b"\1" + content[-4:]) == DAMAGED
    assert find_problem(tmp_path / "a", content[:200]) == NOT_ONE_OR_DAMAGED


@pytest.mark.parametrize("digest", [None, 3, "", "0" * 64, "f" * 64, "\ud800" * 64, ["a"] * 64])
def test_a_digest_that_is_none_is_damage(tmp_path, digest):
    header, arrays = take_apart(CONTENTS["labels"])
    text = json.dumps(header | {"sha256": digest})
    assert find_problem(tmp_path / "a", save(arrays, {KEY: text})) == DAMAGED
    del header["sha256"]
    assert find_problem(tmp_path / "a", save(arrays, {KEY: json.dumps(header)})) == DAMAGED


STRANGERS = {
    "empty": (b"", NOT_ONE),
    "short": (b"oak", NOT_ONE),
    "seven bytes": (b"\2\0\0\0\0\0\0", NOT_ONE),
    "table": (b"text,label\nan oak,oak\n", NOT_ONE),
    "long header": ((2**62).to_bytes(8, "little") + b"{}", NOT_ONE),
    "longest header": (b"\xff" * 8, NOT_ONE),
    "header cut short": ((2**20).to_bytes(8, "little") + b"{}", NOT_ONE_OR_DAMAGED),
    "nothing": (bytes(8), NOT_ONE_OR_DAMAGED),
    "no words": (b"\2\0\0\0\0\0\0\0{}", NOT_ONE_OR_DAMAGED),
    "list": (b"\2\0\0\0\0\0\0\0[]", NOT_ONE_OR_DAMAGED),
    "text": (b'\5\0\0\0\0\0\0\0"oak"', NOT_ONE_OR_DAMAGED),
    "letters": (b"\2\0\0\0\0\0\0\0\xff\xff", NOT_ONE_OR_DAMAGED),
    "pickle": (pickle.dumps({"model": 3}), NOT_ONE),
    "other tensors": (save({"x": np.zeros(3)}), NOT_ONE_OR_DAMAGED),
    "other notes": (save({"x": np.zeros(3)}, {"format": "pt"}), NOT_ONE_OR_DAMAGED),
    "no text": (save({"x": np.zeros(3)}, {KEY: "oak"}), NOT_ONE_OR_DAMAGED),
    "no header": (save({"x": np.zeros(3)}, {KEY: "3"}), NOT_ONE_OR_DAMAGED),
    "no format": (save({"x": np.zeros(3)}, {KEY: "{}"}), NOT_ONE_OR_DAMAGED),
    "no version": (save({}, {KEY: f'{{"format": "{FORMAT}"}}'}), NOT_ONE_OR_DAMAGED),
    "other format": (save({}, {KEY: '{"format": "x", "version": 1}'}), NOT_ONE_OR_DAMAGED),
}


@pytest.mark.parametrize("name", STRANGERS)
def test_what_is_no_model_file_gets_a_sentence(tmp_path, name):
    content, problem = STRANGERS[name]
    assert find_problem(tmp_path / "stranger", content) == problem


def test_a_file_that_is_not_there_gets_a_sentence(tmp_path):
    assert find_problem(tmp_path / "trees.model") == "there is no such file"


def test_a_folder_gets_a_sentence(tmp_path):
    assert find_problem(tmp_path) == "this is a folder; name a model file in it"


def test_a_file_in_what_is_no_folder_gets_a_sentence(tmp_path):
    (tmp_path / "trees").write_bytes(b"oak")
    assert find_problem(tmp_path / "trees" / "oak") == "it cannot be read (Not a directory)"


def test_a_file_that_may_not_be_read_gets_a_sentence(tmp_path, monkeypatch):
    def refuse(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert find_problem(tmp_path / "trees") == "it cannot be read (Permission denied)"


def test_a_model_that_cannot_be_written_gets_a_sentence(tmp_path):
    with pytest.raises(ValueError, match="this is a folder; name a file to write"):
        save_model(MODELS["labels"], tmp_path)
    with pytest.raises(ValueError, match=r"it cannot be written \(No such file or directory\)"):
        save_model(MODELS["labels"], tmp_path / "forest" / "trees.model")
    assert not list(tmp_path.iterdir())


def test_a_file_of_the_first_version_says_what_it_did():
    """The file was saved from a pipeline of two estimators, fitted on twelve sentences.

    These were ``DocumentVectorizer(weighting="tfidf")`` and ``ShavedSVC(n_features=4)`` of
    ``DualLinearSVC(probability=True, random_state=0)``; the sentences those of ``made_up.TREES``
    and four more: "the yew has a red berry and a dark needle", "dark needle of the yew", "a red
    berry under the old yew", "yew with a berry". Such a file is never made again: it has to be
    read as long as there is a Spokeshave.
    """
    model = load_model(FIXTURE)
    texts = [
        *("An ACORN under the oak", "the <b>winged</b> seed of an ash"),
        *("dark &amp; red: a berry", "nothing known"),
    ]
    np.testing.assert_allclose(
        model.decision_function(texts),
        [
            [-1.000544, 0.999859, -1.000000],
            [0.889599, -1.000000, -0.999695],
            [-1.000468, -1.000000, 0.366556],
            [-1.000468, -1.000000, -0.999695],
        ],
        atol=1e-6,
    )
    np.testing.assert_allclose(
        model.predict_proba(texts),
        [
            [0.046946, 0.887475, 0.065580],
            [0.856348, 0.083669, 0.059983],
            [0.043403, 0.084634, 0.871963],
            [0.229998, 0.448481, 0.321521],
        ],
        atol=1e-6,
    )
    assert model.predict(texts).tolist() == ["oak", "ash", "yew", "yew"]
    assert str(model.explain(texts[1])) == "ash (+0.890): ash +1.890"
    names = ("acorn", "ash", "bark", "berry", "dark", "grey", "lobed", "oak", "yew")
    assert model.feature_names_ == names
    assert model.provenance["data"] == "sentences about trees"


def test_a_file_of_the_first_version_is_small():
    assert FIXTURE.stat().st_size < 4_000


@pytest.mark.parametrize("version", [VERSION + 1, 999])
def test_a_file_of_a_newer_version_is_refused_for_that(tmp_path, version):
    newer = f"the model file is of version {version}, {NEWER}"
    header, arrays = take_apart(CONTENTS["labels"])
    header |= {"version": version}
    assert find_problem(tmp_path / "a", put_together(header, arrays)) == newer
    strange = {"format": FORMAT, "version": version, "digest": "of another kind"}
    content = put_together(json.dumps(strange), {"x": np.zeros(3)})
    assert find_problem(tmp_path / "a", content) == newer
    assert find_problem(tmp_path / "a", content + b"more") == newer


@pytest.mark.parametrize("version", [0, -1, "1", "2", True, None, 1.0, 2.5, [1], {}])
def test_a_version_that_never_was_is_damage(tmp_path, version):
    header, arrays = take_apart(CONTENTS["labels"])
    header |= {"version": version}
    assert find_problem(tmp_path / "a", put_together(header, arrays)) == WRONG_VERSION


def rewrite(content, change):
    """Return the file with its list of arrays changed, and a right digest."""
    length = int.from_bytes(content[:8], "little")
    outer = json.loads(content[8 : 8 + length])
    change(outer)
    header = json.loads(outer["__metadata__"][KEY]) | {"sha256": NO_DIGEST}
    outer["__metadata__"][KEY] = json.dumps(header)
    text = json.dumps(outer).encode()
    return seal(len(text).to_bytes(8, "little") + text + content[8 + length :])


def claim(**entry):
    """Return a change of what is said of the weights."""
    return lambda outer: outer["weights"].update(entry)


CLAIMS = {
    "shape": claim(shape=[2**40]),
    "shapes": claim(shape=[2**32, 2**32]),
    "overflow": claim(shape=[2**62, 4]),
    "negative": claim(shape=[-1]),
    "empty": claim(shape=[0, 2**62]),
    "many dimensions": claim(shape=[1] * 1_000),
    "no shape": claim(shape=None),
    "kind": claim(dtype="F64"),
    "unknown kind": claim(dtype="X9"),
    "half": claim(dtype="F16"),
    "offsets": claim(data_offsets=[0, 2**62]),
    "backwards": claim(data_offsets=[9, 1]),
    "beyond": claim(data_offsets=[2**63, 2**63 + 4]),
    "lost": lambda outer: outer.pop("weights"),
    "twice": lambda outer: outer.update(more=outer["weights"]),
    "no entry": lambda outer: outer.update(weights=3),
    "notes": lambda outer: outer["__metadata__"].update(more=3),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_claims_that_are_not_true_are_refused(tmp_path, name):
    content = CONTENTS["labels"]
    assert unpack_model(rewrite(content, lambda outer: None)).classes_.size == 3
    problem = find_problem(tmp_path / "a", rewrite(content, CLAIMS[name]))
    assert problem == "the model file contradicts itself; it was not written by Spokeshave"


LIMITED = """
import resource, sys
from pathlib import Path
from spokeshave import ModelFileError, load_model

load_model(sys.argv[1])
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (32 << 20), used + (32 << 20)))
for path in sys.argv[2:]:
    try:
        load_model(path)
    except ModelFileError as error:
        print(error)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is limited on Linux only")
def test_claims_of_great_size_take_no_memory(tmp_path):
    strangers = {name: STRANGERS[name][0] for name in ("long header", "header cut short")}
    claims = {name: rewrite(CONTENTS["labels"], change) for name, change in CLAIMS.items()}
    deep = put_together("[" * 1_000_000, {"x": np.zeros(3)})
    for name, content in {**strangers, **claims, "deep": deep}.items():
        (tmp_path / name).write_bytes(content)
    paths = sorted(tmp_path.iterdir())
    lines = run(LIMITED, FIXTURE, *paths).splitlines()
    assert [line.split(": ")[0] for line in lines] == list(map(str, paths))


def run(program, *arguments):
    """Run a program of its own, and return what it prints."""
    command = [sys.executable, "-W", "error", "-c", program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.stderr
    assert done.returncode == 0
    return done.stdout


USE = """
import json, sys
HEAVY = ["numba", "sklearn", "scipy", "polars", "joblib", "pandas"]
if {is_blocked}:
    sys.modules.update(dict.fromkeys(HEAVY))

from spokeshave import load_model

for path, documents in zip(sys.argv[1::2], map(json.loads, sys.argv[2::2]), strict=True):
    model = load_model(path)
    scores = model.decision_function(documents).tolist()
    print(json.dumps([scores, model.predict(documents).tolist(), str(model.explain(documents[0]))]))
print([name for name in HEAVY if sys.modules.get(name)])
"""


@pytest.mark.parametrize("is_blocked", [False, True])
def test_predicting_needs_nothing_that_training_needs(tmp_path, is_blocked):
    arguments, expected = [], []
    for name, model in MODELS.items():
        documents = make_documents(model)
        documents = documents if documents is TEXTS else np.nan_to_num(documents).tolist()
        path = tmp_path / name
        save_model(model, path)
        arguments += [path, json.dumps(documents)]
        expected.append((model, documents))
    *lines, loaded = run(USE.format(is_blocked=is_blocked), *arguments).splitlines()
    assert loaded == "[]"
    for line, (model, documents) in zip(lines, expected, strict=True):
        scores, labels, explanation = json.loads(line)
        np.testing.assert_allclose(scores, model.decision_function(documents))
        assert labels == model.predict(documents).tolist()
        assert explanation == str(model.explain(documents[0]))


MUCH_TEXT = """
import sys
from spokeshave import load_model
from spokeshave.model import inputs

inputs.MUCH_TEXT = 3_000
model = load_model(sys.argv[1])
texts = ["a dark berry, an acorn and ash"] * 30
few = model.decision_function(texts)
print("numba" in sys.modules)
many = model.decision_function(5 * texts)
print("numba" in sys.modules)
print(abs(many - few[0]).max() < 1e-12)
"""


def test_numba_is_loaded_when_there_is_much_to_read():
    assert run(MUCH_TEXT, FIXTURE).split() == ["False", "True", "True"]


PARTS = {name: take_apart(pack_model(model)) for name, model in MODELS.items()}

CONTRADICTION = "the model file contradicts itself; it was not written by Spokeshave"
LARGE = 2**63


def refuse(folder, header, arrays):
    """Check that a file of these parts is refused by a sentence that names it."""
    path = folder / "lie.model"
    path.write_bytes(put_together(header, arrays))
    with pytest.raises(ModelFileError) as caught:
        load_model(path)
    assert str(caught.value) == f"{path}: {CONTRADICTION}"


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
    ("vectors", ("input", "kind"), "text"),
    ("vectors", ("input", "n_features"), 8),
    ("vectors", ("input", "n_features"), 0),
    ("vectors", ("input", "n_features"), -9),
    ("vectors", ("input", "n_features"), 9.0),
    ("vectors", ("input", "n_features"), True),
    ("vectors", ("input", "n_features"), "9"),
    ("vectors", ("input", "n_features"), None),
    ("vectors", ("input", "keep_zeros"), 0),
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


def respell(arrays, words):
    """Return arrays with other words."""
    encoded = [word.encode("utf-8", "surrogatepass") for word in words]
    lengths = np.array(list(map(len, encoded)), np.uint8)
    letters = np.frombuffer(b"".join(encoded), np.uint8)
    return arrays | {"names": letters, "name_lengths": lengths}


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
    assert put_together(header, respell(arrays, words)) == put_together(header, arrays)
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
