#include "compiler/lsp/watch.h"

namespace wf::lsp {
namespace {

// By name alone: patterns count from the workspace's folders, and the file may lie beside them.
std::string PatternOf(const std::string& path) {
  std::string name = path.substr(path.rfind('/') + 1);
  for (char& c : name) {
    if (std::string_view("*?[]{}\\").find(c) != std::string_view::npos) c = '?';
  }
  return "**/" + json::fixUTF8(name);
}

}  // namespace

std::optional<json::Object> Watch::Missing(const std::map<std::string, Document>& documents) {
  std::set<std::string> wanted = {"**/*.wf", "**/*.onnx"};
  for (const auto& [uri, document] : documents) {
    if (!document.analysis) continue;
    for (const std::string& file : document.analysis->embedded()) {
      if (!file.ends_with(".onnx") && !file.ends_with('/')) wanted.insert(PatternOf(file));
    }
  }
  json::Array watchers;
  for (const std::string& pattern : wanted) {
    if (patterns_.insert(pattern).second) watchers.push_back(json::Object{{"globPattern", pattern}});
  }
  if (watchers.empty()) return std::nullopt;
  return json::Object{{"registrations", json::Array{json::Object{{"id", "files-" + std::to_string(++registrations_)},
                                                                 {"method", "workspace/didChangeWatchedFiles"},
                                                                 {"registerOptions", json::Object{{"watchers", std::move(watchers)}}}}}}};
}

}  // namespace wf::lsp
