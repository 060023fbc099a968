#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace wf::server {

// One `key: value` of a file; the keys of the mappings around it come before it, joined by dots.
struct YamlEntry {
  std::string key;
  std::string value;
  int line = 0;  // from 1
};

// Reads mappings of scalars, nested at most 8 deep. The message begins with the line: "3: expected a value for `host`, found a list".
base::Result<std::vector<YamlEntry>> ReadYaml(std::string_view text);

}  // namespace wf::server
