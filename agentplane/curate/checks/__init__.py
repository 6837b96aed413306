"""The curator's checks, with one module for each subject."""
