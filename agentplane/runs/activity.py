"""The kind of activity in a log event, which is the run of a tool or command, or an action of agentplane
itself.
"""

from typing import Literal


Activity = Literal["import"]
"""With `import`, agentplane took candidates from files of a project or of a tool. Entries name that event as
their source.
"""
