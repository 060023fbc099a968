#include "compiler/lsp/server.h"

#include <llvm/Support/raw_ostream.h>
#include <malloc.h>

#include "compiler/base/nesting.h"
#include "compiler/lsp/change.h"
#include "compiler/lsp/requests.h"
#include "compiler/lsp/transport.h"
#include "compiler/lsp/watch.h"

namespace wf::lsp {
namespace {

// Of JSON-RPC and LSP.
constexpr int kParseError = -32700, kInvalidRequest = -32600, kMethodNotFound = -32601, kInvalidParams = -32602, kNotInitialized = -32002,
              kRequestFailed = -32803;
constexpr int kMaxNesting = 500;
constexpr int kPauseMs = 1000;  // of someone who does not type

// What large files needed while they were checked or open; the allocator would keep it for the next one.
void GiveMemoryBack() {
  constexpr size_t kWorthIt = size_t{8} << 20;
  if (mallinfo2().fordblks > kWorthIt) malloc_trim(0);
}

std::string Dump(const json::Value& value) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << value;
  return text;
}

std::optional<json::Value> ParseMessage(const std::string& body) {
  if (!source::NestsWithin(body, kMaxNesting)) return std::nullopt;
  auto value = json::parse(body);
  if (value) return std::move(*value);
  llvm::consumeError(value.takeError());
  return std::nullopt;
}

json::Value Capabilities(const std::string& version) {
  json::Object capabilities{
      {"positionEncoding", "utf-16"},
      {"textDocumentSync", json::Object{{"openClose", true}, {"change", 2}, {"save", true}}},
      {"hoverProvider", true},
      {"definitionProvider", true},
      {"referencesProvider", true},
      {"documentHighlightProvider", true},
      {"renameProvider", json::Object{{"prepareProvider", true}}},
      {"completionProvider", json::Object{{"triggerCharacters", json::Array{".", "\"", "/"}}}},
      {"signatureHelpProvider", json::Object{{"triggerCharacters", json::Array{"(", ","}}}},
      {"documentSymbolProvider", true},
      {"workspaceSymbolProvider", true},
      {"foldingRangeProvider", true},
      {"documentFormattingProvider", true},
      {"codeActionProvider", json::Object{{"codeActionKinds", json::Array{"quickfix"}}}},
      {"semanticTokensProvider", json::Object{{"legend", TokenLegend()}, {"full", true}}},
      {"inlayHintProvider", true},
      {"workspace", json::Object{{"workspaceFolders", json::Object{{"supported", true}, {"changeNotifications", true}}}}}};
  return json::Object{{"capabilities", std::move(capabilities)}, {"serverInfo", json::Object{{"name", "wfc"}, {"version", version}}}};
}

enum class Subject : uint8_t { kAll, kFile, kPlace, kRange };

bool IsPlace(const json::Object* place) {
  const auto is_count = [&](const char* name) { return place->getInteger(name).value_or(-1) >= 0; };
  return place != nullptr && is_count("line") && is_count("character");
}

// What the parameters lack of what is asked about; empty: nothing.
std::string_view Missing(Subject subject, const json::Object& params) {
  const json::Object* document = params.getObject("textDocument");
  const json::Object* range = params.getObject("range");
  if (subject != Subject::kAll && (document == nullptr || !document->getString("uri"))) return "`textDocument` with a `uri` is wanted";
  if (subject == Subject::kPlace && !IsPlace(params.getObject("position")))
    return "a `position` with a `line` and a `character` is wanted, both from 0";
  if (subject == Subject::kRange && (range == nullptr || !IsPlace(range->getObject("start")) || !IsPlace(range->getObject("end"))))
    return "a `range` with `start` and `end` is wanted, each with a `line` and a `character` from 0";
  return "";
}

std::vector<std::string> UrisOf(const json::Array* folders) {
  std::vector<std::string> uris;
  for (size_t at = 0; folders != nullptr && at < folders->size(); ++at) {
    const json::Object* folder = (*folders)[at].getAsObject();
    const auto uri = folder != nullptr ? folder->getString("uri") : std::nullopt;
    if (uri) uris.push_back(uri->str());
  }
  return uris;
}

// Whether the editor says that it can do what the capability of that path means.
bool Can(const json::Object& params, std::initializer_list<const char*> path) {
  const json::Object* part = params.getObject("capabilities");
  for (const char* const* name = path.begin(); part != nullptr && name + 1 != path.end(); ++name) part = part->getObject(*name);
  return part != nullptr && part->getBoolean(*std::prev(path.end())).value_or(false);
}

class Server {
 public:
  Server(int in, int out, Host host)
      : transport_(in, out, [this](std::string_view message) { Complain(message); }), workspace_(std::move(host)) {}

