#include "runtime/model/budget.h"

#include <fmt/format.h>

namespace wf::model {

using base::Status;

void Budget::Begin(int64_t most_bytes, const base::Wanted* wanted) {
  if (__builtin_add_overflow(bytes_, most_bytes, &most_bytes_)) most_bytes_ = INT64_MAX;
  wanted_ = wanted;
  turns_ = 0;
}

Status Budget::Turn() {
  if (turns_ == most_turns_) return Status(base::kAborted, fmt::format("more than {} turns of loops in one run", most_turns_));
  ++turns_;
  return Status::Ok();
}

Status Budget::Check() const {
  return wanted_ == nullptr || wanted_->IsWanted() ? Status::Ok() : Status(base::kCancelled, "nobody waits for it any more");
}

bool Budget::Claim(int64_t bytes) noexcept {
  if (bytes > most_bytes_ - bytes_ || (shared_ != nullptr && !shared_->Claim(bytes))) return false;
  bytes_ += bytes;
  return true;
}

void Budget::Unclaim(int64_t bytes) noexcept {
  if (shared_ != nullptr) shared_->Unclaim(bytes);
  bytes_ -= bytes;
}

Status Budget::Refusal(int64_t bytes) const {
  if (bytes > most_bytes_ - bytes_)
    return Status(base::kOutOfRange, fmt::format("{} bytes more than it has, and the request may not have as many", bytes));
  return Status(base::kResourceExhausted, fmt::format("no memory for {} bytes of activations", bytes));
}

}  // namespace wf::model
