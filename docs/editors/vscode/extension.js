// Starts `wfc lsp`, which does all the work.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function activate() {
  const command = vscode.workspace.getConfiguration("wf").get("wfc", "wfc");
  client = new LanguageClient("wf", "wfc lsp", { command, args: ["lsp"] }, { documentSelector: [{ scheme: "file", language: "wf" }, { scheme: "untitled", language: "wf" }] });
  try {
    return await client.start();
  } catch (error) {
    client = undefined;
    vscode.window.showErrorMessage(`\`${command} lsp\` does not start: ${error.message}. The setting \`wf.wfc\` says where wfc is.`);
  }
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
