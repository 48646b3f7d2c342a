"""Runs that come to grief: killed, interrupted, without disk or memory, or with another source."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest

import troubled
from made_up import make_text
from spokeshave import BudgetedSVC, DocumentVectorizer, DualLinearSVC
from spokeshave.budget import working_set as rounds
from spokeshave.errors import CorpusError
from spokeshave.utils.checkpoint import WorkFolder
from troubled import Observer, fit, kill, leave_room, seams
from zipf import make_zipf, write_csv

STAGES = ["counting", "ranking", "reducing", "training"]
FOLDERS = {"counting": "first_pass", "ranking": "selection", "reducing": "reduced"}
# Where a run is stopped: in which stage, after how many steps of it, and whether it is over the
# disk that it is trained.
POINTS = [
    ("counting", 3, False),
    ("ranking", 0, False),
    ("reducing", 3, False),
    ("training", 1, False),
    ("training", 1, True),
]
AT_EACH_POINT = pytest.mark.parametrize(
    "point", POINTS, ids=lambda point: f"{point[0]} {point[1]}{' in rounds' * point[2]}"
)


@pytest.fixture(scope="module")
def texts():
    return make_zipf(1_500, n_words=3_000, length=20)


@pytest.fixture
def source(texts, tmp_path):
    return write_csv(tmp_path / "trees.csv", *texts)


@pytest.fixture
def work(tmp_path):
    return tmp_path / "work"


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Return the folder that temporary files are made in, which is empty."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def in_rounds(monkeypatch):
    """Let runs be trained over the disk."""
    with seams(monkeypatch.setattr, in_rounds=True):
        yield


@pytest.fixture(scope="module")
def whole(texts, tmp_path_factory):
    """Return models of runs that nothing happened to: in memory, and over the disk."""
    path = write_csv(tmp_path_factory.mktemp("whole") / "trees.csv", *texts)
    models = []
    for in_rounds in (False, True):
        with pytest.MonkeyPatch.context() as patch, seams(patch.setattr, in_rounds=in_rounds):
            models.append(fit(path))
    assert [model.n_rounds_ > 1 for model in models] == [False, True]
    return models


def agree(model, other, texts):
    """Assert that two models are of the same features and of the same optimum."""
    assert model.features_.tolist() == other.features_.tolist()
    assert model.classes_.tolist() == other.classes_.tolist()
    assert model.checksum_ == other.checksum_
    assert (model.cut_, model.reduced_) == (other.cut_, other.reduced_)
    np.testing.assert_allclose(model.objective_, other.objective_, rtol=2e-5)
    np.testing.assert_allclose(
        model.decision_function(texts[0]), other.decision_function(texts[0]), atol=0.02
    )
    assert model.n_rounds_ == other.n_rounds_
    np.testing.assert_array_equal(model.coef_, other.coef_)
    np.testing.assert_array_equal(model.intercept_, other.intercept_)


def list_stages(work):
    """Return the stages that are finished, and nothing else may be there."""
    if not work.exists():
        return set()
    names = {name for name in os.listdir(work) if not name.endswith(".json")}
    assert names <= {"first_pass", "selection", "reduced", "training"}
    return names


# Killed.


CASES = {
    **{f"{stage} {n}{' in rounds' * is_long}": (stage, n, is_long) for stage, n, is_long in POINTS},
    "in a round": ("training", None, True),
}
N_ROUNDS = 3  # of a class are done when it is killed in the next


def fork(action):
    """Do something in a process of its own, for a minute at most; return how that ended."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Python 3.12: there are threads, but none is needed
        child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        signal.alarm(60)
        action()
    finally:
        os._exit(1)


def run_into_death(source, work, stage, n, in_rounds):
    """Run until the process kills itself, at a point or in a round."""
    with pytest.MonkeyPatch.context() as patch, seams(patch.setattr, in_rounds=in_rounds):
        if n is None:
            descend, left = rounds.advance, iter(range(N_ROUNDS))
            patch.setattr(
                rounds, "advance", lambda *a: kill() if next(left, 9) == 9 else descend(*a)
            )
        fit(source, Observer((stage, n), kill), folder=work)


