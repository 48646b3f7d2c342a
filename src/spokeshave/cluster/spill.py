"""Results on the disk of the worker that has them, mapped into memory while they are used.

Dask reads a spilled result back into memory whole, and writes it again when memory is short again.
A result here is written once, and takes memory only while a task reads it. Otherwise it is an
ordinary result: it is sent to workers that need it, and computed again if its worker is lost.

Each run has a folder inside the local directory of each worker, with one file per result. This
module also tells Dask the sizes of our results: it knows those of arrays, and of lists and tuples
of them, and would take anything else for next to nothing.
"""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from math import inf
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias
from uuid import uuid4
from weakref import WeakValueDictionary, finalize

import numpy as np
import polars as pl
from dask.sizeof import sizeof
from distributed import Client, Worker, WorkerPlugin
from distributed.protocol import dask_deserialize, dask_serialize
from numpy.typing import NDArray

from spokeshave.curves.fitted import FittedClasses
from spokeshave.jobs.dataset import Dataset, Part
from spokeshave.selection.shaved_svc import CutModel
from spokeshave.svm.estimator import DualLinearSVC
from spokeshave.text.vectorizer import DocumentVectorizer

ALIGNMENT = 64  # arrays begin at multiples of so many bytes
TRIES = 3  # to reach all workers
STRING = 16  # bytes of a string of polars besides its letters
HOLDERS = (Dataset, Part, DocumentVectorizer, CutModel, DualLinearSVC, FittedClasses)

# Where a value is in a file: its pickle, followed by its arrays.
Span: TypeAlias = list[tuple[int, int]]


class SpillFolder(NamedTuple):
    """A spill folder in this process.

    Dask has results of more than ``largest`` bytes on disk for good, and reads them whenever a task
    needs them.
    """

    folder: Path
    largest: float


_folders: dict[str, SpillFolder] = {}  # of this process, by name
_alive: WeakValueDictionary[Path, Spilled] = WeakValueDictionary()  # results that may be read


class SpillPlugin(WorkerPlugin):  # type: ignore[misc]
    """Makes a spill folder on every worker, including later ones, and removes it at the end.

    A result received from another worker is written outside of any task, where Dask does not tell
    which worker it is for; so folders are found by name.

    The plugin also tracks which results have a file. Dask may release a result that it had on its
    own disk when no object is left, or the one left was told to keep its file: then nobody else
    would remove it.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def setup(self, worker: Worker) -> None:
        """Make the folder in the local directory of a worker."""
        self._in_memory: Any = getattr(worker.data, "fast", {})
        self._files: dict[Any, Path] = {}
        add_folder(self.name, Path(worker.local_directory), getattr(worker.data, "n", inf))

    def teardown(self, worker: Worker) -> None:
        """Remove the folder and its files."""
        remove_folder(self.name)

    def transition(self, key: Any, start: str, finish: str, **more: Any) -> None:
        """Note a result that the worker has got or released."""
        if finish == "memory":
            result = self._in_memory.get(key)
            if isinstance(result, Spilled):
                self._files[key] = result.path
        elif start == "memory" and key in self._files:
            path = self._files.pop(key)
            if path not in self._files.values():
                release_file(path)


def release_file(path: Path) -> None:
    """Remove the file of a released result, as soon as nobody reads it."""
    spilled = _alive.get(path)
    if spilled is None:
        path.unlink(missing_ok=True)
    else:
        spilled.release()


@contextmanager
def spilling(client: Client) -> Iterator[str]:
    """Give the name of a spill folder on every worker; its files are removed at the end."""
    name = f"spill-{uuid4().hex}"
    try:
        _register(client, SpillPlugin(name), name)
        yield name
    finally:
        # Workers that cannot be reached have gone, or have just come and have no files.
        with suppress(OSError, LookupError, ValueError):
            client.unregister_worker_plugin(name)


def _register(client: Client, plugin: WorkerPlugin, name: str) -> None:
    """Register a plugin; retry if the scheduler asked a worker that has just died."""
    for _ in range(TRIES - 1):
        with suppress(OSError):
            client.register_plugin(plugin, name)
            return
    client.register_plugin(plugin, name)


def add_folder(name: str, parent: Path, largest: float = inf) -> None:
    """Make a spill folder."""
    folder = parent / name
    folder.mkdir(exist_ok=True)
    _folders[name] = SpillFolder(folder, largest)


def remove_folder(name: str) -> None:
    """Remove a spill folder and its files."""
    if name in _folders:
        shutil.rmtree(_folders.pop(name).folder, ignore_errors=True)


def find_folder(name: str) -> SpillFolder:
    """Return the spill folder of a name."""
    if name not in _folders:
        raise ValueError(f"There is no folder {name} here: it was removed, or never made.")
    return _folders[name]


class Spilled:
    """Values in a file, each of which can be mapped into memory by itself.

    The file is removed with this object, unless Dask has spilled the object itself, as it does with
    anything when memory is short. Then it is kept for the object that Dask restores later.
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
        """Bytes of the file."""
        return self.spans[-1][-1][1] if self.spans else 0

    def read(self, number: int) -> Any:
        """Return a value, whose arrays stay mapped while they are in use.

        They are writable (copy on write), as kernels are compiled for writable arrays only.
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
        """Keep the file when this object is gone."""
        self._removal.detach()

    def release(self) -> None:
        """Remove the file with this object, if it was to be kept."""
        if not self._removal.alive:
            self._removal = finalize(self, self.path.unlink, missing_ok=True)

    def __reduce__(self) -> tuple[Any, ...]:
        return receive, (self.path.parent.name, self.spans, self.read_bytes())

    def _map(self, first: int, last: int) -> NDArray[np.uint8]:
        mapped: Any = np.memmap(self.path, np.uint8, "c", offset=first, shape=last - first)
        return np.asarray(mapped)


@contextmanager
def making_file(folder: str) -> Iterator[BinaryIO]:
    """Give a new file in a spill folder, which is removed if writing fails."""
    path = find_folder(folder).folder / uuid4().hex
    try:
        with path.open("xb") as file:
            yield file
    except BaseException as error:
        path.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:  # as if the disk is full
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


class SpillWriter:
    """Writes values to a file, one after the other.

    Examples
    --------
    >>> from tempfile import gettempdir
    >>> add_folder("spill-of-an-example", Path(gettempdir()))
    >>> with making_file("spill-of-an-example") as file:
    ...     writer = SpillWriter(file)
    ...     writer.add({"oak": np.arange(3)})
    ...     writer.add("ash")
    >>> list(writer.finish())
    [{'oak': array([0, 1, 2])}, 'ash']
    >>> remove_folder("spill-of-an-example")
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._spans = file, list[Span]()

    def add(self, value: Any) -> None:
        """Write a value."""
        arrays: list[pickle.PickleBuffer] = []
        head = pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
        contents = [memoryview(head), *(array.raw() for array in arrays)]
        self._spans.append([self._write(content) for content in contents])

    def finish(self) -> Spilled:
        """Return the values written; the file must be closed before they are read."""
        return Spilled(Path(self._file.name), self._spans)

    def _write(self, content: memoryview) -> tuple[int, int]:
        self._file.write(bytes(-self._file.tell() % ALIGNMENT))
        start = self._file.tell()
        self._file.write(content)
        return start, start + len(content)


