"""Tests of the checks of the curator."""
