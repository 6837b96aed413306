"""The screens in a browser on this machine."""
