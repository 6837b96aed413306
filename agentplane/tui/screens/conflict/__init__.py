"""The comparison of a candidate with the entries it conflicts with."""
