"""The checks of the curator, one module for each subject."""
