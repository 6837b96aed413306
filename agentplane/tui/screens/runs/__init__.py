"""The screens for the timeline of runs, one run in detail, and a comparison of two runs."""
