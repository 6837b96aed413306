"""What the screens know: the plane as read last, background threads, and the text of outcomes. Knows no widget."""
