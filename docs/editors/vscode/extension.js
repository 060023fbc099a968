// Starts `wfc lsp`, which does all the work.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function activate() {
  const command = vscode.workspace.getConfiguration("wf").get("wfc", "wfc");
  const options = {
    documentSelector: [{ language: "wf" }],
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.{wf,onnx}") },
  };
  client = new LanguageClient("wf", "wfc lsp", { command, args: ["lsp"] }, options);
  return client.start();
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
