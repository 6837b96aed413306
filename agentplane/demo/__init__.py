"""The example project that `agentplane demo` opens, with a project memory in which something waits."""
