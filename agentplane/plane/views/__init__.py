"""Views for programs, which are state.json and artifacts.json."""
