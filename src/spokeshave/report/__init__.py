"""The HTML report of a finished run, made from its record; it computes nothing."""

from spokeshave.report.page import render_report

__all__ = ["render_report"]