  int Run() {
    while (!exited_) {
      if (!transport_.Waiting()) {
        Publish();
        workspace_.FreeStale();  // once the editor has its answer
        if (!transport_.Waiting(kPauseMs)) GiveMemoryBack();
      }
      const auto body = transport_.Read();
      if (!body) break;
      was_spoken_to_ = true;
      Take(*body);
    }
    if (!was_spoken_to_) Complain("the input ends before any message of LSP: `wfc lsp` is started by an editor");
    return exited_ && shut_down_ ? 0 : 1;
  }

 private:
  void Complain(std::string_view message) const {
    if (workspace_.host().complain) workspace_.host().complain(message);
  }
  void Send(json::Object message) {
    message["jsonrpc"] = "2.0";
    transport_.Write(Dump(std::move(message)));
  }
  void Fail(json::Value id, int code, std::string text) {
    Send(json::Object{{"id", std::move(id)}, {"error", json::Object{{"code", code}, {"message", std::move(text)}}}});
  }

  void Take(const std::string& body) {
    const auto message = ParseMessage(body);
    if (!message) return Fail(nullptr, kParseError, "the message is no JSON, or too large");
    if (const json::Object* one = message->getAsObject()) return Handle(*one);
    const bool several = message->getAsArray() != nullptr;
    Fail(nullptr, kInvalidRequest, several ? "LSP has no batches; each message comes alone" : "a message is a JSON object");
  }

  void Handle(const json::Object& message) {
    const auto method = message.getString("method");
    const json::Value* id = message.get("id");
    if (!method) {
      if (message.get("result") == nullptr && message.get("error") == nullptr)
        Fail(id != nullptr ? *id : nullptr, kInvalidRequest, "no method");
      return;
    }
    static const json::Object kNone;
    const json::Object* params = message.getObject("params");
    if (id != nullptr) {
      Request(method->str(), params != nullptr ? *params : kNone, *id);
    } else {
      Notify(method->str(), params != nullptr ? *params : kNone);
    }
  }

  // What the editor says of itself.
  void Meet(const json::Object& params) {
    can_watch_ = Can(params, {"workspace", "didChangeWatchedFiles", "dynamicRegistration"});
    workspace_.knows_versioned_edits = Can(params, {"workspace", "workspaceEdit", "documentChanges"});
    workspace_.knows_label_offsets =
        Can(params, {"textDocument", "signatureHelp", "signatureInformation", "parameterInformation", "labelOffsetSupport"});
    if (const json::Array* folders = params.getArray("workspaceFolders")) {
      AddFolders(folders);
    } else if (const auto root = params.getString("rootUri")) {  // of older editors
      workspace_.AddFolder(root->str());
    }
  }

  void AddFolders(const json::Array* folders) {
    for (const std::string& uri : UrisOf(folders)) workspace_.AddFolder(uri);
  }

  void ChangeFolders(const json::Object* event) {
    if (event == nullptr) return;
    for (const std::string& uri : UrisOf(event->getArray("removed"))) workspace_.RemoveFolder(uri);
    AddFolders(event->getArray("added"));
  }

