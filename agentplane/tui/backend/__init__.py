"""The data behind the screens, with background threads and texts of results. No module here depends on a widget."""
