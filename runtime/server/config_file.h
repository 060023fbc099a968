#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace wf::server {

// One `key: value` of a configuration file, with the keys of the mappings around it.
struct ConfigEntry {
  std::vector<std::string> path;  // {"limits", "connections"}; at least one
  std::string value;
  int line = 0;                      // of the key, from 1
  bool no_value = false;             // nothing, `~` or `null`, not quoted
  bool is_section = false;           // `{}`: a mapping without keys
  std::string problem;               // in place of a value, perhaps without a path
  std::vector<int> section_lines{};  // of the keys of the mappings around it, as many as stand in `path` before its own
  std::string key() const;           // "limits.connections"
};

// Reads YAML mappings of scalars and nothing else, in the order of the text.
// Errors: entries with a problem: "expected a value for `host`, found a list". Not YAML, not UTF-8, lists, aliases, tags, a second
// document: the last one. A key that comes twice: the second time. Bounds: nested at most 8 deep; keys of 256 and values of 4,096 bytes;
// the caller bounds the text.
std::vector<ConfigEntry> ReadConfig(std::string_view text);

inline constexpr size_t kMaxConfigBytes = size_t{1} << 20;
// The whole file. `again`: it was read before; what is no regular file has given all it had then, and is not waited for.
// Errors: it cannot be read, and why; it is larger than kMaxConfigBytes.
base::Result<std::string> ReadConfigFile(const std::string& path, bool again = false);

// `text` for a message: cut, control characters replaced, in backticks.
std::string Quoted(std::string_view text);
// "; did you mean `x`", or empty.
std::string DidYouMean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace wf::server
