"""The report: one self-contained page, tables for the terminal, and CSV."""

from driftgames.paper.report.export import print_report, write_csv
from driftgames.paper.report.page import render_page, write_page

__all__ = ["print_report", "render_page", "write_csv", "write_page"]
