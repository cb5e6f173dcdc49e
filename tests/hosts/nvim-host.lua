-- Neovim's LSP client with one file, greet.sh; read by nvim --headless.
-- The environment has SERVER, the command as a JSON array, in which MYPID is
-- Neovim's pid, and WHAT, what comes after the answers: stay, quit (:qa!), die
-- (:cquit), stop (the client stops), force (it stops by force).
-- ./said: `answer` and the whole answer as JSON, `completions N`,
-- `exit CODE SIGNAL`
local function say(...)
	local file = assert(io.open('said', 'a'))
	file:write(table.concat({...}, ' '), '\n')
	file:close()
end

local id = assert(vim.lsp.start_client {
	cmd = vim.json.decode((vim.env.SERVER:gsub('MYPID', vim.fn.getpid()))),
	root_dir = vim.fn.getcwd(),
	on_exit = function(code, signal) say('exit', code, signal) end,
	-- What a server that has just been found does with all files below.
	settings = { bashIde = { backgroundAnalysisMaxFiles = 0 } },
})
vim.lsp.buf_attach_client(0, id)
vim.wait(60000, function()
	local client = vim.lsp.get_client_by_id(id)
	return client and client.initialized
end, 20)

-- On the call of the function, whose comment is the answer.
local answer = vim.lsp.buf_request_sync(0, 'textDocument/hover', {
	textDocument = { uri = vim.uri_from_bufnr(0) },
	position = { line = 4, character = 1 },
}, 60000)
say('answer', vim.json.encode(answer[id].result))
-- The names of what it could complete.
answer = vim.lsp.buf_request_sync(0, 'textDocument/completion', {
	textDocument = { uri = vim.uri_from_bufnr(0) },
	position = { line = 4, character = 1 },
}, 60000)
say('completions', #answer[id].result)

if vim.env.WHAT == 'quit' then
	vim.cmd('qa!')
elseif vim.env.WHAT == 'die' then
	vim.cmd('cquit')
elseif vim.env.WHAT ~= 'stay' then
	vim.lsp.stop_client(id, vim.env.WHAT == 'force')
end
