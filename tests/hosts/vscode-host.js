// VS Code's language client without VS Code: what an extension does with
// `runtime: "ownerwrap"`, which is spawned with [module, --node-ipc or --stdio].
//
// vscode-host.js TRANSPORT COMMAND...    TRANSPORT: ipc, stdio, pipe
// stdout: `server PID`, `answer TEXT`, `ready`; then reads orders: `stop`
// (prints `stopped MS`).
const Module = require('module');

// The editor's interface: whatever is asked of it is there and does nothing.
function anything() {
	return new Proxy(class {}, {
		get(target, name) {
			if (name === Symbol.toPrimitive)
				return () => '';
			if (name === Symbol.iterator)
				return [][Symbol.iterator];
			if (name === 'then')
				return undefined;
			if (!(name in target))
				target[name] = anything();
			return target[name];
		},
		apply: () => anything(),
	});
}
const vscode = anything();
vscode.version = '1.120.0';
for (const list of ['textDocuments', 'workspaceFolders', 'notebookDocuments'])
	vscode.workspace[list] = [];
vscode.window.tabGroups.all = [];
vscode.window.visibleTextEditors = [];
vscode.EventEmitter = class {
	listeners = new Set();
	event = (f, self) => {
		const listener = f.bind(self);
		this.listeners.add(listener);
		return { dispose: () => this.listeners.delete(listener) };
	};
	fire(e) {
		for (const listener of this.listeners)
			listener(e);
	}
	dispose() {}
};
vscode.CancellationError = class extends Error {};

const load = Module._load;
Module._load = function (name, ...rest) {
	return name === 'vscode' ? vscode : load.call(this, name, ...rest);
};

const { LanguageClient, TransportKind } = require('vscode-languageclient/node');
const [transport, ...command] = process.argv.slice(2);
const say = (...words) => console.log(words.join(' '));

async function main() {
	const runtime = command.shift();
	const module = command.pop();
	const client = new LanguageClient('some', 'Some', {
		module,
		runtime,
		transport: TransportKind[transport],
		options: { execArgv: command },
	}, {});
	await client.start();
	say('server', client.serverProcess.pid);
	say('answer', await client.sendRequest('hosts/echo', 'grüße \u{1F600}'));
	say('ready');
	process.stdin.on('data', async () => {
		const begin = performance.now();
		await client.stop();
		say('stopped', Math.round(performance.now() - begin));
	});
}

main().catch(e => {
	console.error(e);
	process.exit(1);
});
