"""Folders of results, for the verbs."""

from recrawl.report.result_folder import check_folder, write_folder

__all__ = ["check_folder", "write_folder"]
