"""The interactive page of some runs: one file that opens anywhere, offline. Reads records and stored pictures only."""

from doublebubble.report.page.view import Look
from doublebubble.report.page.writing import page_text, write_page

__all__ = ["Look", "page_text", "write_page"]
