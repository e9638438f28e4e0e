"""What tests/run_all.py is made of: results, and one module for each way of running tests."""
