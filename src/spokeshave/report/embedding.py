"""Values written into a page, where nothing in them can end the element that holds them."""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from math import isfinite
from typing import Any

N_DIGITS = 7  # as records are kept
ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def embed_json(value: Any) -> str:
    r"""Return a value as JSON for a script element: no markup, no number that is not finite.

    Examples
    --------
    >>> embed_json({"name": "</script>", "value": float("nan")})
    '{"name":"\\u003c/script\\u003e","value":null}'
    """
    text = json.dumps(_round(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(ESCAPES)


def hash_script(text: str) -> str:
    """Return how a content security policy names a script.

    Examples
    --------
    >>> hash_script("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    digest = b64encode(sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _round(value: Any) -> Any:
    """Return the value with numbers of as many digits as a page shows, None for unknown ones."""
    if isinstance(value, dict):
        return {str(key): _round(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_round(part) for part in value]
    if isinstance(value, float):
        return float(f"{value:.{N_DIGITS}g}") if isfinite(value) else None
    return value
