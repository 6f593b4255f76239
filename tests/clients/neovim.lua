-- Attaches the server to the file Neovim was started with and writes down what the user would see.
local seen = {}

local function finish(problem)
  if problem then
    io.stderr:write(problem .. '\n')
    vim.cmd('cquit')
  end
  vim.fn.writefile({ vim.fn.json_encode(seen) }, 'seen.json')
  vim.cmd('qall!')
end

local function run()
  local client = vim.lsp.start_client({
    name = 'aten_lens',
    cmd = { vim.env.ATEN_LENS, 'lsp' },
    root_dir = vim.fn.getcwd(),
    workspace_folders = { { uri = vim.uri_from_fname(vim.fn.getcwd()), name = 'rmsnorm' } },
    on_exit = function() seen.ended = true end,
  })
  assert(client, 'the server did not start')
  vim.bo.filetype = 'python'
  assert(vim.lsp.buf_attach_client(0, client), 'the server was not attached')
  assert(vim.wait(15000, function() return #vim.diagnostic.get(0) > 0 end, 50), 'no findings within 15 s')

  local function ask(method, params)
    local answers = assert(vim.lsp.buf_request_sync(0, method, params, 5000), 'no answer to ' .. method)
    local answer = assert(answers[client], 'no answer to ' .. method)
    assert(not answer.err, vim.inspect(answer.err))
    return answer.result
  end

  seen.findings = vim.tbl_map(function(finding)
    return { code = finding.code or finding.user_data.lsp.code, line = finding.lnum, message = finding.message }
  end, vim.diagnostic.get(0))

  local document = vim.lsp.util.make_text_document_params()
  seen.lenses = vim.tbl_map(function(lens) return lens.command.title end, ask('textDocument/codeLens', { textDocument = document }))
  seen.hover = ask('textDocument/hover', { textDocument = document, position = { line = 8, character = 10 } }).contents.value

  local here = { line = 3, character = 4 }
  local fixes = ask('textDocument/codeAction', {
    textDocument = document,
    range = { start = here, ['end'] = here },
    context = { diagnostics = vim.lsp.diagnostic.get_line_diagnostics(0, 3) },
  })
  seen.fixes = vim.tbl_map(function(fix) return fix.title end, fixes)
  for _, fix in ipairs(fixes) do
    if fix.title:find('torch.rms_norm', 1, true) then
      vim.lsp.util.apply_workspace_edit(fix.edit, vim.lsp.get_client_by_id(client).offset_encoding)
    end
  end
  seen.fixed = vim.api.nvim_buf_get_lines(0, 0, -1, false)

  vim.lsp.stop_client(client)
  vim.wait(5000, function() return seen.ended end, 20)
end

local fine, problem = pcall(run)
finish(not fine and tostring(problem) or nil)
