"""The Reuters-21578 collection: SGML files of news stories, with its usual split."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from html import unescape
from pathlib import Path

from spokeshave.corpus.archives import Members, Wanted, read_members, stream_members
from spokeshave.corpus.documents import Split, Texts
from spokeshave.corpus.encoding import LATIN_1
from spokeshave.corpus.files import (
    Progress,
    explain_decoding,
    open_binary,
    read_document,
    strip_compression,
)
from spokeshave.corpus.options import BadRows, MalformedRow, SourceOptions, quote
from spokeshave.corpus.reader import Reader, Text
from spokeshave.corpus.sniff import is_story_file
from spokeshave.errors import CorpusError

_START, _END = "<REUTERS", "</REUTERS>"
_ATTRIBUTE = re.compile(r'\b(\w++)="([^"]*+)"')


@dataclass(frozen=True)
class Story:
    """One story of Reuters-21578.

    Attributes
    ----------
    number : int
        Its number in the collection (NEWID), from 1.
    text : str
        Title and body; the whole text if it has neither.
    topics : tuple of str
        The topics an indexer assigned to it.
    is_indexed : bool
        Whether an indexer looked at its topics at all.
    part : {'TRAIN', 'TEST', 'NOT-USED'}
        The part of Lewis's split.
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
        The stories an indexer looked at, in the order of the collection. The label of a story is
        the tuple of its topics, which may be empty.

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


class ReutersReader(Reader):
    """Read the stories of Reuters-21578, divided if there are stories to test on.

    The constructor reads the stories up to the first of each part.
    """

    encoding = LATIN_1
    is_multilabel = True

    def __init__(self, sources: Sequence[SourceOptions], *, in_memory: bool = False) -> None:
        super().__init__(sources, in_memory=in_memory)
        self._kept: dict[Path, list[Story]] = {}
        parts = self._find_parts(sources)
        if "TRAIN" not in parts:
            raise CorpusError(self.options.path, "there are no training stories in it")
        self.has_test = "TEST" in parts
        division = "the ModApte split" if self.has_test else "training stories only"
        self.description, self.guesses = ["reuters", division], []

    def read(
        self, path: Path, part: str, bad_rows: BadRows, progress: Progress
    ) -> Generator[Text, None, None]:
        """Yield the text and the topics of each story of a part."""
        with closing(self._read_stories(path, progress)) as stories:
            for story in stories:
                if story.is_indexed and story.part == part.upper():
                    yield story.text, story.topics

    def _read_stories(self, path: Path, progress: Progress) -> Generator[Story, None, None]:
        if not self.in_memory:
            return stream_stories(path, progress)
        if path not in self._kept:
            self._kept[path] = list(read_stories(path))
        return (story for story in self._kept[path])

    def _find_parts(self, sources: Sequence[SourceOptions]) -> set[str]:
        parts: set[str] = set()
        for source in sources:
            with closing(self._read_stories(source.path, Progress())) as stories:
                for story in stories:
                    if story.is_indexed:
                        parts.add(story.part)
                    if parts >= {"TRAIN", "TEST"}:
                        return parts
        return parts


def stream_stories(path: str | Path, progress: Progress | None) -> Generator[Story, None, None]:
    """Read all stories with one file in memory; those of a tar come in the order of its files."""
    stream = partial(stream_members, progress=progress)
    return _parse_files(path, _read_files(Path(path), stream, progress))


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
    path: Path, read: Callable[[Path, Wanted], Members], progress: Progress | None = None
) -> Iterator[tuple[Path, bytes]]:
    if path.is_file() and not _is_archive(path):
        with open_binary(path, progress=progress) as stream:
            content = read_document(stream, path)
        yield path, content
        return
    for name, content in read(path, is_story_file):
        yield path / name, content


def _is_archive(path: Path) -> bool:
    if is_story_file(strip_compression(path).name):
        return False
    from tarfile import is_tarfile

    with explain_decoding(path):
        return path.suffix.lower() == ".zip" or is_tarfile(path)


def _gather(stories: Iterable[Story], part: str) -> Texts:
    chosen = [story for story in stories if story.part == part]
    return Texts([story.text for story in chosen], [story.topics for story in chosen])


def _parse_file(path: Path, text: str) -> Iterator[Story]:
    spans = _find_stories(text)
    if not spans:
        raise CorpusError(path, "a story has no end; the file is cut short or not of Reuters-21578")
    for start, end in spans:
        try:
            story = _parse_story(text[start:end])
        except MalformedRow as problem:
            line = text.count("\n", 0, start) + 1
            raise CorpusError(path, str(problem), line) from None
        yield story


def _find_stories(text: str) -> list[tuple[int, int]]:
    """Return where each story starts and ends; nothing if there are none or one has no end."""
    spans: list[tuple[int, int]] = []
    start = text.find(_START)
    while start >= 0:
        end, following = text.find(_END, start), text.find(_START, start + 1)
        if end < 0 or 0 <= following < end:
            return []
        spans.append((start, end))
        start = following
    return spans


def _parse_story(text: str) -> Story:
    head, _, content = text.removeprefix(_START).partition(">")
    attributes = dict(_ATTRIBUTE.findall(head))
    if not attributes.keys() >= {"NEWID", "TOPICS", "LEWISSPLIT"}:
        raise MalformedRow("the story must have NEWID, TOPICS and LEWISSPLIT")
    topics = [topic.partition("<D>") for topic in _find_element(content, "TOPICS").split("</D>")]
    text = _find_element(content, "TEXT")
    parts = [_find_element(text, name) for name in ("TITLE", "BODY")]
    return Story(
        number=_parse_number(attributes["NEWID"]),
        text=_replace_references("\n".join(filter(None, parts)) or text).strip(),
        topics=tuple(dict.fromkeys(topic for _, tag, topic in topics[:-1] if tag)),
        is_indexed=attributes["TOPICS"] == "YES",
        part=attributes["LEWISSPLIT"],
    )


def _parse_number(value: str) -> int:
    try:
        return int(value)
    except ValueError:
        problem = f"the NEWID of the story must be a whole number and is {quote(value)}"
        raise MalformedRow(problem) from None


def _find_element(content: str, name: str) -> str:
    """Return the content of the first element of a name, empty if there is none."""
    tag, _, rest = content[_find_tag(content, name) :].partition(">")
    inner, end, _ = rest.partition(f"</{name}>")
    return inner if tag and end else ""


def _find_tag(content: str, name: str) -> int:
    """Return where the first start tag of a name is, the end of the content if there is none."""
    match = re.search(rf"<{name}\b", content)
    return match.start() if match else len(content)


def _replace_references(text: str) -> str:
    try:
        return unescape(text)
    except ValueError:
        raise MalformedRow("a character reference in the story has too many digits") from None
