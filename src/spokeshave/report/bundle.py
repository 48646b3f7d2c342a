"""The JavaScript that draws charts, as one text to put in a page."""

from __future__ import annotations

from functools import lru_cache

import vl_convert


@lru_cache(maxsize=1)
def bundle_javascript() -> str:
    """Return Vega-Embed with all that it needs; it takes seconds to make, so it is made once.

    Examples
    --------
    >>> "window.vegaEmbed" in bundle_javascript()
    True
    """
    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))
