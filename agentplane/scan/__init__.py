"""Detection of dangerous text, such as secrets, hidden characters, and orders to the reader."""
