"""Reconciliation of branches after a Git merge: its plan, its notes, and the texts that it replaced."""
