#include "compiler/base/nesting.h"

namespace wf::source {

bool NestsWithin(std::string_view json, int depth) {
  int open = 0;
  bool string = false;
  for (size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (string && c == '\\') {
      ++at;
    } else if (c == '"') {
      string = !string;
    } else if (!string) {
      open += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
      if (open > depth) return false;
    }
  }
  return true;
}

}  // namespace wf::source
