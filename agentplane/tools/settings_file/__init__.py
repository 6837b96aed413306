"""agentplane's hooks and MCP server in the settings files of coding tools."""
