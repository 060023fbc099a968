#pragma once

#include <string>
#include <vector>

namespace wf::diff {

// Keys of maps and of metadata: programs ask for them, and calls bring some.
inline const std::vector<std::string>& MapKeys() {
  static const std::vector<std::string> keys = {"a", "", "12", "b c"};
  return keys;
}
inline const std::vector<std::string>& MetaKeys() {
  static const std::vector<std::string> keys = {"m0", "m1", "m2"};
  return keys;
}

}  // namespace wf::diff
