"""The screens: one row in the registry and one package each."""
