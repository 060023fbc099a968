#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/abi/plan.h"
#include "runtime/abi/view.h"

namespace wf::fake {

// A job that allocates until its limit and keeps its first failure: what wf_alloc and wf_fail see in tests without a bus.
struct Job {
  wf_ctx head{&stop};  // first
  uint32_t stop = 0;
  uint64_t left_bytes = uint64_t{64} << 20;
  wf_code code = 0;
  std::string message;
  std::vector<std::unique_ptr<uint8_t[]>> blocks;

  wf_ctx* ctx() { return &head; }
};

// A text with the 64 readable bytes behind it that readers may touch.
class Body {
 public:
  explicit Body(std::string_view text) : bytes_(text), size_(text.size()) { bytes_.append(64, '\0'); }
  wf_bytes view() const { return {reinterpret_cast<const uint8_t*>(bytes_.data()), size_}; }

 private:
  std::string bytes_;
  size_t size_;
};

using abi::View;
inline wf_bytes Bytes(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

}  // namespace wf::fake
