"""Markdown with frontmatter, with the places of entries and edits that keep every other byte."""
