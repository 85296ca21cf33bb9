"""What every test shares. Promises and proofs are compared in `tests/test_requirements.py`."""
