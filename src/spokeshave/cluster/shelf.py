"""Results that lie on the disk of the worker that has them, and are mapped while they are used.

What Dask puts on a disk when memory is short it takes back into memory whole, and writes once more
when memory is short again. What is on a shelf is written once, and takes memory only while a task
looks at it. It is a result like any other: it goes to workers that need it, and one that is lost
with a worker is made again.

A shelf is a folder in that which a worker has for its files, with one file for each result.
"""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias
from uuid import uuid4
from weakref import WeakValueDictionary, finalize

import numpy as np
from distributed import Client, Worker, WorkerPlugin
from distributed.protocol import dask_deserialize, dask_serialize
from numpy.typing import NDArray

ALIGNMENT = 64  # bytes that arrays begin at a multiple of
TRIES = 3  # to reach all workers

# Where a value lies in a file: what pickle makes of it, and after that its arrays.
Span: TypeAlias = list[tuple[int, int]]


class Place(NamedTuple):
    """Where a shelf is in this process.

    Attributes
    ----------
    folder : Path
        Its folder.
    largest : float
        Bytes of a result that Dask would take back into memory: a larger one it has on the disk
        for good, and reads whenever a task needs it.
    """

    folder: Path
    largest: float


_places: dict[str, Place] = {}  # of the shelves of this process
_alive: WeakValueDictionary[Path, Shelved] = WeakValueDictionary()  # what is looked at, or may be


class Shelf(WorkerPlugin):  # type: ignore[misc]
    """Has every worker put up a shelf, those that come later too, and take it down in the end.

    What one worker sends to another is written outside of any task, where Dask does not tell which
    worker it is for; so the place is found by the name of the shelf.

    And it knows which results have a file. One that was on Dask's disk may be let go of with nobody
    to remove it, as no object is left, or the one that is was told to leave it there.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def setup(self, worker: Worker) -> None:
        """Put up the shelf in the folder of a worker."""
        self._in_memory: Any = getattr(worker.data, "fast", {})
        self._files: dict[Any, Path] = {}
        put_up(self.name, Path(worker.local_directory), getattr(worker.data, "n", inf))

    def teardown(self, worker: Worker) -> None:
        """Remove it, with all that is still on it."""
        take_down(self.name)

    def transition(self, key: Any, start: str, finish: str, **more: Any) -> None:
        """Take note of a result that the worker has now, or has no longer."""
        if finish == "memory":
            result = self._in_memory.get(key)
            if isinstance(result, Shelved):
                self._files[key] = result.path
        elif start == "memory" and key in self._files:
            path = self._files.pop(key)
            if path not in self._files.values():
                let_go(path)


def let_go(path: Path) -> None:
    """Remove a file that no result has any more, as soon as nobody looks at it."""
    shelved = _alive.get(path)
    if shelved is None:
        path.unlink(missing_ok=True)
    else:
        shelved.leave()


@contextmanager
def shelving(client: Client) -> Iterator[str]:
    """Give the name of a shelf, which every worker has; what is left on it is removed in the end.

    That is what is too large for Dask to take it back into memory, or was told to stay.
    """
    name = f"shelf-{uuid4().hex}"
    try:
        _register(client, Shelf(name), name)
        yield name
    finally:
        # Workers that cannot be told have gone, or have just come, and have nothing on it.
        with suppress(OSError, LookupError, ValueError):
            client.unregister_worker_plugin(name)


def _register(client: Client, plugin: WorkerPlugin, name: str) -> None:
    """Register a plugin; again where a worker has died that the scheduler still asked for it."""
    for _ in range(TRIES - 1):
        with suppress(OSError):
            client.register_plugin(plugin, name)
            return
    client.register_plugin(plugin, name)


def put_up(name: str, where: Path, largest: float = inf) -> None:
    """Make a shelf in a folder."""
    folder = where / name
    folder.mkdir(exist_ok=True)
    _places[name] = Place(folder, largest)


def take_down(name: str) -> None:
    """Remove a shelf, and all that is on it."""
    if name in _places:
        shutil.rmtree(_places.pop(name).folder, ignore_errors=True)


def find_place(name: str) -> Place:
    """Return where a shelf is."""
    if name not in _places:
        raise ValueError(f"There is no {name} here: it has been taken down, or was never put up.")
    return _places[name]


class Shelved:
    """Values in a file, each of which can be mapped by itself.

    The file is gone with this object, unless Dask has put this on the disk too, as it does with
    anything when memory is short; then it is kept for the object that Dask makes of it later.

    Parameters
    ----------
    path : Path
        The file.
    spans : list of list of tuple of int
        Where each value lies in it.
    """

    def __init__(self, path: Path, spans: list[Span]) -> None:
        self.path, self.spans = path, spans
        self._removal = finalize(self, path.unlink, missing_ok=True)
        _alive[path] = self

    def __len__(self) -> int:
        return len(self.spans)

    def __iter__(self) -> Iterator[Any]:
        return map(self.read, range(len(self)))

    @property
    def n_bytes(self) -> int:
        """What is in the file, in bytes."""
        return self.spans[-1][-1][1] if self.spans else 0

    def read(self, number: int) -> Any:
        """Return a value, whose arrays are mapped for as long as there are any of them.

        As if they could be written to: kernels are compiled once for all arrays that can.
        """
        head, *arrays = self.spans[number]
        first, last = head[0], self.spans[number][-1][1]
        content = self._map(first, last).data
        buffers = [content[start - first : stop - first] for start, stop in arrays]
        return pickle.loads(content[: head[1] - first], buffers=buffers)

    def read_bytes(self) -> NDArray[np.uint8]:
        """Return the whole file, mapped."""
        return self._map(0, self.n_bytes) if self.n_bytes else np.empty(0, np.uint8)

    def keep(self) -> None:
        """Have the file stay when this object is gone."""
        self._removal.detach()

    def leave(self) -> None:
        """Have the file go with this object, if it was to stay."""
        if not self._removal.alive:
            self._removal = finalize(self, self.path.unlink, missing_ok=True)

    def __reduce__(self) -> tuple[Any, ...]:
        return receive, (self.path.parent.name, self.spans, self.read_bytes())

    def _map(self, first: int, last: int) -> NDArray[np.uint8]:
        mapped: Any = np.memmap(self.path, np.uint8, "c", offset=first, shape=last - first)
        return np.asarray(mapped)


@contextmanager
def making_file(shelf: str) -> Iterator[BinaryIO]:
    """Give a new file on a shelf, which is removed where it cannot be written to its end."""
    path = find_place(shelf).folder / uuid4().hex
    try:
        with path.open("xb") as file:
            yield file
    except BaseException as error:
        path.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:  # as of a disk that is full
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


class ShelfWriter:
    """Writes values to a file, one after the other.

    Examples
    --------
    >>> from tempfile import gettempdir
    >>> put_up("shelf-of-an-example", Path(gettempdir()))
    >>> with making_file("shelf-of-an-example") as file:
    ...     writer = ShelfWriter(file)
    ...     writer.add({"oak": np.arange(3)})
    ...     writer.add("ash")
    >>> list(writer.finish())
    [{'oak': array([0, 1, 2])}, 'ash']
    >>> take_down("shelf-of-an-example")
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._spans = file, list[Span]()

    def add(self, value: Any) -> None:
        """Write a value."""
        arrays: list[pickle.PickleBuffer] = []
        head = pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
        contents = [memoryview(head), *(array.raw() for array in arrays)]
        self._spans.append([self._write(content) for content in contents])

    def finish(self) -> Shelved:
        """Return what has been written; the file must be closed before it is looked at."""
        return Shelved(Path(self._file.name), self._spans)

    def _write(self, content: memoryview) -> tuple[int, int]:
        self._file.write(bytes(-self._file.tell() % ALIGNMENT))
        start = self._file.tell()
        self._file.write(content)
        return start, start + len(content)


