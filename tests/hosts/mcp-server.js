// An MCP server that does not end when it should: for the later steps of a
// client's close().
//
// mcp-server.js [eof|deaf]
//   eof     goes on when stdin ends; TERM ends it
//   deaf    notes TERM in ./terms, and goes on
const fs = require('fs');
const { McpServer } = require('@modelcontextprotocol/sdk/server/mcp.js');
const { StdioServerTransport } =
	require('@modelcontextprotocol/sdk/server/stdio.js');

const server = new McpServer({ name: process.argv[2], version: '1' });
server.registerTool('list_allowed_directories', {},
	() => ({ content: [{ type: 'text', text: process.argv[2] }] }));
if (process.argv[2] === 'deaf')
	process.on('SIGTERM', () => fs.appendFileSync('terms', 'TERM\n'));
setInterval(() => {}, 1 << 30);
server.connect(new StdioServerTransport());
