"""Corrections of what Textual does differently from what the screens need."""
