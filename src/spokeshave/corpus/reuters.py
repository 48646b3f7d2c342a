"""The Reuters-21578 collection: SGML files of news stories, with its usual split."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from html import unescape
from pathlib import Path

from spokeshave.corpus.archives import Members, Wanted, read_members, stream_members
from spokeshave.corpus.bad_rows import MalformedRow
from spokeshave.corpus.documents import Split, Texts
from spokeshave.corpus.files import explain_damage, open_binary, strip_compression
from spokeshave.corpus.formats import is_story_file
from spokeshave.corpus.meters import Meter
from spokeshave.corpus.wording import quote
from spokeshave.errors import CorpusError

_STORY = re.compile(r"<REUTERS\b(?P<attributes>[^>]*)>(?P<content>.*?)</REUTERS>", re.DOTALL)
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')


@dataclass(frozen=True)
class Story:
    """One story of Reuters-21578.

    Attributes
    ----------
    number : int
        Its number in the collection (NEWID), from 1.
    text : str
        Title and body; all of it where it has neither.
    topics : tuple of str
        The topics an indexer gave it.
    is_indexed : bool
        Whether an indexer looked at its topics at all.
    part : {'TRAIN', 'TEST', 'NOT-USED'}
        The part that Lewis put it in.
    """

    number: int
    text: str
    topics: tuple[str, ...]
    is_indexed: bool
    part: str


def read_reuters(path: str | Path) -> Split:
    r"""Read Reuters-21578 in the ModApte split: 9,603 training and 3,299 test stories.

    Parameters
    ----------
    path : str or Path
        The folder of ``.sgm`` files, the archive they come in, or one of them.

    Returns
    -------
    split : Split
        The stories an indexer looked at, in the order of the collection. A story's label is the
        tuple of its topics, which may be empty.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> story = '''<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" NEWID="1"><TOPICS><D>cocoa</D></TOPICS>
    ... <TEXT><TITLE>BAHIA &lt;COCOA></TITLE><BODY>Showers continued.</BODY></TEXT></REUTERS>'''
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "reut2-000.sgm").write_text(story)
    ...     read_reuters(folder).train
    Texts(texts=['BAHIA <COCOA>\nShowers continued.'], labels=[('cocoa',)], skipped=0)
    """
    stories = [story for story in read_stories(path) if story.is_indexed]
    return Split(_gather(stories, "TRAIN"), _gather(stories, "TEST"))


def read_stories(path: str | Path) -> Iterator[Story]:
    """Read all 21,578 stories, in the order of the files.

    Parameters
    ----------
    path : str or Path
        The folder of ``.sgm`` files, the archive they come in, or one of them.

    Yields
    ------
    story : Story
        One story.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> story = '<REUTERS TOPICS="NO" LEWISSPLIT="TEST" NEWID="7"><TEXT>Oil rose.</TEXT></REUTERS>'
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "reut2-000.sgm").write_text(story)
    ...     next(read_stories(folder))
    Story(number=7, text='Oil rose.', topics=(), is_indexed=False, part='TEST')
    """
    return _parse_files(path, _read_files(Path(path), read_members))


def stream_stories(path: str | Path, meter: Meter | None = None) -> Generator[Story, None, None]:
    """Read all stories with one file of them in memory, from a tar in the order of its files.

    A meter is told how far the source has been read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> story = '<REUTERS TOPICS="NO" LEWISSPLIT="TEST" NEWID="7"><TEXT>Oil rose.</TEXT></REUTERS>'
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "reut2-000.sgm").write_text(story)
    ...     [story.number for story in stream_stories(folder)]
    [7]
    """
    stream = partial(stream_members, meter=meter)
    return _parse_files(path, _read_files(Path(path), stream, meter))


def _parse_files(
    path: str | Path, files: Iterable[tuple[Path, bytes]]
) -> Generator[Story, None, None]:
    is_empty = True
    for file, content in files:
        yield from _parse_file(file, content.decode("latin-1"))
        is_empty = False
    if is_empty:
        raise CorpusError(path, "there is no .sgm file in it")


def _read_files(
    path: Path, read: Callable[[Path, Wanted], Members], meter: Meter | None = None
) -> Iterator[tuple[Path, bytes]]:
    if path.is_file() and not _is_archive(path):
        with open_binary(path, meter=meter) as stream:
            yield path, stream.read()
        return
    for name, content in read(path, is_story_file):
        yield path / name, content


def _is_archive(path: Path) -> bool:
    if is_story_file(strip_compression(path).name):
        return False
    from tarfile import is_tarfile

    with explain_damage(path):
        return path.suffix.lower() == ".zip" or is_tarfile(path)


def _gather(stories: Iterable[Story], part: str) -> Texts:
    chosen = [story for story in stories if story.part == part]
    return Texts([story.text for story in chosen], [story.topics for story in chosen])


def _parse_file(path: Path, text: str) -> Iterator[Story]:
    stories = list(_STORY.finditer(text))
    if len(stories) != text.count("<REUTERS ") or not stories:
        raise CorpusError(path, "a story has no end; the file is cut short or not of Reuters-21578")
    for match in stories:
        try:
            story = _parse_story(match)
        except MalformedRow as problem:
            line = text.count("\n", 0, match.start()) + 1
            raise CorpusError(path, str(problem), line) from None
        yield story


def _parse_story(match: re.Match[str]) -> Story:
    attributes, content = dict(_ATTRIBUTE.findall(match["attributes"])), match["content"]
    if not attributes.keys() >= {"NEWID", "TOPICS", "LEWISSPLIT"}:
        raise MalformedRow("the story must have NEWID, TOPICS and LEWISSPLIT")
    topics = re.findall(r"<D>(.*?)</D>", _find_element(content, "TOPICS") or "")
    text = _find_element(content, "TEXT") or ""
    parts = [_find_element(text, name) for name in ("TITLE", "BODY")]
    return Story(
        number=_parse_number(attributes["NEWID"]),
        text=unescape("\n".join(part for part in parts if part) or text).strip(),
        topics=tuple(dict.fromkeys(topics)),
        is_indexed=attributes["TOPICS"] == "YES",
        part=attributes["LEWISSPLIT"],
    )


def _parse_number(spelt: str) -> int:
    try:
        return int(spelt)
    except ValueError:
        problem = f"the NEWID of the story must be a whole number and is {quote(spelt)}"
        raise MalformedRow(problem) from None


def _find_element(content: str, name: str) -> str | None:
    match = re.search(rf"<{name}\b[^>]*>(.*?)</{name}>", content, re.DOTALL)
    return match and match[1]
