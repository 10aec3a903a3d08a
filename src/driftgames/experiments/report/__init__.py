"""The report: one page that needs nothing but itself, tables for the terminal, JSON and CSV."""

from driftgames.experiments.report.export import write_csv, write_json
from driftgames.experiments.report.page import render_page, write_page
from driftgames.experiments.report.terminal import print_report

__all__ = ["print_report", "render_page", "write_csv", "write_json", "write_page"]
