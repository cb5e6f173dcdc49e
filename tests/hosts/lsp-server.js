// A language server that answers three requests; it ends as its library has it:
// by `exit`, or when the input ends. With the word `deaf` it never does, and
// has a child.
const { spawn } = require('child_process');
const { createConnection, ProposedFeatures } =
	require('vscode-languageserver/node');

if (process.argv.includes('deaf')) {
	process.exit = () => {};
	process.on('SIGTERM', () => {});
	spawn('sleep', ['300'], { stdio: 'ignore' });
	setInterval(() => {}, 1 << 30);
}
const connection = createConnection(ProposedFeatures.all);
connection.onInitialize(() =>
	({ capabilities: { hoverProvider: true, completionProvider: {} } }));
connection.onHover(() => ({ contents: 'grüße: says \u{1F600}' }));
connection.onCompletion(() => [{ label: 'greet' }]);
connection.onRequest('hosts/echo', text => `${text} from ${process.pid}`);
connection.listen();
