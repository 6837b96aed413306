"""Versions of packages in lock files and manifests, one module for each package manager."""
