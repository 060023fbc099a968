#pragma once

#include <cstring>

namespace wf::base {

// The value that stands at an address of any alignment.
template <typename T>
T Load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace wf::base
