// An MCP client, made of the official SDK as agents use it.
//
// mcp-client.js WHAT COMMAND [ARGUMENT ...]
//   WHAT: close   initialize, list the tools, call echo, close()
//         stay    the same, but no close()
//         start   starts the server, and never says a word
//         many    ten clients, of which each does as `stay`
// stdout: `server PID` (the one that the SDK knows), `initialized NAME`,
// `tools N`, `called TEXT`, `closed MS`, and `ended` when the server's end came
// unasked; with `many` once for each client.
const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } =
	require('@modelcontextprotocol/sdk/client/stdio.js');

const [what, command, ...args] = process.argv.slice(2);
const say = (...words) => console.log(words.join(' '));

async function one(text) {
	// The SDK would pass on a handful of variables only.
	const transport = new StdioClientTransport(
		{ command, args, env: process.env, stderr: 'inherit' });
	if (what === 'start') {
		await transport.start();
		say('server', transport.pid);
		return;
	}
	const client = new Client({ name: 'hosts', version: '1' });
	await client.connect(transport);
	say('server', transport.pid);
	say('initialized', client.getServerVersion().name);
	const { tools } = await client.listTools();
	say('tools', tools.length);
	if (tools.some(t => t.name === 'echo')) {
		const result = await client.callTool(
			{ name: 'echo', arguments: { message: text } });
		say('called', result.content[0].text);
	} else {
		const result = await client.callTool(
			{ name: 'list_allowed_directories', arguments: {} });
		say('called', JSON.stringify(result.content[0].text));
	}
	client.onclose = () => say('ended');
	if (what === 'close') {
		client.onclose = undefined;
		const begin = performance.now();
		await client.close();
		say('closed', Math.round(performance.now() - begin));
	}
}

async function main() {
	const texts = what === 'many' ? [...Array(10).keys()].map(n => `hello ${n}`)
		: ['grüße, \u{1F600} \u2028 and so on'];
	await Promise.all(texts.map(one));
	say('done');
	if (what !== 'close')
		setInterval(() => {}, 1 << 30);
}

main().catch(e => {
	console.error(e);
	process.exit(1);
});
