"""Measures of how alike two statements are, and the weights that the verdict gives them."""
