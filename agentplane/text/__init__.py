"""Bytes and their structure, with documents, canonical JSON, the hash chain and atomic writes.

This package knows nothing about memory.
"""
