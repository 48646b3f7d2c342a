"""From the options of a command to the settings of a run; bad values are refused here."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from spokeshave.cli.options import (
    AGAINST,
    ANALYZERS,
    CLASS_WEIGHTS,
    CRITERIA,
    EFFORTS,
    LOSSES,
    MEASURES,
    METHODS,
    PRIORS,
    STOP_WORDS,
    WEIGHTINGS,
    CurveOptions,
    ModelOptions,
)

if TYPE_CHECKING:
    from spokeshave.jobs.settings import Settings

# Options of a curve, and the settings that they set; a run without a curve refuses them.
OF_A_CURVE = {
    "--method": "methods",
    "--cuts": "cuts",
    "--measure": "measure",
    "--stability": "with_stability",
    "--shared-words": "shared_words",
    "--folds": "n_folds",
}
# Lengths of terms that are not single words, by default.
NGRAMS = {"char": (2, 5), "char_wb": (2, 5), "word+char_wb": (1, 2)}
# Settings that fit chooses by cross-validation if no option gives them.
SEARCHED = (
    *("analyzer", "ngram_range", "weighting", "min_df"),
    *("prior", "prior_strength", "loss", "C", "class_weight"),
)


def make_settings(
    *groups: CurveOptions | ModelOptions,
    against: str = "features",
    cuts: str = "paper",
    **others: Any,
) -> Settings:
    """Return the settings of a run, from groups of options and from single ones.

    Options left out have the defaults of `Settings`.
    """
    from spokeshave.jobs.settings import Settings

    is_sparsity = check_choice("--against", against, AGAINST) == "sparsity"
    for group in groups:
        others |= asdict(group)
    method = others.pop("method", None)
    others["strip_markup"] = not others.pop("no_markup", False)
    given = {name: value for name, value in others.items() if value is not None}
    settings = {name: CHECKS[name](value) if name in CHECKS else value
                for name, value in given.items()}  # fmt: skip
    if method is not None:
        settings["methods"] = split_choices("--method", method, METHODS)
    if is_sparsity and "rfe" in settings.get("methods", ()):
        raise ValueError("--against sparsity goes with every --method but rfe. Try warm instead.")
    parse = parse_sparsities if is_sparsity else parse_cuts
    if "ngram_range" not in given and settings.get("analyzer") in NGRAMS:
        settings["ngram_range"] = NGRAMS[settings["analyzer"]]
    fixed = tuple(name for name in SEARCHED if settings.get(name, "auto") != "auto")
    return Settings(cuts=parse(cuts), against=against, fixed=fixed, **settings)


def refuse_curve_options(settings: Settings, option: str) -> None:
    """Raise if an option of a curve is given beside an option that leaves no curve to trace."""
    from spokeshave.jobs.settings import Settings

    for name, attribute in OF_A_CURVE.items():
        if getattr(settings, attribute) != getattr(Settings(), attribute):
            raise ValueError(f"{name} does not apply with {option}. Leave it out.")
    if settings.C == "auto":
        raise ValueError(f"--C must be a number with {option}. Got 'auto' instead.")


def parse_limits(memory: str | None, nonzeros: float | None) -> dict[str, Any]:
    """Return the limit of memory and the sparsity of a run, by the names of the parameters."""
    from spokeshave.utils.formatting import parse_size

    if nonzeros is not None and not 0 < nonzeros < float("inf"):
        raise ValueError(f"--nonzeros must be a positive number. Got {nonzeros:g} instead.")
    n_bytes = None if memory is None else parse_size(memory, "--memory")
    return {"memory": n_bytes, "nonzeros_per_document": nonzeros}


def check_jobs(n_jobs: int) -> int:
    """Return a number of threads, or raise."""
    if n_jobs == 0:
        raise ValueError("--n-jobs must be a number of threads, or -1 for all cores. Got 0.")
    return n_jobs


def check_seed(seed: int) -> int:
    """Return a seed, or raise."""
    if not 0 <= seed < 2**32:
        raise ValueError(f"--seed must be from 0 to {2**32 - 1}. Got {seed} instead.")
    return seed


def check_tolerance(tolerance: float) -> float:
    """Return a tolerance, or raise."""
    if not 0 <= tolerance < 1:
        raise ValueError(f"--tolerance must be from 0 to below 1. Got {tolerance:g} instead.")
    return tolerance


def check_share(value: float) -> float:
    """Return the share of documents to hold out, zero for none, or raise."""
    if not 0 <= value < 1:
        raise ValueError(f"--hold-out must be a share from 0 to below 1. Got {value:g} instead.")
    return value


def check_choice(option: str, value: str, choices: tuple[str, ...]) -> str:
    """Return a value that is one of the choices, or raise.

    Examples
    --------
    >>> check_choice("--by", "chi2", CRITERIA)
    'chi2'
    """
    if value not in choices:
        raise ValueError(f"{option} must be one of {', '.join(choices)}. Got {value!r} instead.")
    return value


def split_choices(option: str, value: str, choices: tuple[str, ...]) -> tuple[str, ...]:
    """Return the choices in a comma-separated list, each once.

    Examples
    --------
    >>> split_choices("--method", "mask,warm", METHODS)
    ('mask', 'warm')
    """
    names = [name.strip() for name in value.split(",")]
    return tuple(dict.fromkeys(check_choice(option, name, choices) for name in names))


def parse_cuts(value: str) -> Any:
    """Return cuts in the form that `feature_curve` accepts.

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
        "--cuts must be 'paper', 'log', fractions between 0 and 1 separated by commas, or whole "
        f"numbers of features. Got {value!r} instead."
    )


