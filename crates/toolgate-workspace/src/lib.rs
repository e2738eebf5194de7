//! The built-in MCP server.
