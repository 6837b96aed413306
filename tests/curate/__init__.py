"""Tests of the curator."""
