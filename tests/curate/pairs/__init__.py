"""Tests of pairs of entries."""
