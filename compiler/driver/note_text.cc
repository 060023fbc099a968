#include "compiler/driver/note_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "compiler/diag/excerpt.h"
#include "compiler/driver/graph.h"
#include "compiler/driver/json_cursor.h"

namespace wf::driver {
namespace {

// Each member of an object; stops where the text is none.
template <typename F>
void ForMembers(std::string_view object, const F& f) {
  JsonCursor json(object);
  if (!json.Take('{')) return;
  do {
    const std::string key = json.Key();
    const std::string_view value = json.Value();
    if (json.ok()) f(key, value);
  } while (json.Take(','));
}

std::vector<std::string_view> ItemsOf(std::string_view array) {
  std::vector<std::string_view> items;
  JsonCursor json(array);
  if (!json.Take('[')) return items;
  do {
    const std::string_view item = json.Value();
    if (json.ok()) items.push_back(item);
  } while (json.Take(','));
  return items;
}

std::string_view Member(std::string_view object, std::string_view name) {
  std::string_view found;
  ForMembers(object, [&](const std::string& key, std::string_view value) {
    if (key == name) found = value;
  });
  return found;
}

std::string Text(std::string_view object, std::string_view name) { return diag::OneLine(JsonCursor(Member(object, name)).String()); }

std::string Ports(std::string_view array) {
  std::string text;
  for (const std::string_view port : ItemsOf(array)) {
    const Graph::Port shown{.name = Text(port, "name"),
                            .type = Text(port, "type"),
                            .default_value = Text(port, "written"),
                            .required = Member(port, "required") != "false"};
    text += (text.empty() ? "" : ", ") + Spelling(shown);
  }
  return "(" + text + ")";
}

std::string Signature(std::string_view call) { return Ports(Member(call, "in")) + " -> " + Ports(Member(call, "out")); }

std::string Service(std::string_view service) {
  const std::string name = Text(service, "name");
  std::string text = fmt::format("service {}\n", name);
  for (const std::string_view call : ItemsOf(Member(service, "calls"))) {
    const bool is_model = Member(call, "model") == "true";
    text += fmt::format("  {} {}{}\n", is_model ? "model" : "workflow", Text(call, "name"), Signature(call));
    text += fmt::format("      POST /{}/{}\n", name, Text(call, "name"));
  }
  return text;
}

std::string Errors(std::string_view errors) {
  std::string text = "errors\n";
  for (const std::string_view error : ItemsOf(errors))
    text += fmt::format("  {} {}: {}\n", Member(error, "code"), Text(error, "name"), Text(error, "message"));
  return text;
}

std::string Models(std::string_view models) {
  std::string text = "models\n";
  for (const std::string_view model : ItemsOf(models)) {
    text += fmt::format("  {}{}\n", Text(model, "name"), Signature(model));
    text += fmt::format("      `{}`, {}\n", Text(model, "path"), Member(model, "batched") == "true" ? "in batches" : "one call at a time");
  }
  return text;
}

}  // namespace

std::string NoteText(std::string_view note) {
  std::vector<std::string> parts{fmt::format("{}, built by wfc {} for {}\n  source {}\n  abi    {}\n", Text(note, "source"),
                                             Text(note, "compiler"), Text(note, "target_cpu"), Text(note, "source_hash"),
                                             Text(note, "abi"))};
  const std::string_view interface = Member(note, "interface");
  for (const std::string_view service : ItemsOf(Member(interface, "services"))) parts.push_back(Service(service));
  const std::string_view errors = Member(interface, "errors"), models = Member(note, "models");
  if (!ItemsOf(errors).empty()) parts.push_back(Errors(errors));
  if (!ItemsOf(models).empty()) parts.push_back(Models(models));
  return fmt::format("{}", fmt::join(parts, "\n"));
}

}  // namespace wf::driver
