// Package tools serves the archive to agents as an MCP server on stdio.
package tools

import "github.com/modelcontextprotocol/go-sdk/mcp"

// Server returns the server, without tools yet.
func Server(version string) *mcp.Server {
	return mcp.NewServer(&mcp.Implementation{Name: "ccd", Version: version}, nil)
}
