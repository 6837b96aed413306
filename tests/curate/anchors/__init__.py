"""Tests of evidence: how it is observed, and how it is compared with the files of a later time."""
