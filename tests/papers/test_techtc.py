"""The reader of TechTC-100's problems."""

from __future__ import annotations

import pytest

from papers.readers.techtc import read_techtc
from spokeshave import CorpusError


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "vectors.dat").write_text("# Exp_1_2\n+1 1:2 3:1\n-1 2:4\n")
    (tmp_path / "features.idx").write_bytes(
        "# number word\n2 ash\n1\toak\n\n3 café # x\n".encode("latin-1")
    )
    return tmp_path


def test_counts_labels_and_words(folder):
    problem = read_techtc(folder)
    assert problem.X.toarray().tolist() == [[2, 0, 1], [0, 4, 0]]
    assert problem.labels == ["+1", "-1"]
    assert problem.feature_names == ("oak", "ash", "café")


def test_words_that_no_document_has_are_columns_too(folder):
    (folder / "features.idx").write_text("1 oak\n2 ash\n3 yew\n4 elm\n")
    assert read_techtc(str(folder)).X.shape == (2, 4)


@pytest.mark.parametrize(
    ("name", "content", "line", "problem"),
    [
        (
            "features.idx",
            "1 oak\nash\n",
            2,
            "each line must be a number and a word. Got 'ash' ",
        ),
        ("features.idx", "1 oak tree\n", 1, "each line must be a number and a word. Got '1 oak "),
        ("features.idx", f"{'9' * 5_000} oak\n", 1, "each line must be a number and a word. Got "),
        ("features.idx", "1 oak\n1 ash\n", 2, "two words have the number 1"),
        ("features.idx", "1 oak\n3 ash\n", None, "the words must be numbered from 1, "),
        ("features.idx", "0 oak\n1 ash\n", None, "the words must be numbered from 1, "),
        ("features.idx", "", None, "the words must be numbered from 1, without gaps"),
        ("vectors.dat", "1 1:2\n-1 4:1\n", 2, "the index 4 is above the largest allowed, 3"),
        ("vectors.dat", "", None, "there are no documents in it"),
    ],
    ids=lambda value: None if isinstance(value, int) else str(value)[:12],
)
def test_a_malformed_file_is_reported(folder, name, content, line, problem):
    (folder / name).write_text(content)
    with pytest.raises(CorpusError) as error:
        read_techtc(folder)
    assert (error.value.path, error.value.line) == (str(folder / name), line)
    assert error.value.problem.startswith(problem)


@pytest.mark.parametrize("name", ["vectors.dat", "features.idx"])
def test_a_missing_file_is_reported(folder, name):
    (folder / name).unlink()
    with pytest.raises(CorpusError, match=rf"{name}: there is no such file$"):
        read_techtc(folder)
