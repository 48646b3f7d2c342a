"""The ARFF reader, against scipy's, the format, and the collections it was written for."""

from __future__ import annotations

import gzip
import zipfile
from collections import Counter

import numpy as np
import pytest
from scipy.io.arff import loadarff
from scipy.sparse import csr_matrix

from spokeshave.corpus import read_arff
from spokeshave.errors import CorpusError

HEADER = """% a comment
@RELATION 'credit risk'

@Attribute age NUMERIC
@attribute 'job type' {none, 'not skilled', skilled}
@attribute class {low, high}

@DATA
"""

# docs, classes and features of each set, as published.
FORMAN = {
    "la1s": (3204, 6, 13195),
    "la2s": (3075, 6, 12432),
    "oh0": (1003, 10, 3182),
    "oh10": (1050, 10, 3238),
    "oh15": (913, 10, 3100),
    "oh5": (918, 10, 3012),
    "ohscal": (11162, 10, 11465),
    "re0": (1504, 13, 2886),
    "re1": (1657, 25, 3758),
    "tr11": (414, 9, 6429),
    "tr12": (313, 8, 5804),
    "tr21": (336, 6, 7902),
    "tr23": (204, 6, 5832),
    "tr41": (878, 10, 7454),
    "tr45": (690, 10, 8261),
    "wap": (1560, 20, 8460),
}

DMOZ = {
    "Business": (18500, 37),
    "Computers": (9500, 19),
    "Health": (6500, 13),
    "Science": (6000, 12),
    "Sports": (13500, 27),
}

UCI = [
    *("credit-g", "diabetes", "ecoli", "glass", "iris", "letter"),
    *("optdigits", "sonar", "vehicle", "vowel", "wine"),
]


def write(path, rows, header=HEADER):
    path.write_text(header + rows, encoding="utf-8")
    return path


def fail(path, **options):
    with pytest.raises(CorpusError) as error:
        read_arff(path, **options)
    return error.value


def test_dense(tmp_path):
    rows = "67, 'not skilled', low\n\n% a comment\n-1.5e1,?,high\n?,none,low\n"
    vectors = read_arff(write(tmp_path / "x.arff", rows))
    assert vectors.labels == ["low", "high", "low"]
    assert vectors.feature_names == (
        "age",
        "job type=none",
        "job type=not skilled",
        "job type=skilled",
    )
    expected = [[67, 0, 1, 0], [-15, 0, 0, 0], [np.nan, 1, 0, 0]]
    np.testing.assert_array_equal(vectors.X, expected)
    assert isinstance(vectors.X, np.ndarray)
    assert vectors.X.dtype == np.float64


def test_sparse(tmp_path):
    rows = "{0 67, 1 skilled, 2 high}\n{ }\n{0 ?, 1 'not skilled'}\n{1 ?,2 \"high\"}\n"
    vectors = read_arff(write(tmp_path / "x.arff", rows))
    assert vectors.labels == ["high", "low", "low", "high"]
    expected = [[67, 0, 0, 1], [0, 1, 0, 0], [np.nan, 0, 1, 0], [0, 0, 0, 0]]
    np.testing.assert_array_equal(vectors.X.toarray(), expected)
    assert isinstance(vectors.X, csr_matrix)
    assert vectors.X.has_canonical_format


@pytest.mark.parametrize("rows", ["67,none,low\n", "{0 67}\n"])
def test_target_may_be_any_attribute(tmp_path, rows):
    path = write(tmp_path / "x.arff", rows)
    vectors = read_arff(path, target="age")
    assert vectors.labels == ["67"]
    assert vectors.feature_names[-2:] == ("class=low", "class=high")
    X = vectors.X if isinstance(vectors.X, np.ndarray) else vectors.X.toarray()
    np.testing.assert_array_equal(X, [[1, 0, 0, 1, 0]])
    assert read_arff(path, target="job type").labels == ["none"]


def test_target_may_be_a_string(tmp_path):
    header = "@relation x\n@attribute age numeric\n@attribute name string\n@data\n"
    path = write(tmp_path / "x.arff", "3,'Ann Lee'\n{0 3,1 Bo}\n", header)
    assert read_arff(path).labels == ["Ann Lee", "Bo"]