def spill(folder: str, values: Iterable[Any]) -> Spilled:
    """Write values to a spill folder, holding one of them at a time."""
    with making_file(folder) as file:
        writer = SpillWriter(file)
        for value in values:
            writer.add(value)
    return writer.finish()


def join_arrays(
    spilled: Sequence[Spilled], take: Callable[[Any], Sequence[NDArray[Any] | None]]
) -> list[Any]:
    """Concatenate the arrays that ``take`` returns for each value, mapping one value at a time."""

    def read() -> Iterator[Sequence[NDArray[Any] | None]]:
        return (take(value) for each in spilled for value in each)

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


def receive(folder: str, spans: Any, *pieces: Any) -> Spilled:
    """Write a result of another worker to the spill folder of this one."""
    with making_file(folder) as file:
        for piece in pieces:
            file.write(piece)
    return Spilled(Path(file.name), [list(span) for span in spans])


@dask_serialize.register(Spilled)  # type: ignore[untyped-decorator]
def pack(spilled: Spilled, context: dict[str, Any] | None = None) -> tuple[dict[str, Any], Any]:
    """Return what Dask sends to another worker or, without a context, writes to its own disk."""
    header = {"folder": spilled.path.parent.name, "spans": spilled.spans}
    if context is not None:
        return header, [spilled.read_bytes().data]
    spilled.keep()
    return {**header, "path": str(spilled.path)}, [b""]


@dask_deserialize.register(Spilled)  # type: ignore[untyped-decorator]
def unpack(header: dict[str, Any], frames: list[Any]) -> Spilled:
    """Return a result that Dask has received from another worker, or read from its own disk."""
    if "path" not in header:
        return receive(header["folder"], header["spans"], *frames)
    found = Spilled(Path(header["path"]), [list(span) for span in header["spans"]])
    if found.n_bytes > find_folder(header["folder"]).largest:
        found.keep()  # Dask keeps its own, and will read it again
    return found


def register_sizes() -> None:
    """Tell Dask the sizes of data frames, and of objects that hold arrays."""
    register: Any = sizeof.register
    register(pl.DataFrame, measure_frame)
    register(Spilled, attrgetter("n_bytes"))  # on disk, but so much is sent
    for holder in HOLDERS:
        register(holder, measure_holder)


def measure_frame(frame: pl.DataFrame) -> int:
    """Return the bytes of a data frame: its own estimate counts the letters of strings alone."""
    n_strings = sum(kind == pl.String for kind in frame.dtypes)
    return int(frame.estimated_size()) + STRING * n_strings * frame.height


def measure_holder(holder: Any) -> int:
    """Return the bytes of the attributes of an object.

    Examples
    --------
    >>> register_sizes()
    >>> sizeof(Part(None, np.zeros(1000), None)) > 8000
    True
    """
    return sum(map(sizeof, vars(holder).values()))
