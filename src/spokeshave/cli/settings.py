"""What the options of a command stand for; those that make no sense are refused here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spokeshave.cli.options import AGAINST, CRITERIA, MEASURES, METHODS

if TYPE_CHECKING:
    from spokeshave.jobs.settings import Settings


def make_settings(
    *,
    method: str = "mask",
    by: str = "normal",
    cuts: str = "paper",
    against: str = "features",
    C: str = "1",
    measure: str = "best_f1",
    tolerance: float | None = None,
    hold_out: float = 0.0,
    weighting: str = "binary",
    n_jobs: int = -1,
    **others: Any,
) -> Settings:
    """Return the settings of a run, as options give them; the others need no check."""
    from spokeshave.jobs.settings import Settings

    if not 0 <= others.get("seed", 0) < 2**32:
        raise ValueError(f"--seed must be from 0 to {2**32 - 1}. Got {others['seed']} instead.")
    if tolerance is not None and not 0 <= tolerance < 1:
        raise ValueError(f"--tolerance must be from 0 to below 1. Got {tolerance:g} instead.")
    methods = split_choices("--method", method, METHODS)
    is_sparsity = check_choice("--against", against, AGAINST) == "sparsity"
    if is_sparsity and "rfe" in methods:
        raise ValueError("--against sparsity goes with every --method but rfe. Try warm instead.")
    return Settings(
        methods=methods,
        by=check_choice("--by", by, CRITERIA),
        cuts=parse_sparsities(cuts) if is_sparsity else parse_cuts(cuts),
        against=against,
        C=parse_cost(C),
        measure=check_choice("--measure", measure, MEASURES),
        tolerance=tolerance,
        hold_out=check_share(hold_out),
        weighting=check_choice("--weighting", weighting, ("binary", "counts", "tfidf")),
        n_jobs=check_jobs(n_jobs),
        **others,
    )


def check_jobs(n_jobs: int) -> int:
    """Return a number of threads, or raise."""
    if n_jobs == 0:
        raise ValueError("--n-jobs must be a number of threads, or -1 for all cores. Got 0.")
    return n_jobs


def check_choice(option: str, value: str, choices: tuple[str, ...]) -> str:
    """Return a value that is one of some names, or raise.

    Examples
    --------
    >>> check_choice("--by", "chi2", CRITERIA)
    'chi2'
    """
    if value not in choices:
        raise ValueError(f"{option} must be one of {', '.join(choices)}. Got {value!r} instead.")
    return value


def split_choices(option: str, value: str, choices: tuple[str, ...]) -> tuple[str, ...]:
    """Return names that were given with commas between them, each once.

    Examples
    --------
    >>> split_choices("--method", "mask,warm", METHODS)
    ('mask', 'warm')
    """
    names = [name.strip() for name in value.split(",")]
    return tuple(dict.fromkeys(check_choice(option, name, choices) for name in names))


def parse_cuts(value: str) -> Any:
    """Return cuts as `feature_curve` takes them.

    Examples
    --------
    >>> parse_cuts("0.1,0.5,1")
    (0.1, 0.5, 1.0)
    >>> parse_cuts("100,1000")
    (100, 1000)
    """
    from spokeshave.curves.cuts import PAPER_FRACTIONS

    if value in ("paper", "log"):
        return PAPER_FRACTIONS if value == "paper" else "log"
    cells = [cell.strip() for cell in value.split(",")]
    try:
        if all(cell.isdigit() for cell in cells) and cells != ["1"]:
            counts = tuple(map(int, cells))
            if min(counts) > 0:
                return counts
        fractions = tuple(map(float, cells))
        if all(0 < fraction <= 1 for fraction in fractions):
            return fractions
    except ValueError:
        pass
    raise ValueError(
        "--cuts must be 'paper', 'log', fractions between 0 and 1 with commas between them, or "
        f"whole numbers of features. Got {value!r} instead."
    )


def parse_sparsities(value: str) -> tuple[float, ...]:
    """Return cuts that are nonzeros per document; those by default for what is otherwise so.

    Examples
    --------
    >>> parse_sparsities("20,2.5")
    (20.0, 2.5)
    >>> parse_sparsities("paper")
    (2.5, 5.0, 10.0, 20.0, 40.0, 80.0)
    """
    from spokeshave.curves.cuts import SPARSITIES

    if value == "paper":
        return SPARSITIES
    try:
        found = tuple(map(float, value.split(",")))
    except ValueError:
        found = ()
    if not found or not all(0 < cut < float("inf") for cut in found):
        raise ValueError(
            "--cuts must be positive numbers of nonzeros per document with commas between them, "
            f"with --against sparsity. Got {value!r} instead."
        )
    return found


def parse_cost(value: str) -> float | str:
    """Return C as a number, or "auto".

    Examples
    --------
    >>> parse_cost("auto"), parse_cost("0.5")
    ('auto', 0.5)
    """
    if value == "auto":
        return value
    try:
        number = float(value)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise ValueError(f"--C must be a positive number or auto. Got {value!r} instead.")
    return number


def check_share(value: float) -> float:
    """Return a share of documents to hold out, zero for none."""
    if not 0 <= value < 1:
        raise ValueError(f"--hold-out must be a share from 0 to below 1. Got {value:g} instead.")
    return value