@pytest.fixture(scope="module")
def killed(texts, tmp_path_factory):
    """Return what kills a run at a point, and gives its source and its folder."""

    def killed(*case):
        folder = tmp_path_factory.mktemp("killed")
        source, work = write_csv(folder / "trees.csv", *texts), folder / "work"
        assert fork(lambda: run_into_death(source, work, *case)) == -signal.SIGKILL
        return source, work

    return killed


@pytest.mark.parametrize("name", CASES)
def test_a_run_that_was_killed_goes_on(killed, whole, texts, monkeypatch, name):
    source, work = killed(*CASES[name])
    stage, _, in_rounds = CASES[name]
    before = STAGES[: STAGES.index(stage)]
    assert {FOLDERS[done] for done in before} <= set(os.listdir(work))
    n_ranked = count_calls(monkeypatch, "spokeshave.budget.run.select_features")
    observer = Observer()
    with seams(monkeypatch.setattr, in_rounds=in_rounds):
        model = fit(source, observer, folder=work)
    agree(model, whole[in_rounds], texts)
    assert not work.exists()
    for done in before:
        assert observer.reached[done] == 0
    assert len(n_ranked) == ("ranking" not in before)


def test_a_run_that_was_killed_as_it_cleared_up_can_be_repeated(source, work, whole, texts):
    unlink, left, clear = os.unlink, iter(range(10)), WorkFolder.clear

    def fall_over(*arguments, **options):
        return kill() if next(left, 99) == 99 else unlink(*arguments, **options)

    def watch_for_the_end(work_folder):
        os.unlink = fall_over
        clear(work_folder)

    def die():
        WorkFolder.clear = watch_for_the_end

    assert fork(lambda: fit(source, Observer(("training", 1), die), folder=work)) == -signal.SIGKILL
    assert work.exists()
    agree(fit(source, folder=work), whole[False], texts)


def count_calls(monkeypatch, name):
    calls = []
    module, _, attribute = name.rpartition(".")
    function = getattr(sys.modules[module], attribute)
    monkeypatch.setattr(name, lambda *a, **k: (calls.append(1), function(*a, **k))[1])
    return calls


def test_a_run_that_was_killed_goes_on_in_another_process(source, work):
    program = (
        "import sys; from troubled import *; "
        "fit(sys.argv[1], Observer(('reducing', 0), kill), folder=sys.argv[2])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, source, work],
        env=os.environ | {"PYTHONPATH": str(Path(troubled.__file__).parent)},
    )
    assert done.returncode == -signal.SIGKILL
    assert fit(source, folder=work).reduced_.n_documents == 1_500


def test_a_run_without_a_seed_goes_on(source, work):
    stop_at(source, ("reducing", 0), KeyboardInterrupt, folder=work, estimator=None)
    fit(source, folder=work, estimator=None)


