"""The report: one page that needs nothing else, made from the record of a run."""

from __future__ import annotations

from dataclasses import asdict
from functools import lru_cache
from html import escape
from importlib.resources import files
from string import Template

from spokeshave.jobs.record import RunRecord
from spokeshave.report.embedding import embed_json, hash_script
from spokeshave.report.naming import name_curves

STYLES = ("colors", "page", "bar", "tiles", "charts", "tables", "words", "making", "print")
SCRIPTS = (  # they share one scope; only the last one does anything by itself
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
    "making",
    "start",
)


def render_report(record: RunRecord) -> str:
    """Return a report as HTML: charts, tables and words that follow one slider over the cuts.

    The page holds its data, style and program, and forbids itself to load anything. Everything
    that comes from the record is shown as text.

    Parameters
    ----------
    record : RunRecord
        What a run found, as `read_record` gives it.

    Returns
    -------
    html : str
        The page; the same record gives the same page.

    Raises
    ------
    ImportError
        Where the packages that draw charts are missing.

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
        from spokeshave.report.bundle import bundle_javascript
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
    library, program = bundle_javascript(), _read_program()
    page = Template(_read("page.html")).substitute(
        policy=_forbid_loading(library, program),
        title=escape(record.title),
        headline=escape(record.headline),
        style="\n".join(_read(f"styles/{name}.css") for name in STYLES),
        content=embed_json(content),
        library=library,
        program=program,
    )
    return page.encode("utf-8", "replace").decode()  # half a character cannot be written to a file


def _forbid_loading(*scripts: str) -> str:
    """Return a policy under which these scripts run, no other does, and nothing is fetched."""
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


def _read_program() -> str:
    scripts = [_read(f"scripts/{name}.js") for name in SCRIPTS]
    return "\n".join(['(() => {\n"use strict";', *scripts, "})();"])


@lru_cache
def _read(name: str) -> str:
    return files("spokeshave.report").joinpath(name).read_text(encoding="utf-8")
