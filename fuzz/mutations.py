"""Damage done to bytes at random."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

MAX_REPEATED = 500_000  # bytes of something that is repeated
Change = Callable[[Random, bytes, Sequence[bytes]], bytes]


def mutate(rng: Random, content: bytes, tokens: Sequence[bytes]) -> bytes:
    """Change a few places of a file.

    Parameters
    ----------
    rng : Random
        The source of randomness.
    content : bytes
        The file.
    tokens : sequence of bytes
        Bytes that mean something in its format.
    """
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        content = rng.choice(CHANGES)(rng, content, tokens)
    return content


def _flip_bit(rng: Random, content: bytes, tokens: Sequence[bytes]) -> bytes:
    if not content:
        return content
    position = rng.randrange(len(content))
    changed = bytes([content[position] ^ 1 << rng.randrange(8)])
    return content[:position] + changed + content[position + 1 :]


def _overwrite(rng: Random, content: bytes, tokens: Sequence[bytes]) -> bytes:
    new = _choose_bytes(rng, tokens)
    position = rng.randrange(len(content) + 1)
    return content[:position] + new + content[position + len(new) :]


def _insert(rng: Random, content: bytes, tokens: Sequence[bytes]) -> bytes:
    position = rng.randrange(len(content) + 1)
    return content[:position] + _choose_bytes(rng, tokens) + content[position:]


def _delete(rng: Random, content: bytes, tokens: Sequence[bytes]) -> bytes:
    start, stop = _choose_slice(rng, content)
    return content[:start] + content[stop:]


def _repeat(rng: Random, content: bytes, tokens: Sequence[bytes]) -> bytes:
    start, stop = _choose_slice(rng, content)
    piece = rng.choice((content[start:stop], _choose_bytes(rng, tokens)))
    times = rng.choice((2, 2, 3, 10, 100, MAX_REPEATED))
    times = min(times, MAX_REPEATED // max(len(piece), 1))
    return content[:stop] + piece * times + content[stop:]


def _move(rng: Random, content: bytes, tokens: Sequence[bytes]) -> bytes:
    start, stop = _choose_slice(rng, content)
    rest = content[:start] + content[stop:]
    position = rng.randrange(len(rest) + 1)
    return rest[:position] + content[start:stop] + rest[position:]


def _cut_short(rng: Random, content: bytes, tokens: Sequence[bytes]) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


CHANGES: tuple[Change, ...] = (
    *(_flip_bit, _flip_bit, _overwrite, _overwrite, _insert, _insert),
    *(_delete, _repeat, _move, _cut_short),
)


def _choose_bytes(rng: Random, tokens: Sequence[bytes]) -> bytes:
    length = rng.choice((1, 1, 2, 4, 8))
    return rng.choice((rng.randbytes(length), b"\0" * length, b"\xff" * length, rng.choice(tokens)))


def _choose_slice(rng: Random, content: bytes) -> tuple[int, int]:
    start = rng.randrange(len(content) + 1)
    return start, min(start + rng.choice((1, 2, 5, 20, 100, 1_000)), len(content))
