"""Stories of Reuters-21578 that are to be read again and again."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path

from spokeshave.corpus.bad_rows import BadRows
from spokeshave.corpus.encodings import OLD
from spokeshave.corpus.loaders import describe_stories
from spokeshave.corpus.meters import Meter
from spokeshave.corpus.orders import Order
from spokeshave.corpus.portions import Text
from spokeshave.corpus.reuters import stream_stories
from spokeshave.corpus.stocks import Reader, Stock
from spokeshave.errors import CorpusError


def stock_reuters(orders: Sequence[Order]) -> Stock:
    """Find the stories of Reuters-21578, divided where there are some to test on.

    A first look goes through the stories up to the first of each part.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> story = '<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" NEWID="1"><TEXT>Oil</TEXT></REUTERS>'
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "reut2-000.sgm").write_text(story)
    ...     stock_reuters([Order(Path(folder), "reuters")]).read
    ['reuters', 'training stories only']
    """
    parts = _find_parts(orders)
    if "TRAIN" not in parts:
        raise CorpusError(orders[0].path, "there are no training stories in it")
    return Stock(
        _begin,
        read=describe_stories("TEST" in parts),
        guesses=[],
        encoding=OLD,
        is_multilabel=True,
        has_test="TEST" in parts,
    )


def _begin(part: str) -> Reader:
    def read(path: Path, bad_rows: BadRows, meter: Meter) -> Generator[Text, None, None]:
        with closing(stream_stories(path, meter)) as stories:
            for story in stories:
                if story.is_indexed and story.part == part.upper():
                    yield story.text, story.topics

    return read


def _find_parts(orders: Sequence[Order]) -> set[str]:
    parts: set[str] = set()
    for order in orders:
        with closing(stream_stories(order.path)) as stories:
            for story in stories:
                if story.is_indexed:
                    parts.add(story.part)
                if parts >= {"TRAIN", "TEST"}:
                    return parts
    return parts