def shelve(shelf: str, values: Iterable[Any]) -> Shelved:
    """Put values on a shelf, one after the other, so that no more than one has to be there."""
    with making_file(shelf) as file:
        writer = ShelfWriter(file)
        for value in values:
            writer.add(value)
    return writer.finish()


def join_arrays(
    shelved: Sequence[Shelved], take: Callable[[Any], Sequence[NDArray[Any] | None]]
) -> list[Any]:
    """Return arrays that are taken from all values, end to end; one value is mapped at a time."""

    def read() -> Iterator[Sequence[NDArray[Any] | None]]:
        return (take(value) for each in shelved for value in each)

    kinds = [[None if a is None else (a.size, a.dtype) for a in arrays] for arrays in read()]
    joined = [
        None if column[0] is None else np.empty(sum(size for size, _ in column), column[0][1])
        for column in zip(*kinds, strict=True)
    ]
    ends = [0] * len(joined)
    for arrays in read():
        for j, (whole, array) in enumerate(zip(joined, arrays, strict=True)):
            if whole is not None and array is not None:
                whole[ends[j] : ends[j] + array.size] = array
                ends[j] += array.size
    return joined


def receive(shelf: str, spans: Any, *pieces: Any) -> Shelved:
    """Put what was on the shelf of another worker on that of this one."""
    with making_file(shelf) as file:
        for piece in pieces:
            file.write(piece)
    return Shelved(Path(file.name), [list(span) for span in spans])


@dask_serialize.register(Shelved)  # type: ignore[untyped-decorator]
def pack(shelved: Shelved, context: dict[str, Any] | None = None) -> tuple[dict[str, Any], Any]:
    """Return what Dask sends to another worker, or, where there is none, puts on the disk."""
    header = {"shelf": shelved.path.parent.name, "spans": shelved.spans}
    if context is not None:
        return header, [shelved.read_bytes().data]
    shelved.keep()
    return {**header, "path": str(shelved.path)}, [b""]


@dask_deserialize.register(Shelved)  # type: ignore[untyped-decorator]
def unpack(header: dict[str, Any], frames: list[Any]) -> Shelved:
    """Return what Dask has got from another worker, or from the disk."""
    if "path" not in header:
        return receive(header["shelf"], header["spans"], *frames)
    found = Shelved(Path(header["path"]), [list(span) for span in header["spans"]])
    if found.n_bytes > find_place(header["shelf"]).largest:
        found.keep()  # Dask does, and will read it again
    return found