def test_a_run_goes_on_with_a_matrix(work):
    X, y = make_text(3)
    options = {"nonzeros_per_document": 4, "random_state": 0}
    whole = BudgetedSVC(**options).fit(X, y)
    model = BudgetedSVC(**options, folder=work)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("spokeshave.budget.run.train_classes", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    assert list_stages(work) == {"first_pass", "selection", "reduced"}
    np.testing.assert_array_equal(model.fit(X, y).coef_, whole.coef_)
    assert not work.exists()


def interrupt(*_, **__):
    raise KeyboardInterrupt


# Interrupted.


def stop_at(source, point, error, **options):
    """Run until an error is raised at a point, and see it come out."""

    def fail():
        raise error

    with pytest.raises(error):
        fit(source, Observer(point, fail), **options)


@AT_EACH_POINT
def test_an_interrupt_leaves_a_folder_to_go_on_from(source, work, whole, texts, point, monkeypatch):
    stage, n, in_rounds = point
    with seams(monkeypatch.setattr, in_rounds=in_rounds):
        stop_at(source, (stage, n), KeyboardInterrupt, folder=work)
        before = STAGES[: STAGES.index(stage)]
        assert list_stages(work) - {"training"} == {FOLDERS[done] for done in before}
        observer = Observer()
        model = fit(source, observer, folder=work)
    assert [observer.reached[done] for done in before] == [0] * len(before)
    agree(model, whole[in_rounds], texts)
    assert not work.exists()


@AT_EACH_POINT
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_nothing_is_left_of_a_folder_without_a_name(source, temporary, point, monkeypatch, error):
    stage, n, in_rounds = point
    with seams(monkeypatch.setattr, in_rounds=in_rounds):
        stop_at(source, (stage, n), error)
    assert os.listdir(temporary) == []


def test_nothing_is_left_of_a_run_that_went_well(source, temporary, in_rounds):
    fit(source)
    assert os.listdir(temporary) == []


# The disk.


def limit_files(n_bytes):
    """Return what lets no file grow beyond a size: writes fail as they do on a full disk."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))


@pytest.fixture
def unlimited():
    yield
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))


FULL = [
    ("counting", 1_000, False),  # a few words
    ("counting", 50_000, False),
    ("ranking", 1_000, False),
    ("reducing", 50_000, False),
    ("training", 1_000, True),
]


@pytest.mark.parametrize(("stage", "n_bytes", "is_in_rounds"), FULL)
def test_a_full_disk_is_told_of_and_leaves_what_is_finished(
    source, work, whole, texts, unlimited, monkeypatch, stage, n_bytes, is_in_rounds
):
    with seams(monkeypatch.setattr, in_rounds=is_in_rounds):
        with pytest.raises(OSError) as caught:  # noqa: PT011
            fit(source, Observer((stage, 0), limit_files(n_bytes)), folder=work)
        resource.setrlimit(resource.RLIMIT_FSIZE, resource.getrlimit(resource.RLIMIT_FSIZE)[1:] * 2)
        assert list_stages(work) - {"training"} == {
            FOLDERS[done] for done in STAGES[: STAGES.index(stage)]
        }
        assert str(work) in str(caught.value)
        agree(fit(source, folder=work), whole[is_in_rounds], texts)
    assert not work.exists()


@pytest.mark.parametrize("stage", ["counting", "ranking", "reducing", "training"])
def test_a_full_disk_leaves_nothing_in_a_folder_without_a_name(
    source, temporary, unlimited, in_rounds, stage
):
    with pytest.raises(OSError):  # noqa: PT011
        fit(source, Observer((stage, 0), limit_files(1_000)))
    assert os.listdir(temporary) == []


def test_a_disk_that_will_be_too_small_is_found_out_before_it_is_full(
    source, work, whole, texts, monkeypatch
):
    usage = shutil.disk_usage(source)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shutil.disk_usage", lambda path: usage._replace(free=1_000))
        sentence = rf"^{re.escape(str(work))}: [\d.]+ \w+ are going to be written there, and 1 KB"
        with pytest.raises(ValueError, match=sentence):
            fit(source, folder=work)
    assert list_stages(work) == {"first_pass", "selection"}
    agree(fit(source, folder=work), whole[False], texts)


@pytest.mark.skipif(os.geteuid() == 0, reason="everything is permitted to root")
def test_a_folder_that_cannot_be_written_to(source, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    with pytest.raises(ValueError, match=r"closed/work: it cannot be made \(Permission denied\)"):
        fit(source, folder=closed / "work")
    with pytest.raises(ValueError, match=r"run\.json: it cannot be written \(Permission denied\)"):
        fit(source, folder=closed)


def test_a_folder_that_cannot_be(source, tmp_path):
    with pytest.raises(ValueError, match=r"^.*none/work: it cannot be made \(No such file or dir"):
        fit(source, folder=tmp_path / "none" / "work")
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(ValueError, match=r"^.*notes: this is a file; name a folder to work in$"):
        fit(source, folder=tmp_path / "notes")
    with pytest.raises(ValueError, match=r"^.*notes/work: it cannot be made \(Not a directory\)$"):
        fit(source, folder=tmp_path / "notes" / "work")
    assert (tmp_path / "notes").read_text() == "mine"


def test_a_folder_with_other_files_is_refused_and_left_alone(source, work):
    work.mkdir()
    (work / "notes").write_text("mine")
    with pytest.raises(ValueError, match="there are files in it that no run has left; name a new"):
        fit(source, folder=work)
    assert os.listdir(work) == ["notes"]


def test_an_empty_folder_will_do(source, work):
    work.mkdir()
    fit(source, folder=str(work))
    assert not work.exists()


# Another run.


@pytest.mark.parametrize(
    ("options", "other"),
    [
        ({"memory": 2 * troubled.AMPLE}, "memory"),
        ({"nonzeros_per_document": 5}, "nonzeros_per_document"),
        ({"by": "chi2"}, "by"),
        ({"tolerance": 0.1}, "tolerance"),
        ({"random_state": 1}, "random_state"),
        ({"estimator": DualLinearSVC(C=2, random_state=0)}, "estimator"),
        ({"vectorizer": DocumentVectorizer(weighting="counts")}, "vectorizer"),
        ({"by": "bns", "tolerance": 0.1}, "by, tolerance"),
    ],
    ids=str,
)
def test_a_folder_of_another_run_is_refused_with_what_differs(source, work, options, other):
    first = {"memory": troubled.AMPLE, **troubled.OPTIONS, "folder": work}
    stop_at_reducing(first, source)
    sentence = f"{work}: a run with other {other} has begun here; repeat its arguments, name "
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
        BudgetedSVC(**first | options).fit_files(source)
    assert BudgetedSVC(**first).fit_files(source).reduced_.n_documents == 1_500  # still whole


def stop_at_reducing(options, source):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("spokeshave.budget.run.reduce_stream", interrupt)
        with pytest.raises(KeyboardInterrupt):
            BudgetedSVC(**options).fit_files(source)


def test_a_folder_of_other_documents_is_refused(source, work, texts):
    stop_at(source, ("reducing", 1), KeyboardInterrupt, folder=work)
    write_csv(source, texts[0][:5], texts[1][:5], "a")
    with pytest.raises(ValueError, match="a run with other documents has begun here"):
        fit(source, folder=work)
    X, y = make_text(2)
    with pytest.raises(ValueError, match="a run with other documents"):
        BudgetedSVC(troubled.AMPLE, **troubled.OPTIONS, folder=work).fit(X, y)


def test_the_number_of_threads_is_no_other_run(source, work):
    stop_at(source, ("reducing", 1), KeyboardInterrupt, folder=work)
    observer = Observer()
    fit(source, observer, folder=work, n_jobs=2)
    assert observer.reached["counting"] == 0


def test_two_runs_do_not_work_in_one_folder(source, work):
    def run_another():
        with pytest.raises(ValueError, match=str(work)):
            fit(source, folder=work)

    model = fit(source, Observer(("reducing", 1), run_another), folder=work)
    assert model.reduced_.n_documents == 1_500


# Memory.


def test_too_little_memory_is_refused_with_what_is_needed(source):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        BudgetedSVC("1MB").fit_files(source)
    sentence = r"memory must be at least ([\d.]+ MB): [\d.]+ MB are for what the process holds"
    floor = re.match(sentence, str(caught.value))
    assert str(caught.value).endswith(". Got 1.0 MB instead.")
    model = BudgetedSVC(f"{float(floor[1].split()[0]) + 8}MB", random_state=0).fit_files(source)
    assert model.reduced_.n_documents == 1_500


def test_what_is_said_to_be_needed_is_enough(source, monkeypatch):
    for place in ("memory", "sample"):
        monkeypatch.setattr(f"spokeshave.budget.{place}.measure_resident", lambda: 288_640_000)
    with pytest.raises(ValueError, match="memory must be at least") as caught:
        BudgetedSVC("1MB").fit_files(source)
    floor = re.search(r"at least ([\d.]+ \w+)", str(caught.value))[1]
    BudgetedSVC(floor, random_state=0).fit_files(source)


def test_after_too_little_memory_the_same_folder_may_be_used_with_more(source, work):
    with pytest.raises(ValueError, match="memory must be at least"):
        BudgetedSVC("1MB", random_state=0, folder=work).fit_files(source)
    BudgetedSVC("8GB", random_state=0, folder=work).fit_files(source)


def test_more_memory_than_there_is_may_be_allowed(source):
    assert BudgetedSVC("200TB", random_state=0).fit_files(source).plan_.fits_whole


def test_a_subset_of_a_few_documents_is_still_enough(source, texts, monkeypatch):
    monkeypatch.setattr("spokeshave.budget.run.find_available", leave_room(600_000))
    with seams(monkeypatch.setattr, in_rounds=True):
        model = fit(source)
    assert model.plan_.n_sampled < 500
    assert model.reduced_.n_documents == 1_500
    assert (model.predict(texts[0]) == np.array(texts[1])).mean() > 0.7


# The source.


@pytest.fixture(params=["a name", "no name"])
def place(request, work, temporary):
    """Return the options for a folder with a name, or without."""
    return {"folder": work} if request.param == "a name" else {}


def change_between(source, change, place, temporary, names, point=("ranking", 0)):
    """Change the source between the passes, and assert that it is found out and nothing is left."""
    with pytest.raises(CorpusError) as caught:
        fit(source, Observer(point, change), **place)
    assert names in str(caught.value)
    assert "\n" not in str(caught.value)
    assert os.listdir(temporary) == []
    assert not place.get("folder", Path("none")).exists()


CHANGED = "trees.csv: it has changed since it was first read; run again when it is whole"


@pytest.mark.parametrize("point", [("ranking", 0), ("reducing", 1)])
def test_a_source_that_grows(source, place, temporary, texts, point):
    def append():
        write_csv(source, texts[0][:300], texts[1][:300], "a")

    change_between(source, append, place, temporary, CHANGED, point)
    assert fit(source, **place).reduced_.n_documents == 1_800


@pytest.mark.parametrize("old", ["kind 1", " aa "], ids=["a label", "a word"])
def test_a_source_with_something_changed_that_no_size_or_time_tells(source, place, temporary, old):
    def replace():
        before = source.stat()
        content = source.read_text()
        at = content.rindex(old)
        new = {"kind 1": "kind 7", " aa ": " zz "}[old]
        source.write_text(content[:at] + new + content[at + len(old) :])
        os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert source.stat().st_size == before.st_size

    change_between(source, replace, place, temporary, CHANGED)
    fit(source, **place)


@pytest.mark.parametrize("point", [("counting", 6), ("ranking", 0)])
def test_a_source_that_is_gone(source, place, temporary, texts, point):
    change_between(source, source.unlink, place, temporary, "trees.csv", point)
    write_csv(source, *texts)
    fit(source, **place)


@pytest.fixture
def folders(tmp_path, texts):
    """Return a folder of classes."""
    folder = tmp_path / "trees"
    for number, (text, label) in enumerate(zip(*texts, strict=True)):
        if number < 300:
            (folder / label).mkdir(parents=True, exist_ok=True)
            (folder / label / f"{number:03}.txt").write_text(text)
    return folder


def test_a_folder_that_grows_or_shrinks(folders, place, temporary):
    one = next((folders / "kind 1").iterdir())
    added = folders / "kind 2" / "new.txt"
    change_between(folders, lambda: added.write_text("aa bc"), place, temporary, "trees: it has ch")
    assert fit(folders, **place).reduced_.n_documents == 301
    change_between(folders, one.unlink, place, temporary, "trees: it has changed")
    assert fit(folders, **place).reduced_.n_documents == 300


def test_several_files_of_which_the_second_changes(source, place, temporary, texts):
    other = write_csv(source.with_name("more.csv"), texts[0][:50], texts[1][:50])

    def append():
        write_csv(other, texts[0][:1], texts[1][:1], "a")

    change_between([source, other], append, place, temporary, "trees.csv and 1 more: it has chang")


def spoil(source, texts):
    """Return a second file with a malformed row in the middle, and what it should be."""
    other = write_csv(source.with_name("more.csv"), texts[0][:400], texts[1][:400])
    lines = other.read_text().splitlines(keepends=True)
    other.write_text("".join([*lines[:301], "one,two,three\n", *lines[301:]]))
    return other, "".join(lines)


def test_a_malformed_row_in_the_second_file(source, work, temporary, texts):
    other, content = spoil(source, texts)
    model = BudgetedSVC(random_state=0)
    with pytest.raises(CorpusError, match=r"more\.csv, line 302: the number of fields is 3"):
        model.fit_files([source, other])
    assert os.listdir(temporary) == []
    model.fit_files([source, other], bad_rows="skip")
    assert model.counts_.n_documents == model.reduced_.n_documents == 1_900
    other.write_text(content)
    again = BudgetedSVC(random_state=0).fit_files([source, other])
    np.testing.assert_array_equal(again.coef_, model.coef_)


def test_after_a_malformed_row_is_mended_the_same_folder_may_be_used(source, work, texts):
    other, content = spoil(source, texts)
    model = BudgetedSVC(random_state=0, folder=work)
    with pytest.raises(CorpusError, match=r"more\.csv, line 302"):
        model.fit_files([source, other])
    other.write_text(content)
    model.fit_files([source, other])
