"""Model files: whole ones come back as they were, and damaged ones never do."""

from __future__ import annotations

import json
import math
import pickle
import random
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as made
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
from spokeshave.model import file_content
from spokeshave.model.file import FORMAT, KEY, NO_DIGEST, pack_model, unpack_model
from spokeshave.model.file_content import VERSION, count_shared
from spokeshave.text.analyzers import Analysis

MODELS = make_models()
CONTENTS = {name: pack_model(model) for name, model in MODELS.items()}
EVERY_MODEL = pytest.mark.parametrize("name", MODELS)
FIXTURE = Path(__file__).parent / "models" / "version-1.model"
SECOND, THIRD, FOURTH = (FIXTURE.with_name(f"version-{n}.model") for n in (2, 3, 4))
NOT_ONE = "this is not a model file; spokeshave fit writes one"
NOT_ONE_OR_DAMAGED = "this is not a model file, or it is damaged; spokeshave fit writes one"
DAMAGED = "the model file is damaged or cut short; fetch or make it again"
NOT_OURS = "the model file contradicts itself; it was not written by Spokeshave"
WRONG_VERSION = "the model file is damaged; fetch or make it again"
NEWER = "newer than this Spokeshave, which reads up to 5; upgrade Spokeshave"


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
        DocumentVectorizer(),
        ShavedSVC(DualLinearSVC(random_state=0, **options), n_features=3, cv=2),
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


def test_a_file_of_the_first_version_reads_single_words():
    read = load_model(FIXTURE).input
    assert read.analysis == Analysis(unspaced=None)
    assert not read.sublinear_tf


def test_a_file_of_the_first_version_is_small():
    assert FIXTURE.stat().st_size < 4_000


def test_a_file_of_vectors_of_the_fourth_version_says_what_it_did():
    """The file was saved from the model of vectors in ``made_models``, which were not weighted."""
    model, expected = load_model(FOURTH), MODELS["vectors"]
    documents = make_documents(expected)
    assert not model.input.is_weighted
    np.testing.assert_array_equal(
        model.decision_function(documents), expected.decision_function(documents)
    )


@pytest.mark.parametrize("path", [SECOND, THIRD], ids=["second", "third"])
def test_files_of_later_versions_say_what_they_did(path):
    """The files were saved from a pipeline of two estimators, fitted on the same sentences.

    These were ``DocumentVectorizer(weighting="tfidf", sublinear_tf=True, ngram_range=(1, 2),
    stop_words=["the", "an"])`` and ``DualLinearSVC(prior="bns", probability=True,
    random_state=0)``. Arrays of the second version were not compressed.
    """
    model = load_model(path)
    texts = ["An ACORN under the oak", "dark &amp; red: a berry", "nothing known"]
    np.testing.assert_allclose(
        model.decision_function(texts),
        [
            [-1.000055, 1.205889, -1.017487],
            [-0.849064, -0.889659, 0.409199],
            [-0.635308, -0.677436, -0.659615],
        ],
        atol=1e-6,
    )
    np.testing.assert_allclose(
        model.predict_proba(texts)[0], [0.052874, 0.917906, 0.02922], atol=1e-6
    )
    assert model.feature_names_[:6] == ("a", "a grey", "a red", "acorn", "and", "and a")
    again = unpack_model(pack_model(model))
    assert again.feature_names_ == model.feature_names_
    np.testing.assert_array_equal(again.decision_function(texts), model.decision_function(texts))


@given(st.data())
def test_byte_precision_rounds_to_a_64th_of_the_usual_weight(data):
    model = MODELS["labels"]
    scorer, n_classes = model.scorer, len(model.classes_)
    numbers = st.integers(-1000, 1000) | st.sampled_from([0.0, 1e-9, -2e-3, 4e9])
    weights = data.draw(made.arrays(np.float32, scorer.n_weights, elements=numbers))
    given_model = replace(model, scorer=replace(scorer, weights=weights))
    found = unpack_model(pack_model(given_model, "byte")).scorer.weights
    for k in range(n_classes):
        of_class = weights[scorer.classes == k].astype(float)
        usual = math.sqrt(sum(weight**2 for weight in of_class) / of_class.size)
        errors = np.abs(found[scorer.classes == k] - of_class)
        assert errors.max() <= 1.0001 * usual / 128


def test_weights_are_rounded_and_read_part_by_part(monkeypatch):
    model = MODELS["labels"]
    whole = pack_model(model, "byte")
    monkeypatch.setattr(file_content, "PART", 2)
    assert model.scorer.n_weights > 4
    assert pack_model(model, "byte") == whole
    weights = unpack_model(whole).scorer.weights
    monkeypatch.undo()
    np.testing.assert_array_equal(weights, unpack_model(whole).scorer.weights)


def test_byte_precision_makes_a_smaller_file_of_the_same_labels(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.random((60, 2000)), np.arange(60) % 3
    model = DualLinearSVC(random_state=0).fit(X, y)
    for precision in ("single", "byte"):
        save_model(model, tmp_path / precision, precision=precision)
    single, byte = (load_model(tmp_path / name) for name in ("single", "byte"))
    sizes = [(tmp_path / name).stat().st_size for name in ("single", "byte")]
    assert sizes[1] < 0.5 * sizes[0]
    assert byte.predict(X).tolist() == single.predict(X).tolist()
    with pytest.raises(ValueError, match=r"^precision must be 'single' or 'byte'\. Got 'double'"):
        save_model(model, tmp_path / "double", precision="double")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("steps", lambda steps: steps[1:]),
        ("steps", lambda steps: steps.astype(np.float64)),
        ("steps", lambda steps: np.full_like(steps, 3e38)),  # weights would be infinite
        ("steps", lambda steps: np.full_like(steps, np.nan)),
        ("weights", lambda weights: weights[1:]),
        ("weights", lambda weights: weights.astype(np.float32)),
    ],
)
def test_steps_that_do_not_fit_are_refused(tmp_path, name, change):
    header, arrays = take_apart(pack_model(MODELS["labels"], "byte"))
    content = put_together(header, arrays | {name: change(arrays[name])})
    assert find_problem(tmp_path / "a", content) == NOT_OURS


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
    assert problem == NOT_OURS


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


@given(st.lists(st.text("ab", max_size=6).map(str.encode)))
def test_names_share_the_beginning_of_the_name_before(names):
    expected = [
        max(n for n in range(len(name) + 1) if before[:n] == name[:n])
        for before, name in pairwise([b"", *names])
    ]
    assert count_shared(names).tolist() == expected
