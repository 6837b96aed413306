"""The content of the log and the operation records, even if branches were merged."""