@pytest.mark.parametrize("name", ["x.arff", "x.arff.gz", "x.arff.zip"])
def test_compression_and_encoding(tmp_path, name):
    content = f"{HEADER}67,none,low\n".replace("age", "âge").encode("latin-1")
    path = tmp_path / name
    if name.endswith("zip"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("folder/y.arff", content)
            archive.writestr("README", "not this")
    else:
        path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    assert read_arff(path, encoding="latin-1").feature_names[0] == "âge"
    error = fail(path)
    assert error.line == 4
    assert error.problem.startswith("the text is not utf-8; pass the right one")


UNDECLARED = "is not a declared value of the attribute"


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("1,expert,low", f"'expert' {UNDECLARED} 'job type'; declared are 'none', 'not skilled'"),
        ("1,none,middle", f"'middle' {UNDECLARED} 'class'; declared are 'low', 'high'"),
        ("{2 middle}", f"'middle' {UNDECLARED} 'class'; declared are 'low', 'high'"),
        ("1,none,?", "the class 'class' is missing"),
        ("x,none,low", "'x' is not a number, but the attribute 'age' is"),
        ("1,none", "the row has 2 values for 3 attributes"),
        ("1,none,low,{2}", "the row has 4 values for 3 attributes"),
        ("1,'none,low", "''none,low' is not quoted as ARFF asks"),
        ("{0 1", "the sparse row does not end with '}'"),
        ("{1 none, 0 1}", "the indices do not increase"),
        ("{0 1, 3 low}", "the indices must lie between 0 and 2"),
        ("{-1 1}", "the indices must lie between 0 and 2"),
    ],
)
def test_malformed_rows(tmp_path, row, problem):
    path = write(tmp_path / "x.arff", f"67,none,low\n{row}\n68,skilled,high\n")
    error = fail(path)
    assert error.line == 10
    assert error.problem.startswith(problem)
    vectors = read_arff(path, bad_rows="skip")
    assert (vectors.labels, vectors.skipped) == (["low", "high"], 1)


@pytest.mark.parametrize(
    ("header", "line", "problem"),
    [
        ("", None, "there is no @data; this is not ARFF, or cut short"),
        ("@relation x\n@attribute a numeric\n", None, "there is no @data"),
        ("@relation x\n@data\n", 2, "the header must declare attributes, then @data"),
        ("text,label\n", 1, "the header must declare attributes, then @data"),
        ("@relation x\n\n@attribute a\n", 3, "the type '' of the attribute 'a' is unknown"),
        (
            "@attribute a string\n@attribute b {x}\n@data\n",
            None,
            "the attribute 'a' is neither numeric nor nominal; remove it",
        ),
        ("@attribute a numeric\n@data\n", None, "there are no documents in it"),
    ],
)
def test_malformed_header(tmp_path, header, line, problem):
    error = fail(write(tmp_path / "x.arff", "", header))
    assert error.line == line
    assert error.problem.startswith(problem)


def test_unknown_target(tmp_path):
    path = write(tmp_path / "x.arff", "67,none,low\n")
    assert fail(path, target="risk").problem == (
        "there is no attribute 'risk'; the attributes are 'age', 'job type', 'class'"
    )
    header = HEADER.replace("'job type'", "class")
    path = write(tmp_path / "x.arff", "67,none,low\n", header)
    assert fail(path, target="class").problem.startswith("there is more than one attribute 'class'")


def test_target_that_is_no_name(tmp_path):
    path = write(tmp_path / "x.arff", "67,none,low\n")
    with pytest.raises(ValueError, match=r"^target must be the name of an attribute\. Got 3 inst"):
        read_arff(path, target=3)


@pytest.fixture(scope="module")
def forman(data_folder):
    return {
        name: read_arff(data_folder / "forman" / f"{name}.wc.arff.zip", encoding="latin-1")
        for name in FORMAN
    }


@pytest.fixture(scope="module")
def uci(data_folder):
    return {
        name: read_arff(data_folder / "uci" / f"{name}.arff", target=target_of(name))
        for name in UCI
    }


def target_of(name):
    return "class" if name == "wine" else None


def test_forman(forman):
    sizes = {
        name: (vectors.X.shape[0], len(set(vectors.labels)), vectors.X.shape[1])
        for name, vectors in forman.items()
    }
    assert sizes == FORMAN
    assert all(isinstance(vectors.X, csr_matrix) for vectors in forman.values())
    assert all(len(set(v.feature_names)) == v.X.shape[1] for v in forman.values())


def test_forman_tasks(forman):
    counts = [count for v in forman.values() for count in Counter(v.labels).values()]
    assert sum(count >= 50 for count in counts) == 104


def test_uci_tasks(uci):
    tasks = 0
    for vectors in uci.values():
        counts = sorted(Counter(vectors.labels).values())
        positives = counts[:1] if len(counts) == 2 else counts
        tasks += sum(count >= 50 for count in positives)
    assert tasks == 64


@pytest.mark.parametrize("name", UCI)
def test_uci_as_scipy_reads_it(data_folder, uci, name):
    data, meta = loadarff(data_folder / "uci" / f"{name}.arff")
    target = target_of(name) or meta.names()[-1]
    columns, names = [], []
    for attribute in meta.names():
        kind, values = meta[attribute]
        if attribute == target:
            assert uci[name].labels == [value.decode() for value in data[attribute]]
        elif kind == "numeric":
            columns.append(data[attribute])
            names.append(attribute.strip("'"))  # scipy leaves the quotes of one letter on
        else:
            columns.extend(data[attribute] == value.encode() for value in values)
            names.extend(f"{attribute}={value}" for value in values)
    np.testing.assert_array_equal(uci[name].X, np.column_stack(columns).astype(float))
    assert uci[name].feature_names == tuple(names)


@pytest.mark.parametrize(("name", "size"), DMOZ.items())
def test_open_directory(data_folder, name, size):
    vectors = read_arff(data_folder / "dmoz" / f"Dmoz-{name}.arff.zip")
    counts = Counter(vectors.labels)
    assert (vectors.X.shape[0], len(counts)) == size
    assert set(counts.values()) == {500}
