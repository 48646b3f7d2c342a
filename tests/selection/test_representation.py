"""The choice of a representation against trials that are made by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import check_random_state

from spokeshave import DocumentVectorizer, DualLinearSVC, Representation, choose_representation
from spokeshave.selection import representation
from spokeshave.selection.representation import (
    EFFORTS,
    SEARCHED,
    Trial,
    make_default,
)
from spokeshave.text.vectorizer import weight_fold

WORDS = ["grey ash", "leaf of ash", "an ash", "bark of an oak", "grey oak", "an oak leaf"]
TREES = ["ash", "ash", "ash", "oak", "oak", "oak"]
FEW = {"analyzer": "word", "weighting": "tfidf", "loss": "squared_hinge"}


def make_texts(n_documents=60, seed=0):
    """Return texts of two classes, of which one says "not good", and labels."""
    rng = np.random.default_rng(seed)
    fill = ["plane", "chisel", "adze", "gouge", "scorp", "froe", "maul"]
    texts, labels = [], []
    for number in range(n_documents):
        words = list(rng.choice(fill, 5))
        label = "yes" if number % 2 else "no"
        words[2:2] = ["good", "not"] if label == "yes" else ["not", "good"]
        texts.append(" ".join(words))
        labels.append(label)
    return texts, np.array(labels)


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["binary", "counts", "tfidf"]),
    st.booleans(),
    st.sampled_from(["l1", "l2", None]),
    st.sampled_from([1, 2, 0.2]),
    st.sampled_from([1.0, 0.5, 4]),
    st.lists(st.sampled_from(WORDS), min_size=6, max_size=12),
    st.integers(0, 5),
)
def test_a_fold_by_subtraction_is_a_fold_by_counting(
    weighting, sublinear_tf, norm, min_df, max_df, texts, first
):
    texts = [*WORDS, *texts]
    options = {"weighting": weighting, "sublinear_tf": sublinear_tf, "norm": norm, "max_df": max_df}
    vectorizer = DocumentVectorizer(min_df=min_df, **options)
    counts = DocumentVectorizer(weighting="counts", norm=None, min_df=1).fit_transform(texts)
    test = np.arange(first, len(texts), 6)
    train = np.setdiff1d(np.arange(len(texts)), test)
    try:
        expected = vectorizer.fit_transform([texts[i] for i in train])
    except ValueError:  # no term is left
        X_train, _ = weight_fold(vectorizer, counts, train, test)
        assert X_train.shape[1] == 0
        return
    X_train, X_test = weight_fold(vectorizer, counts, train, test)
    np.testing.assert_allclose(X_train.toarray(), expected.toarray(), atol=1e-12)
    expected = vectorizer.transform([texts[i] for i in test])
    np.testing.assert_allclose(X_test.toarray(), expected.toarray(), atol=1e-12)


def test_trials_are_those_of_pipelines(monkeypatch):
    monkeypatch.setattr(representation, "TOLERANCE", 1e-9)
    monkeypatch.setattr(representation, "MOST_PASSES", 10_000)
    texts, y = make_texts()
    chosen = choose_representation(texts, y, fixed=FEW, random_state=3)
    rng = check_random_state(3)
    seed = rng.randint(2**31)
    order = representation._draw(y, rng)
    y = y[order]
    rows = np.array(texts, object)[order]
    assert chosen.trials
    for trial in chosen.trials[::5]:
        scores = []
        splits = StratifiedKFold(len(trial.scores), shuffle=True, random_state=seed)
        for train, test in splits.split(rows, y):
            vectorizer = trial.representation.make_vectorizer()
            X = vectorizer.fit_transform(rows[train])
            svm = trial.representation.make_svm(DualLinearSVC(tol=1e-9, random_state=0))
            predicted = svm.fit(X, y[train]).predict(vectorizer.transform(rows[test]))
            scores.append(f1_score(y[test], predicted, average="macro"))
        np.testing.assert_allclose(trial.scores, scores)
        assert trial.score == pytest.approx(np.mean(scores))
        assert trial.error == pytest.approx(np.std(scores, ddof=1) / np.sqrt(len(scores)))
        assert trial.n_documents == 60


def test_the_best_of_the_last_round_or_a_smaller_one_as_good_is_chosen():
    texts, y = make_texts()
    chosen = choose_representation(texts, y, fixed=FEW, random_state=0)
    assert chosen.ngram_range == (1, 2)  # single words do not tell the classes apart
    last = [trial for trial in chosen.trials if len(trial.scores) == 5]
    best = max(last, key=lambda trial: trial.score)
    (taken,) = [trial for trial in last if trial.representation == chosen]
    loss = np.subtract(best.scores, taken.scores)
    assert loss.mean() <= loss.std(ddof=1) / np.sqrt(5)
    for trial in last:
        loss = np.subtract(best.scores, trial.scores)
        if trial.n_features < taken.n_features:
            assert loss.mean() > loss.std(ddof=1) / np.sqrt(5)


def test_rounds_grow_and_shrink(monkeypatch):
    monkeypatch.setattr(representation, "FEWEST_DOCUMENTS", 12)
    texts, y = make_texts(180)
    chosen = choose_representation(texts, y, fixed=FEW, random_state=0)
    sizes = [trial.n_documents for trial in chosen.trials]
    limits = EFFORTS["normal"]
    assert sizes == sorted(sizes)
    assert sorted(set(sizes)) == [20, 60, 180]
    assert sizes.count(20) == 9  # terms x strengths
    assert sizes.count(60) == limits.n_kept[0] * len(limits.Cs["squared_hinge"])
    assert sizes.count(180) == limits.n_kept[1]


def list_class_weights(chosen):
    return {trial.representation.class_weight for trial in chosen.trials}


@pytest.mark.parametrize(("n_rare", "tried"), [(20, {None, "balanced"}), (21, {None})])
def test_balanced_classes_are_tried_where_classes_are_not_alike(n_rare, tried):
    texts, y = WORDS[:1] * n_rare + WORDS[3:4] * 60, ["ash"] * n_rare + ["oak"] * 60
    chosen = choose_representation(texts, y, fixed=FEW, random_state=0)
    assert list_class_weights(chosen) == tried
    assert {
        trial.representation.C
        for trial in chosen.trials
        if trial.representation.class_weight == "balanced"
    } == ({0.3, 1.0} if n_rare == 20 else set())


def test_balanced_classes_are_chosen_where_they_are_better():
    rng = np.random.default_rng(0)
    texts, y = [], []
    for label, n_documents, share in (("ash", 40, 0.6), ("oak", 400, 0.4)):
        for _ in range(n_documents):
            words = np.where(rng.random(5) < share, "grey", "old")
            texts.append(" ".join(words))
            y.append(label)
    common = {"analyzer": "word", "ngram_range": (1, 1), "weighting": "counts"}
    chosen = choose_representation(texts, y, fixed=common, random_state=0)
    assert chosen.class_weight == "balanced"
    svm = chosen.make_svm()
    assert (svm.class_weight, svm.loss, svm.C) == ("balanced", chosen.loss, chosen.C)


def test_weights_of_classes_that_are_given_are_not_searched():
    texts, y = WORDS[:1] * 20 + WORDS[3:4] * 60, ["ash"] * 20 + ["oak"] * 60
    for class_weight in (None, "balanced"):
        fixed = {**FEW, "class_weight": class_weight}
        chosen = choose_representation(texts, y, fixed=fixed, random_state=0)
        assert list_class_weights(chosen) == {class_weight}
    svm = DualLinearSVC(class_weight={"ash": 2})
    chosen = choose_representation(texts, y, fixed=FEW, estimator=svm, random_state=0)
    assert list_class_weights(chosen) == {None}
    assert chosen.make_svm(svm).class_weight == {"ash": 2}
    with pytest.raises(ValueError, match=r"class_weight must be None or 'balanced'\. Got 'even'"):
        choose_representation(texts, y, fixed={"class_weight": "even"})


@pytest.mark.parametrize(
    ("analyzer", "n_documents", "n_folds"), [("word", 120, 3), ("char_wb", 20, 1)]
)
def test_where_the_work_is_limited_the_last_round_has_all_documents_in_fewer_folds(
    monkeypatch, analyzer, n_documents, n_folds
):
    texts, y = ["grey ash leaves"] * 90 + ["old oak, leaves"] * 90, np.repeat(["ash", "oak"], 90)
    work = 120 * (15 / 6) * 2  # documents, words of fifteen letters, and classes
    monkeypatch.setattr(representation, "FEWEST_DOCUMENTS", 12)
    monkeypatch.setitem(EFFORTS, "normal", replace(EFFORTS["normal"], work=work))
    chosen = choose_representation(texts, y, fixed={"analyzer": analyzer}, random_state=0)
    last = [trial for trial in chosen.trials if trial.n_documents == 180]
    assert max(trial.n_documents for trial in chosen.trials if trial not in last) == n_documents
    assert {len(trial.scores) for trial in last} == {n_folds}
    assert np.isnan([trial.error for trial in last]).all() == (n_folds == 1)
    best = max(last, key=lambda trial: trial.score)
    assert chosen == best.representation


def test_finalists_are_the_best_of_each_choice_of_terms_and_the_default_svm_for_it():
    def make_trial(min_df, C, score):
        return Trial(Representation(min_df=min_df, C=C, prior_strength=0.0), 9, 9, (score,), 0.0)

    second = [make_trial(1, 0.1, 0.6), make_trial(2, 0.3, 0.8), make_trial(2, 3.0, 0.7)]
    second += [make_trial(3, 0.1, 0.5), make_trial(4, 0.1, 0.4)]
    third = [make_trial(2, 0.3, 0.8), make_trial(2, 3.0, 0.9)]
    default = Representation(C=1.0, prior_strength=0.5)
    found = representation._list_finalists(second, third, default)
    best = [replace(each.representation) for each in (second[2], second[0], second[3])]
    assert found == best + [replace(default, min_df=min_df) for min_df in (2, 1, 3)]
    assert representation._list_finalists(second[:1], second[:1], best[1]) == best[1:2]


@pytest.mark.parametrize(("n_allowed", "n_documents"), [(23, 23), (22, 135)])
def test_characters_are_tried_where_the_work_allows_enough_documents(
    monkeypatch, n_allowed, n_documents
):
    texts, y = make_texts(184)
    monkeypatch.setattr(representation, "FEWEST_DOCUMENTS", 12)
    work = (n_allowed + 0.5) * np.mean([len(text) for text in texts]) * 2
    monkeypatch.setitem(EFFORTS, "normal", replace(EFFORTS["normal"], work=work))
    found = choose_representation(texts, y, fixed={"weighting": "tfidf"}, random_state=0)
    analyzers = {trial.representation.analyzer for trial in found.trials}
    assert analyzers == ({"word", "char_wb", "word+char_wb"} if n_allowed == 23 else {"word"})
    sizes = {trial.n_documents for trial in found.trials}
    assert max(sizes - {184}) == n_documents


def test_what_is_fixed_is_not_searched():
    texts, y = make_texts()
    fixed = {
        "analyzer": "char",
        "ngram_range": (1, 3),
        "min_df": 3,
        "weighting": "binary",
        "prior_strength": 0.25,
        "loss": "hinge",
    }
    chosen = choose_representation(texts, y, fixed=fixed, random_state=0)
    for name, value in fixed.items():
        assert {getattr(trial.representation, name) for trial in chosen.trials} == {value}
    assert len({trial.representation.C for trial in chosen.trials}) == 4
    every = choose_representation(texts, y, fixed={**fixed, "C": 2.0}, random_state=0)
    assert every == Representation(**fixed, C=2.0)
    assert not every.trials


def test_scripts_without_spaces_are_read_by_character():
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("木林森川山田"), 12)) + " oak" for _ in range(30)]
    y = np.array(["山山" in text for text in texts])
    chosen = choose_representation(texts, y, random_state=0)
    terms = {trial.representation.terms for trial in chosen.trials}
    assert {("char", (1, 2), 1), ("char", (1, 3), 2), ("word", (1, 1), 1)} <= terms
    assert not [each for each in terms if each[0] == "char_wb"]


def test_quick_is_a_default():
    texts, y = make_texts()
    assert choose_representation(texts, y, effort="quick") == Representation()
    found = choose_representation(texts, y, effort="quick", fixed={"analyzer": "char_wb"})
    assert found.ngram_range == (2, 5)
    assert make_default({}, is_text=False).prior_strength == 0


def test_two_documents_of_a_class_are_too_few_to_search():
    assert choose_representation(["an ash", "an oak"], ["ash", "oak"]) == Representation()


def test_threads_do_not_change_the_choice():
    texts, y = make_texts()
    one, two = (choose_representation(texts, y, n_jobs=n, random_state=0) for n in (1, 2))
    assert one == two
    for a, b in zip(one.trials, two.trials, strict=True):
        assert replace(a, seconds=0) == replace(b, seconds=0)


@pytest.mark.parametrize("most", [1, 3])
def test_counts_in_vectors_are_weighted_in_each_fold(monkeypatch, most):
    monkeypatch.setattr(representation, "TOLERANCE", 1e-9)
    monkeypatch.setattr(representation, "MOST_PASSES", 10_000)
    texts, y = make_texts()
    counts = DocumentVectorizer(weighting="counts", norm=None).fit_transform(texts)
    counts.data = counts.data.clip(max=most)
    counts.resize(60, 4 * counts.shape[1])  # most are zeros, as in longer texts
    chosen = choose_representation(counts, y, fixed={"loss": "squared_hinge"}, random_state=3)
    rng = check_random_state(3)
    seed = rng.randint(2**31)
    order = representation._draw(y, rng)
    X, y = counts[order], y[order]
    found = {trial.representation.weighting for trial in chosen.trials}
    assert found == {"counts", "tfidf"} | ({"binary", "sublinear"} if most > 1 else set())
    for trial in chosen.trials[::4]:
        scores = []
        splits = StratifiedKFold(len(trial.scores), shuffle=True, random_state=seed)
        for train, test in splits.split(y, y):
            weighter = trial.representation.make_weighter().fit(X[train])
            svm = trial.representation.make_svm(DualLinearSVC(tol=1e-9, random_state=0))
            svm.fit(weighter.transform(X[train]), y[train])
            predicted = svm.predict(weighter.transform(X[test]))
            scores.append(f1_score(y[test], predicted, average="macro"))
        np.testing.assert_allclose(trial.scores, scores)


@pytest.mark.parametrize("kind", ["sparse", "dense", "several labels"])
def test_vectors_have_no_terms_to_choose(kind):
    texts, y = make_texts()
    X = DocumentVectorizer(ngram_range=(1, 2)).fit_transform(texts)
    if kind == "dense":
        X = X.toarray() + 1.0
    if kind == "several labels":
        y = np.column_stack([y == "yes", y == "no", np.arange(y.size) % 3 == 0]).astype(int)
    chosen = choose_representation(X, y, random_state=0)
    strengths = {trial.representation.prior_strength for trial in chosen.trials}
    assert strengths == ({0.0} if kind == "dense" else {0.0, 0.5, 1.0})
    assert {trial.representation.terms for trial in chosen.trials} == {("word", (1, 1), 2)}
    assert {trial.n_features for trial in chosen.trials} == {X.shape[1]}
    assert max(trial.score for trial in chosen.trials) > 0.6


def test_texts_may_have_several_labels():
    texts, y = make_texts()
    several = sparse.csr_matrix(np.column_stack([y == "yes", y == "no"]).astype(int))
    chosen = choose_representation(texts, several, fixed=FEW, random_state=0)
    assert chosen.ngram_range == (1, 2)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from("abc"), min_size=3, max_size=60), st.integers(0, 3))
def test_each_beginning_of_the_order_is_stratified(labels, seed):
    y = np.array(labels)
    order = representation._draw(y, check_random_state(seed))
    assert sorted(order) == list(range(y.size))
    for n in range(1, y.size):
        for label in set(labels):
            share = labels.count(label) / y.size
            assert abs((y[order[:n]] == label).sum() - n * share) < 2


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"effort": "much"}, "effort must be one of quick, normal, thorough. Got 'much' instead."),
        ({"fixed": {"norm": "l1"}}, f"fixed must have keys of {', '.join(SEARCHED)}. Got 'norm' "),
        ({"fixed": {"weighting": "idf"}}, "weighting must be one of binary, counts, tfidf, "),
        ({"y": TREES[:-1]}, "documents must be as many as targets. Got 6 and 5."),
    ],
)
def test_errors(options, problem):
    with pytest.raises(ValueError, match="^" + problem.replace("(", r"\(")):
        choose_representation(WORDS, options.pop("y", TREES), **options)


def test_half_of_the_best_at_most_have_characters_within_words():
    analyzers = ["char_wb", "word+char_wb", "word+char_wb", "char_wb", "word", "word", "word"]
    trials = [
        Trial(Representation(analyzer=analyzer, C=C), 9, 9, (1 - C,), 0.0)
        for analyzer, C in zip(analyzers, np.linspace(0.1, 0.9, 7).tolist(), strict=True)
    ]
    best = representation._list_best(trials, 4)
    assert best == [trials[place].representation for place in (0, 1, 4, 5)]
