"""agentplane's own retriever, which finds entries by the words that they share with a question."""

from agentplane.plane.derived import server_memory
from agentplane.retrieval.retriever import Question
from agentplane.retrieval.scan import Match, scan


class ByWords:
    """Scans the entries. A long-running process uses an index, with the same matches."""

    def find(self, question: Question, /) -> list[Match]:
        if not server_memory.is_on() or question.wanted.unreviewed:
            return scan(question.entries(), question.text, question.limit)
        from agentplane.memory import word_index
        from agentplane.retrieval.indexed import look_up

        index = word_index.of_shelf(question.memory)
        return look_up(index, question.wanted, question.text, question.limit)
