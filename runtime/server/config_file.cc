#include "runtime/server/yaml.h"

#include <yaml.h>

namespace wf::server {
namespace {

// Events of libyaml, freed as they are replaced.
class Events {
 public:
  explicit Events(std::string_view text) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
  }
  ~Events() {
    if (has_event_) yaml_event_delete(&event_);
    yaml_parser_delete(&parser_);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  bool Next() {
    if (has_event_) yaml_event_delete(&event_);
    has_event_ = yaml_parser_parse(&parser_, &event_) == 1;
    return has_event_;
  }
  yaml_event_type_t type() const { return event_.type; }
  int line() const { return static_cast<int>(event_.start_mark.line) + 1; }
  std::string scalar() const { return {reinterpret_cast<const char*>(event_.data.scalar.value), event_.data.scalar.length}; }
  std::string Problem() const {
    const int line = static_cast<int>(parser_.problem_mark.line) + 1;
    return std::to_string(line) + ": not YAML: " + (parser_.problem == nullptr ? "cannot be read" : parser_.problem);
  }

 private:
  yaml_parser_t parser_;
  yaml_event_t event_;
  bool has_event_ = false;
};

base::Status At(int line, const std::string& message) { return {base::kInvalidArgument, std::to_string(line) + ": " + message}; }

std::string Joined(const std::vector<std::string>& path, const std::string& key) {
  std::string joined;
  for (const std::string& part : path) joined += part + ".";
  return joined + key;
}

}  // namespace

base::Result<std::vector<YamlEntry>> ReadYaml(std::string_view text) {
  constexpr size_t kMaxDepth = 8;
  std::vector<YamlEntry> entries;
  Events events(text);
  std::vector<std::string> path;  // keys of the mappings that are open, but for the root's
  std::string key;
  bool in_root = false, has_key = false;
  while (events.Next()) {
    const int line = events.line();
    switch (events.type()) {
      case YAML_SCALAR_EVENT:
        if (!in_root) {
          if (events.scalar().empty()) break;  // a file without content
          return At(line, "expected `key: value`");
        }
        if (has_key)
          entries.push_back({Joined(path, key), events.scalar(), line});
        else
          key = events.scalar();
        has_key = !has_key;
        break;
      case YAML_MAPPING_START_EVENT:
        if (in_root && !has_key) return At(line, "expected a key, found a mapping");
        if (path.size() == kMaxDepth) return At(line, "nested deeper than 8");
        if (in_root) path.push_back(key);
        in_root = true;
        has_key = false;
        break;
      case YAML_MAPPING_END_EVENT:
        if (path.empty())
          in_root = false;
        else
          path.pop_back();
        break;
      case YAML_SEQUENCE_START_EVENT:
        return At(line, in_root && has_key ? "expected a value for `" + Joined(path, key) + "`, found a list"
                                           : "expected `key: value`, found a list");
      case YAML_ALIAS_EVENT:
        return At(line, "expected a value, found an alias");
      case YAML_STREAM_END_EVENT:
        return entries;
      default:
        break;
    }
  }
  return base::Status(base::kInvalidArgument, events.Problem());
}

}  // namespace wf::server
