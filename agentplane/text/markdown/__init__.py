"""Markdown with frontmatter: where entries are, and edits that keep every other byte."""
