"""Dialogs, which are boxes over the screen."""
