"""The settings, and the dialogs that change them."""