def parse_sparsities(value: str) -> tuple[float, ...]:
    """Return cuts in nonzeros per document; "paper", the default of --cuts, stands for six.

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
            "--cuts must be positive numbers of nonzeros per document, separated by commas, with "
            f"--against sparsity. Got {value!r} instead."
        )
    return found


def parse_cost(value: str | float) -> float | str:
    """Return C as a number, or "auto".

    Examples
    --------
    >>> parse_cost("auto"), parse_cost("0.5")
    ('auto', 0.5)
    """
    if value == "auto":
        return "auto"
    try:
        number = float(value)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        choice = " or auto" if isinstance(value, str) else ""
        raise ValueError(f"--C must be a positive number{choice}. Got {value!r} instead.")
    return number


def parse_none(option: str, value: str, choices: tuple[str, ...]) -> str | None:
    """Return one of the choices, None for "none"."""
    return None if check_choice(option, value, choices) == "none" else value


def parse_ngrams(value: str) -> tuple[int, int]:
    """Return the smallest and the largest number of words or characters of a term.

    Examples
    --------
    >>> parse_ngrams("1-2"), parse_ngrams("3")
    ((1, 2), (3, 3))
    """
    first, _, last = value.partition("-")
    cells = first.strip(), (last or first).strip()
    if all(cell.isdecimal() for cell in cells) and 1 <= int(cells[0]) <= int(cells[1]):
        return int(cells[0]), int(cells[1])
    raise ValueError(f"--ngrams must be a range such as 1-2 or 2-5. Got {value!r} instead.")


def parse_frequency(value: str) -> float:
    """Return a number of documents, or a share of them.

    Examples
    --------
    >>> parse_frequency("100"), parse_frequency("0.5")
    (100, 0.5)
    """
    try:
        found = int(value) if value.isdecimal() else float(value)
    except ValueError:
        found = -1
    if found >= 1 if isinstance(found, int) else 0 <= found <= 1:
        return found
    raise ValueError(
        "--max-df must be a number of documents, or a share of them from 0.0 to 1.0. "
        f"Got {value!r} instead."
    )


def check_strength(value: float) -> float:
    """Return the strength of a prior, or raise."""
    if not 0 <= value < float("inf"):
        raise ValueError(f"--prior-strength must not be negative. Got {value:g} instead.")
    return value


CHECKS: dict[str, Any] = {
    "by": lambda value: check_choice("--by", value, CRITERIA),
    "C": parse_cost,
    "loss": lambda value: check_choice("--loss", value, LOSSES),
    "prior": lambda value: parse_none("--prior", value, PRIORS),
    "prior_strength": check_strength,
    "measure": lambda value: check_choice("--measure", value, MEASURES),
    "tolerance": check_tolerance,
    "hold_out": check_share,
    "effort": lambda value: check_choice("--effort", value, EFFORTS),
    "analyzer": lambda value: check_choice("--analyzer", value, ANALYZERS),
    "ngram_range": parse_ngrams,
    "class_weight": lambda value: parse_none("--class-weight", value, CLASS_WEIGHTS),
    "stop_words": lambda value: parse_none("--stop-words", value, STOP_WORDS),
    "max_df": parse_frequency,
    "weighting": lambda value: check_choice("--weighting", value, WEIGHTINGS),
    "n_jobs": check_jobs,
    "seed": check_seed,
}
