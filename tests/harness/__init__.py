"""Modules of tests/run_all.py: results, and one module per way of running tests."""
