"""The screens. Each screen has a row in the registry and a package."""
