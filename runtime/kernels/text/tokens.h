#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace wf::kernels {

// Takes strings apart: into what lies between matches of separators, one after the other, or, where there are none, into the matches of an
// expression. Both are as RE2 writes them. One empty separator: each character is a token. What has fewer characters than `least` is left
// out. A match of nothing takes the character behind it away.
// Thread: thread-safe.   Cost: linear in the string, for each separator.
class Tokeniser {
 public:
  // Errors: kUnimplemented, what is none of RE2.
  static base::Result<std::unique_ptr<Tokeniser>> Make(std::span<const std::string> separators, const std::string& expression,
                                                       int64_t least);
  virtual ~Tokeniser() = default;
  virtual void ForEach(std::string_view text, const std::function<void(std::string_view)>& use) const = 0;
};

}  // namespace wf::kernels
