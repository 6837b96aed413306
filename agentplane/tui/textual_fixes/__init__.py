"""Corrections of Textual's behavior that the screens need."""
