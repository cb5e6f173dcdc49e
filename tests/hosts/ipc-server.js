// What a Node program started with an IPC channel can do with it: answers each
// message, takes a socket, ends when the channel does.
process.on('message', (message, handle) => {
	if (handle)
		handle.end('taken\n');
	process.send({ echo: message, length: JSON.stringify(message).length });
});
process.on('disconnect', () => {
	console.log('disconnect');
	process.exit(3);
});
process.send('ready');
