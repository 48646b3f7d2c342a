"""The folder a run works in: what each of its stages leaves, whole or not at all."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from spokeshave.utils.atomic import write_atomic
from spokeshave.utils.formatting import write_size

RUN, LOCK = "run.json", "lock.json"
STAGES = ("survey", "ranking", "reduced", "training")
LEFT = (*STAGES, LOCK, "seed.json")  # of a run that was killed as it cleared up


class Workplace:
    """A folder with a folder of its own for each stage that is finished.

    Parameters
    ----------
    folder : str or Path
        The folder. It is made where there is none; one that a run with another fingerprint has
        begun is refused, and so is one with files of any other kind.
    fingerprint : dict of str to JSON values
        What the run depends on, by name.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     workplace = Workplace(Path(folder, "work"), {"seed": 0})
    ...     with workplace.enter("survey") as stage:
    ...         _ = (stage / "counts.txt").write_text("7")
    ...     workplace.has("survey"), workplace.has("training")
    (True, False)
    """

    def __init__(self, folder: str | Path, fingerprint: dict[str, Any]) -> None:
        self.folder = Path(folder)
        known = json.loads(json.dumps(fingerprint))
        self._make()
        run = self.folder / RUN
        for part in self.folder.glob(f".{RUN}.*.part"):  # of a run that was killed as it began
            part.unlink()
        if not run.exists():
            self._refuse_others()
            write_atomic(run, json.dumps(known, indent=1).encode())
        elif other := _list_differences(run, known):
            raise ValueError(
                f"{self.folder}: a run with other {', '.join(other)} has begun here; repeat its "
                "arguments, name another folder, or delete this one."
            )
        self._lock()
        for part in self.folder.glob("*.part"):
            if part.is_dir():
                shutil.rmtree(part)

    @property
    def is_empty(self) -> bool:
        """Whether no stage is finished."""
        return not any(path.is_dir() for path in self.folder.iterdir())

    def remember(self, name: str, value: Any) -> Any:
        """Return what an earlier run has remembered under a name, or remember this."""
        path = self.folder / f"{name}.json"
        if not path.exists():
            write_atomic(path, json.dumps(value).encode())
        return json.loads(path.read_bytes())

    def has(self, stage: str) -> bool:
        """Return whether a stage is finished."""
        return (self.folder / stage).is_dir()

    def find(self, stage: str) -> Path:
        """Return the folder of a stage."""
        return self.folder / stage

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Let trouble with the disk name the folder: numpy and buffers forget where they write."""
        try:
            yield
        except OSError as error:
            if error.filename is not None:
                raise
            if error.errno is None:  # numpy counts what was written instead
                raise OSError(f"{self.folder}: it cannot be written to ({error})") from None
            raise OSError(error.errno, error.strerror, str(self.folder)) from None

    @contextmanager
    def enter(self, stage: str) -> Iterator[Path]:
        """Give a stage a folder to write to, which takes its name when the stage is done.

        Where it fails, what it has written is removed.
        """
        part = self.folder / f"{stage}.part"
        try:
            with self.naming():
                part.mkdir()
                yield part
                part.rename(self.folder / stage)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise

    def require(self, n_bytes: int) -> None:
        """Raise where the disk has less free than what is going to be written."""
        free = shutil.disk_usage(self.folder).free
        if free < n_bytes:
            raise ValueError(
                f"{self.folder}: {write_size(n_bytes)} are going to be written there, and "
                f"{write_size(free)} are free; name another folder or free more."
            )

    def clear(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def leave(self) -> None:
        """Let another run go on from here; where no stage is finished, there is nothing to keep."""
        if not self.folder.is_dir():
            return
        if self.is_empty:
            self.clear()
        else:
            (self.folder / LOCK).unlink(missing_ok=True)

    def _lock(self) -> None:
        """Keep others out, unless they are gone: a run that was killed leaves its lock."""
        lock, me = self.folder / LOCK, psutil.Process()
        if lock.exists() and _is_at_work(*json.loads(lock.read_bytes())):
            raise ValueError(
                f"{self.folder}: another run is at work here; name another folder, or wait for it."
            )
        write_atomic(lock, json.dumps([me.pid, me.create_time()]).encode())

    def _make(self) -> None:
        try:
            self.folder.mkdir(exist_ok=True)
        except FileExistsError:
            raise ValueError(f"{self.folder}: this is a file; name a folder to work in") from None
        except OSError as error:
            raise ValueError(f"{self.folder}: it cannot be made ({error.strerror})") from None

    def _refuse_others(self) -> None:
        """Raise where there are files of others; what is left of a run is removed."""
        found = list(self.folder.iterdir())
        if any(path.name not in LEFT and path.suffix != ".part" for path in found):
            raise ValueError(
                f"{self.folder}: there are files in it that no run has left; name a new folder"
            )
        for path in found:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _is_at_work(number: int, begun: float) -> bool:
    """Return whether a process is still there, and not another of the same number."""
    try:
        return bool(abs(psutil.Process(number).create_time() - begun) < 2)  # clocks are set
    except psutil.Error:
        return False


def _list_differences(run: Path, fingerprint: dict[str, Any]) -> list[str]:
    try:
        found = json.loads(run.read_bytes())
    except ValueError:
        found = None
    if not isinstance(found, dict):
        return ["arguments"]
    names = {**fingerprint, **found}
    return [name for name in names if found.get(name) != fingerprint.get(name)]
