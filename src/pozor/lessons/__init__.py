"""Lessons as marimo notebooks: which there are, what a notebook builds on, the server they run in."""
