#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>

#include "runtime/nodes/stop.h"

namespace wf::nodes {

// Where `part` next stands in `text`, from `from` on; npos: nowhere. False once the job is stopped.
// Cost: O(text), whatever the two are: `find` of the standard library compares all of `part` at each place that begins like it.
inline bool FindNext(const wf_ctx* ctx, std::string_view text, std::string_view part, size_t from, size_t* at) {
  constexpr size_t kStep = 256 * 1024;
  *at = part.empty() ? from : text.npos;
  if (part.empty()) return true;
  const size_t step = std::max(kStep, part.size());
  for (size_t done = from; done < text.size() && text.size() - done >= part.size(); done += step) {
    const std::string_view window = text.substr(done, step + part.size() - 1);
    const void* const found = memmem(window.data(), window.size(), part.data(), part.size());
    if (found != nullptr) {
      *at = static_cast<size_t>(static_cast<const char*>(found) - text.data());
      return true;
    }
    if (Stopped(ctx)) return false;
  }
  return true;
}

}  // namespace wf::nodes
