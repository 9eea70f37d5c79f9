"""The interactive page of some runs: one file that opens anywhere, offline. Reads records and stored pictures only."""

from doublebubble.report.page.page_file import page_text, write_page
from doublebubble.report.page.run_view import Gallery

__all__ = ["Gallery", "page_text", "write_page"]
