"""What the curves of a run are called, so that no two share a name."""

from __future__ import annotations

from collections import Counter

from spokeshave.jobs.record import CurveRecord


def name_curves(curves: list[CurveRecord]) -> list[str]:
    """Return a name for each curve: its method, and what else it takes to tell it from others.

    Examples
    --------
    >>> from spokeshave.jobs.record import CurveRecord
    >>> rest = dict(evaluated_on="test set", n_folds=1, names=[], fractions=[], n_features=[],
    ...             measures={}, seconds=0.0, fit_seconds=0.0)
    >>> name_curves([CurveRecord(method="sv_set", by="normal", **rest)])
    ['sv set']
    >>> name_curves([CurveRecord(method="mask", by=by, **rest) for by in ("normal", "chi2")])
    ['mask by normal', 'mask by chi2']
    """
    names = [_say(curve.method) for curve in curves]
    if len({curve.by for curve in curves}) > 1:
        names = [f"{name} by {_say(curve.by)}" for name, curve in zip(names, curves, strict=True)]
    return _number(names)


def _say(name: str) -> str:
    return name.replace("_", " ")


def _number(names: list[str]) -> list[str]:
    """Return the names with a number after each that another has had."""
    seen: Counter[str] = Counter()
    numbered = []
    for name in names:
        seen[name] += 1
        numbered.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return numbered
