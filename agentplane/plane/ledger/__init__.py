"""What the log and the operation records say, also where branches met."""
