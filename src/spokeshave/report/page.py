"""The report: one self-contained HTML page, made from the record of a run."""

from __future__ import annotations

import json
from base64 import b64encode
from collections import Counter
from contextlib import suppress
from dataclasses import asdict
from functools import lru_cache
from hashlib import sha256
from html import escape
from importlib.metadata import version
from importlib.resources import files
from math import isfinite
from pathlib import Path
from string import Template
from typing import Any

from spokeshave.jobs.record import CurveRecord, RunRecord
from spokeshave.utils.atomic import write_atomic

STYLES = ("colors", "page", "bar", "tiles", "charts", "tables", "words", "making", "print")
SCRIPTS = (  # they share one scope; only the last one runs anything
    "format",
    "elements",
    "run",
    "state",
    "address",
    "selects",
    "charts",
    "slider",
    "sentence",
    "tiles",
    "curve",
    "classes",
    "words",
    "models",
    "shapes",
    "stability",
    "trials",
    "making",
    "start",
)
N_DIGITS = 7  # as in run records
CACHE = Path(__file__).with_name("__pycache__")
ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def render_report(record: RunRecord) -> str:
    """Return a report as HTML: charts, tables and words that follow one slider over the cuts.

    The page contains its data, style and scripts, and its content security policy forbids loading
    anything else. Everything from the record is shown as text, never as markup.

    Parameters
    ----------
    record : RunRecord
        The record of a run, as returned by `read_record`.

    Returns
    -------
    html : str
        The page. The same record gives the same page.

    Raises
    ------
    ImportError
        If the packages that draw the charts are missing.

    Examples
    --------
    >>> from spokeshave.jobs.record import Data, Making, ModelRecord, RunRecord
    >>> record = RunRecord(
    ...     title="Trees", headline="4 of 19 words are enough.",
    ...     making=Making("spokeshave fit trees.csv", "2007-01-01T00:00:00Z", {}, {}, None),
    ...     data=Data("trees.csv", "2 columns", "0", "labels", "words", 8, 19, 6.5, 0, None, None),
    ...     settings={}, classes=[], curves=[], cuts=None, choice=None, words=[],
    ...     model=ModelRecord("mask", 4, 4, 1.5, None, None), full_model=None, shapes=[],
    ...     stability=None,
    ... )
    >>> page = render_report(record)
    >>> "<h1>Trees</h1>" in page
    True
    """
    try:
        library = bundle_javascript()
        from spokeshave.report.charts import draw_charts
    except ImportError as error:
        raise ImportError(
            "A report needs altair and vl-convert-python: pip install 'spokeshave[report]'"
        ) from error
    names = name_curves(record.curves)
    content = {
        "record": asdict(record),
        "curveNames": names,
        "charts": draw_charts(record, names),
    }
    program = _read_program()
    page = Template(_read("page.html")).substitute(
        policy=_forbid_loading(library, program),
        title=escape(record.title),
        headline=escape(record.headline),
        style="\n".join(_read(f"styles/{name}.css") for name in STYLES),
        content=embed_json(content),
        library=library,
        program=program,
    )
    return page.encode("utf-8", "replace").decode()  # a lone surrogate cannot be written to a file


@lru_cache(maxsize=1)
def bundle_javascript() -> str:
    """Return Vega-Embed with its dependencies; a file keeps it, because bundling takes seconds.

    Examples
    --------
    >>> "window.vegaEmbed" in bundle_javascript()
    True
    """
    import vl_convert

    kept = CACHE / f"vega-embed-{version('vl-convert-python')}.js"
    with suppress(OSError):
        return kept.read_bytes().decode()
    bundle = str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))
    with suppress(OSError, ValueError):  # the package may be in a folder that is read-only
        kept.parent.mkdir(exist_ok=True)
        write_atomic(kept, bundle.encode())
    return bundle


def name_curves(curves: list[CurveRecord]) -> list[str]:
    """Return a unique name for each curve: its method, with the criterion if they differ.

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
    has_criteria = len({curve.by for curve in curves}) > 1
    seen: Counter[str] = Counter()
    names = []
    for curve in curves:
        name = f"{curve.method} by {curve.by}" if has_criteria else curve.method
        name = name.replace("_", " ")
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return names


def embed_json(value: Any) -> str:
    r"""Return a value as JSON for a script element, without markup and non-finite numbers.

    Examples
    --------
    >>> embed_json({"name": "</script>", "value": float("nan")})
    '{"name":"\\u003c/script\\u003e","value":null}'
    """
    text = json.dumps(_round(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(ESCAPES)


def _round(value: Any) -> Any:
    """Return the value with numbers rounded, and None for NaN and infinity."""
    if isinstance(value, dict):
        return {str(key): _round(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_round(part) for part in value]
    if isinstance(value, float):
        return float(f"{value:.{N_DIGITS}g}") if isfinite(value) else None
    return value


def _forbid_loading(*scripts: str) -> str:
    """Return a content security policy that runs only these scripts and loads nothing."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(map(hash_script, scripts))}",
            "style-src 'unsafe-inline'",
            "img-src data:",
            "font-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def hash_script(text: str) -> str:
    """Return the source expression of a script for a content security policy.

    Examples
    --------
    >>> hash_script("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    digest = b64encode(sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _read_program() -> str:
    scripts = [_read(f"scripts/{name}.js") for name in SCRIPTS]
    return "\n".join(['(() => {\n"use strict";', *scripts, "})();"])


@lru_cache
def _read(name: str) -> str:
    return files("spokeshave.report").joinpath(name).read_text(encoding="utf-8")
