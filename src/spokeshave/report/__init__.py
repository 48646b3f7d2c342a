"""A page from a finished run; it computes nothing."""

from spokeshave.report.page import render_report

__all__ = ["render_report"]
