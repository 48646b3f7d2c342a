"""Damaged parquet files."""

from __future__ import annotations

import io
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import polars

from fuzz.batches import Finding, run_batches
from fuzz.files import Files
from fuzz.mutations import mutate
from fuzz.readers import LABELS, make_text, rewrite
from spokeshave.corpus import load_source, open_stream
from spokeshave.errors import CorpusError

COMPRESSIONS = ("uncompressed", "snappy", "gzip", "brotli", "lz4", "zstd")
TAIL = 8  # bytes after the footer: its length, and the magic bytes


def _encode(number: int) -> bytes:
    """Return a number as Thrift's compact protocol does."""
    content, number = [], (number << 1) ^ (number >> 63)
    while number > 127:
        content.append(number & 127 | 128)
        number >>= 7
    return bytes([*content, number])


NUMBERS = (0, 1, -1, 2, 100, 10**4, 10**6, 2**24, 2**31 - 1, 2**31, 2**40, 2**58, 2**62, -(2**31))
TOKENS = (*map(_encode, NUMBERS), b"PAR1", b"\x15", b"\x19", b"\x1c", b"\xf9")


def run(n_runs: int, seed: int) -> list[Finding]:
    """Read damaged parquet files, and return what was found."""
    return run_batches("parquet", n_runs, seed)


def write_input(folder: Path, seed: int, number: int) -> Path:
    """Write a parquet file that is damaged anywhere, or in its footer only."""
    rng = Random(f"{seed}-{number}")
    content = _make_parquet(rng.randrange(24))
    footer = len(content) - TAIL - int.from_bytes(content[-TAIL:-4], "little")
    if rng.random() < 0.5:
        damaged = mutate(rng, content[footer:-TAIL], TOKENS)
        length = content[-TAIL:-4]
        if rng.random() < 0.8:
            length = len(damaged).to_bytes(4, "little")
        content = content[:footer] + damaged + length + content[-4:]
    elif rng.random() < 0.5:
        # Of the same length, so that the footer still finds what is behind the damage.
        damaged = mutate(rng, content[:footer], TOKENS)[:footer].ljust(footer, b"\0")
        content = damaged + content[footer:]
    else:
        content = mutate(rng, content, TOKENS)
    path = folder / "input.parquet"
    path.write_bytes(content)
    return path


def read_input(path: Path, seed: int, number: int) -> None:
    """Read a file in every way; only errors of the corpus may occur."""
    columns = {"text": "text", "label": "label"} if (seed + number) % 3 else {}
    with suppress(CorpusError):
        load_source(path, bad_rows="skip", **columns)  # type: ignore[arg-type]
    with suppress(CorpusError), open_stream(path, **columns) as stream:  # type: ignore[arg-type]
        for batch in stream.read_batches(100):
            assert batch.labels is not None
    for format in ("jsonl", "parquet"):
        rewrite(path, "parquet", "skip", path.with_name(f"output.{format}"))


@cache
def _make_parquet(number: int) -> bytes:
    """Return one of several sound files."""
    rng = Random(number)
    n_rows = rng.choice((0, 1, 10, 100, 300))
    table: dict[str, list[Any]] = {
        "text": [make_text(rng) for _ in range(n_rows)],
        "label": rng.choices(LABELS, k=n_rows),
    }
    more: dict[str, list[Any]] = {
        "number": rng.choices((None, 1, 2, 10**12), k=n_rows),
        "share": [rng.random() for _ in range(n_rows)],
        "tags": [rng.choices(("x", None), k=rng.randrange(3)) for _ in range(n_rows)],
        "flag": rng.choices((True, False), k=n_rows),
        "nested": [{"a": i, "b": ["u"]} for i in range(n_rows)],
    }
    if number % 3:
        table |= {name: more[name] for name in rng.sample(list(more), 2)}
    output = io.BytesIO()
    polars.DataFrame(table, schema_overrides={"text": polars.String}).write_parquet(
        output,
        compression=COMPRESSIONS[number % len(COMPRESSIONS)],  # type: ignore[arg-type]
        row_group_size=rng.choice((None, 40)),
        data_page_size=rng.choice((None, 300)),
    )
    return output.getvalue()


files = Files(write_input, read_input)
