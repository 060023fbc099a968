#pragma once

#include <string_view>

#include "runtime/abi/view.h"
#include "runtime/nodes/scratch.h"

namespace wf::nodes {

inline wf_bytes BytesOf(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

// A text that is put together of parts, in the job's memory.
// Thread: confined to the call.   Errors: false when the budget is spent (recorded).   Cost: O(its length).
class TextBuilder {
 public:
  explicit TextBuilder(wf_ctx* ctx) : text_(ctx) {}
  bool Reserve(uint64_t bytes) { return text_.Reserve(bytes); }
  bool Add(std::string_view part) {
    const uint64_t size = text_.size();
    if (!text_.Reserve(size + part.size())) return false;
    if (!part.empty()) std::memcpy(text_.data() + size, part.data(), part.size());
    text_.Resize(size + part.size());
    return true;
  }
  wf_bytes Take() { return BytesOf({text_.data(), text_.size()}); }

 private:
  Scratch<char> text_;
};

}  // namespace wf::nodes
