"""Displays of results, which need matplotlib, and the report, which needs jinja2."""
