"""The files that coding tools read, and the code that writes memory into them."""
