"""TREC-AP: stories of the Associated Press, 1988 to 1990, with Lewis's categories and split."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from html import unescape
from itertools import pairwise
from pathlib import Path, PurePath

from spokeshave import CorpusError
from spokeshave.corpus import Split, Texts
from spokeshave.corpus.archives import read_members
from spokeshave.corpus.files import explain_damage, is_hidden, open_binary
from spokeshave.corpus.options import quote

_STORY_FILE = re.compile(r"ap\d", re.IGNORECASE)
_LISTED = re.compile(r"(?:\S+\s*:\s*)?([^\s:]+)")


def read_trec_ap(
    path: str | Path, *, train: str | Path, test: str | Path, categories: str | Path
) -> Split:
    r"""Read TREC-AP as in Lewis, Schapire, Callan and Papka (1996).

    The stories are on the CD-ROMs of TIPSTER; the lists of story numbers are Lewis's. Each line of
    a list is a number (``AP880212-0001``), optionally after Lewis's own number and a colon
    (``17: AP880212-0001``).

    Parameters
    ----------
    path : str or Path
        A file of stories, or a folder or archive of files such as ``ap880212``. Files outside of
        an archive may be compressed (.gz, .bz2, .xz, .zip).
    train, test : str or Path
        The lists of training and of test stories. Stories in neither list are left out.
    categories : str or Path
        A folder or archive with one list per category. The name of a file, up to the first dot,
        names the category.

    Returns
    -------
    split : Split
        The stories in the order of the lists. The text is that of the elements HEAD and TEXT, but
        not of FIRST, from which the categories were made. The label of a story is the sorted tuple
        of its categories, which may be empty.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> story = "<DOC><DOCNO> AP880212-000{0} </DOCNO><HEAD>H{0}</HEAD><TEXT>T{0}</TEXT></DOC>"
    >>> with TemporaryDirectory() as name:
    ...     folder = Path(name)
    ...     _ = (folder / "ap880212").write_text(story.format(1) + story.format(2))
    ...     _ = (folder / "train.txt").write_text("1: AP880212-0001\n")
    ...     _ = (folder / "test.txt").write_text("2: AP880212-0002\n")
    ...     (folder / "categories").mkdir()
    ...     _ = (folder / "categories" / "bonds.txt").write_text("2: AP880212-0002\n")
    ...     split = read_trec_ap(
    ...         folder,
    ...         train=folder / "train.txt",
    ...         test=folder / "test.txt",
    ...         categories=folder / "categories",
    ...     )
    >>> split.test
    Texts(texts=['H2\nT2'], labels=[('bonds',)], skipped=0)
    """
    parts = [_parse_list(*_read_file(Path(name))) for name in (train, test)]
    for number in sorted(parts[0].keys() & parts[1].keys()):
        raise CorpusError(test, f"the story {quote(number)} is in {train} too", parts[1][number])
    labels: dict[str, list[str]] = {number: [] for part in parts for number in part}
    for category, listed in sorted(_read_categories(Path(categories)).items()):
        for number in listed.keys() & labels.keys():
            labels[number].append(category)
    texts = _read_texts(Path(path), labels)
    for part, name in zip(parts, (train, test), strict=True):
        for number, line in part.items():
            if number not in texts:
                raise CorpusError(name, f"the story {quote(number)} is not in {path}", line)
    return Split(*(_gather(part, texts, labels) for part in parts))


def _gather(numbers: Collection[str], texts: dict[str, str], labels: dict[str, list[str]]) -> Texts:
    return Texts([texts[number] for number in numbers], [tuple(labels[n]) for n in numbers])


def _read_categories(path: Path) -> dict[str, dict[str, int]]:
    """Return the numbers of the stories of each category."""
    lists: dict[str, dict[str, int]] = {}
    for file, text in _read_files(path, lambda name: True):
        category = file.name.partition(".")[0]
        if category in lists:
            raise CorpusError(file, f"the category {quote(category)} has two lists")
        lists[category] = _parse_list(file, text)
    if not lists:
        raise CorpusError(path, "it must hold at least one list of a category")
    return lists


def _parse_list(path: Path, text: str) -> dict[str, int]:
    """Return the numbers of a list, each with its line."""
    numbers: dict[str, int] = {}
    for line, content in enumerate(text.splitlines(), 1):
        if not content.strip():
            continue
        match = _LISTED.fullmatch(content.strip())
        if match is None:
            problem = f"each line must be the number of a story. Got {quote(content)} instead."
            raise CorpusError(path, problem, line)
        if match[1] in numbers:
            raise CorpusError(path, f"the story {quote(match[1])} is listed twice", line)
        numbers[match[1]] = line
    return numbers


def _read_texts(path: Path, wanted: Collection[str]) -> dict[str, str]:
    """Return the texts of the wanted stories; all stories are checked."""
    seen: set[str] = set()
    texts: dict[str, str] = {}
    for file, content in _read_files(path, lambda name: bool(_STORY_FILE.match(name))):
        for start, story in _split_stories(file, content):
            number = _find_number(file, content, start, story)
            if number in seen:
                raise _blame(file, content, start, f"the story {quote(number)} occurs twice")
            seen.add(number)
            if number in wanted:
                texts[number] = _find_text(story)
    if not seen:
        raise CorpusError(path, "it must hold at least one file of stories, such as ap880212")
    return texts


def _split_stories(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Yield the position and the content of each story."""
    starts = [match.start() for match in re.finditer("<DOC>", text)]
    if not starts:
        problem = "it must hold <DOC> elements; unpack files that are not gz, bz2, xz or zip"
        raise CorpusError(path, problem)
    for start, stop in pairwise([*starts, len(text)]):
        story, end, _ = text[start:stop].partition("</DOC>")
        if not end:
            raise _blame(path, text, start, "the story has no end; the file is cut short")
        yield start, story


def _find_number(path: Path, text: str, start: int, story: str) -> str:
    numbers = _list_elements(story, "DOCNO")
    if len(numbers) != 1 or not numbers[0]:
        raise _blame(path, text, start, "the story must have one DOCNO")
    return numbers[0]


def _find_text(story: str) -> str:
    parts = _list_elements(story, "HEAD") + _list_elements(story, "TEXT")
    return unescape("\n".join(filter(None, parts)))


def _list_elements(story: str, name: str) -> list[str]:
    return [part.strip() for part in re.findall(rf"<{name}>(.*?)</{name}>", story, re.DOTALL)]


def _blame(path: Path, text: str, start: int, problem: str) -> CorpusError:
    return CorpusError(path, problem, text.count("\n", 0, start) + 1)


def _read_files(path: Path, is_wanted: Callable[[str], bool]) -> Iterator[tuple[Path, str]]:
    """Yield the wanted files of a folder or archive, or the single file."""
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        names = (file for file in files if not is_hidden(file.relative_to(path).as_posix()))
        yield from (_read_file(file) for file in names if is_wanted(file.name))
    elif _is_archive(path):
        for name, content in read_members(path, lambda name: is_wanted(PurePath(name).name)):
            yield path / name, content.decode("latin-1")
    else:
        yield _read_file(path)


def _is_archive(path: Path) -> bool:
    from tarfile import is_tarfile

    with explain_damage(path):
        return path.is_file() and (path.suffix.lower() == ".zip" or is_tarfile(path))


def _read_file(path: Path) -> tuple[Path, str]:
    with open_binary(path) as stream:
        return path, stream.read().decode("latin-1")
