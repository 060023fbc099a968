#include "runtime/protocol/http1/repeats.h"

#include <cstring>

namespace wf::http1 {

bool Repeats::Take(std::span<const uint8_t>* input, http::Head* head) const {
  if (!known_ || input->size() < size_ || std::memcmp(input->data(), text_, size_) != 0) return false;
  if (!head->CopyOf(head_)) return false;
  *input = input->subspan(size_);
  return true;
}

bool Repeats::Note(std::span<const uint8_t> text) {
  if (size_ != 0 && text.size() == size_ && std::memcmp(text.data(), text_, size_) == 0) return true;
  known_ = false;
  size_ = text.size() <= kMostBytes ? text.size() : 0;
  std::memcpy(text_, text.data(), size_);
  return false;
}

void Repeats::Learn(const http::Head& head) { known_ = head_.CopyOf(head); }

}  // namespace wf::http1
