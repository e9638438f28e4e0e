"""A small tree on disk for the lints' own tests, written from a dictionary of path -> text."""

import pytest


@pytest.fixture
def tree_of(tmp_path):
    def write(files):
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text, encoding="utf-8")
        return str(tmp_path)

    return write
