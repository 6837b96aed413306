"""Small projects in five languages, and the changes that are made to them."""

from tests.bench.curator.samples import go, java, python, rust, typescript


LANGUAGES = {
    "python": python.PROJECT,
    "typescript": typescript.PROJECT,
    "go": go.PROJECT,
    "rust": rust.PROJECT,
    "java": java.PROJECT,
}
