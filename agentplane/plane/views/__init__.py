"""Views for programs: state.json and artifacts.json."""
