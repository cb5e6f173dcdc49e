// What hosts made with Node do to their servers.
//
// node-host.js WHAT COMMAND [ARGUMENT ...]
//   WHAT, what it does when the server says `ready` in ./log or by IPC:
//   plain     nothing
//   detached  nothing; the server has been begun with detached: true
//   group=SIG, tree=SIG   kills the whole group (detached), or with the package
//             tree-kill
//   abort     an AbortController aborts
//   ipc       an IPC channel: sends three messages of each kind, disconnects
//   ipc-stay  the same, but goes on
// stdout: `front PID`, `got MESSAGE`, `end CODE SIGNAL`
const { spawn } = require('child_process');
const fs = require('fs');
const net = require('net');

const [what, command, ...args] = process.argv.slice(2);
const [verb, signal] = what.split('=');
const say = (...words) => console.log(words.join(' '));
const ipc = verb.startsWith('ipc');
const control = new AbortController();

const server = spawn(command, args, {
	detached: verb === 'detached' || verb === 'group',
	signal: control.signal,
	stdio: ipc ? ['pipe', 'inherit', 'inherit', 'ipc'] : 'inherit',
});
say('front', server.pid);
server.on('error', e => say('error', e.name));
server.on('exit', (code, sig) => {
	say('end', code, sig);
	process.exit();
});

async function ready() {
	if (ipc)
		return;
	for (;;) {
		try {
			if (/^ready/m.test(fs.readFileSync('log', 'latin1')))
				return;
		} catch {
			// It is not there yet.
		}
		await new Promise(resolve => setTimeout(resolve, 20));
	}
}

function talk() {
	let left = 4;
	server.on('message', message => {
		if (message === 'ready') {
			server.send('grüße \u{1F600}');
			server.send({ n: [1, null] });
			server.send('x'.repeat(1 << 20));
			const listener = net.createServer(socket => {
				server.send('a socket', socket);
				listener.close();
			}).listen(0, '127.0.0.1', () => {
				net.connect(listener.address().port, '127.0.0.1')
					.on('data', data => say('socket', String(data).trim()));
			});
			return;
		}
		say('got', message.length, JSON.stringify(message.echo).slice(0, 30));
		if (--left === 0 && verb === 'ipc')
			setTimeout(() => server.disconnect(), 200);
		if (left === 0)
			say('talked');
	});
}

async function main() {
	if (ipc)
		return talk();
	await ready();
	say('ready');
	if (verb === 'group')
		process.kill(-server.pid, signal);
	else if (verb === 'tree')
		require('tree-kill')(server.pid, signal);
	else if (verb === 'abort')
		control.abort();
	setInterval(() => {}, 1 << 30);
}
main();