  void Request(const std::string& method, const json::Object& params, const json::Value& id) {
    if (method == "initialize") {
      if (initialized_) return Fail(id, kInvalidRequest, "`initialize` comes once");
      initialized_ = true;
      Meet(params);
      return Send(json::Object{{"id", id}, {"result", Capabilities(workspace_.host().version)}});
    }
    if (!initialized_) return Fail(id, kNotInitialized, "`initialize` comes first");
    if (shut_down_) return Fail(id, kInvalidRequest, "the server is shut down");
    if (method == "shutdown") {
      shut_down_ = true;
      return Send(json::Object{{"id", id}, {"result", nullptr}});
    }
    std::optional<Answer> answer;
    std::string_view missing;
#define REQUEST(name, subject, function)                        \
  if (method == name) {                                         \
    missing = Missing(Subject::subject, params);                \
    if (missing.empty()) answer = function(workspace_, params); \
  }
#include "compiler/lsp/requests.def"
    if (!missing.empty()) return Fail(id, kInvalidParams, std::string(missing));
    if (!answer) return Fail(id, kMethodNotFound, "no method `" + method + "`");
    if (const Refusal* refusal = std::get_if<Refusal>(&*answer)) return Fail(id, kRequestFailed, refusal->why);
    Send(json::Object{{"id", id}, {"result", std::move(std::get<json::Value>(*answer))}});
  }

  void Notify(const std::string& method, const json::Object& params) {
    if (method == "exit") exited_ = true;
    const json::Object* document = params.getObject("textDocument");
    const auto uri = document != nullptr ? document->getString("uri") : std::nullopt;
    if (!initialized_ || shut_down_) return;
    if (method == "initialized") WatchFiles();
    if (method == "workspace/didChangeWatchedFiles" || method == "textDocument/didSave") workspace_.ForgetFiles();
    if (method == "workspace/didChangeWorkspaceFolders") ChangeFolders(params.getObject("event"));
    if (!uri) return;
    const int64_t version = document->getInteger("version").value_or(0);
    if (method == "textDocument/didOpen") {
      workspace_.Open(uri->str(), document->getString("text").value_or("").str(), version);
    } else if (method == "textDocument/didChange") {
      Change(uri->str(), params, version);
    } else if (method == "textDocument/didClose") {
      Close(uri->str());
    }
  }

  void Change(const std::string& uri, const json::Object& params, int64_t version) {
    const json::Array* changes = params.getArray("contentChanges");
    const Document* document = workspace_.Find(uri);
    if (changes == nullptr || document == nullptr) return;
    std::string text = document->text;
    for (const json::Value& change : *changes) ApplyChange(change, text);
    workspace_.Change(uri, std::move(text), version);
  }

  void Close(const std::string& uri) {
    for (json::Value& params : CloseDocument(workspace_, uri)) SendDiagnostics(std::move(params));
  }

  void SendDiagnostics(json::Value params) {
    Send(json::Object{{"method", "textDocument/publishDiagnostics"}, {"params", std::move(params)}});
  }

  // What changed, until more arrives.
  void Publish() {
    for (auto& [uri, document] : workspace_.documents()) {
      if (!document.to_publish) continue;
      for (json::Value& params : Diagnostics(workspace_, document)) SendDiagnostics(std::move(params));
      WatchFiles();
      if (transport_.Waiting()) return;
    }
  }

  void WatchFiles() {
    auto missing = can_watch_ ? watch_.Missing(workspace_.documents()) : std::nullopt;
    if (!missing) return;
    Send(json::Object{
        {"id", "watch-" + std::to_string(++requests_)}, {"method", "client/registerCapability"}, {"params", std::move(*missing)}});
  }

  Transport transport_;
  Workspace workspace_;
  Watch watch_;
  size_t requests_ = 0;  // of ours
  bool was_spoken_to_ = false, can_watch_ = false, initialized_ = false, shut_down_ = false, exited_ = false;
};

}  // namespace

int Serve(int in, int out, Host host) { return Server(in, out, std::move(host)).Run(); }

}  // namespace wf::lsp
