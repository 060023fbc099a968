#include "runtime/kernels/texts.h"

namespace wf::kernels {

namespace {

constexpr int64_t kKeepingBytes = 128;  // of a string: its object, and its place among the numbers

}  // namespace

Texts::Texts(std::span<const std::string> of_file, int64_t most_bytes) : of_file_(of_file), most_bytes_(most_bytes) {
  for (size_t i = 0; i < of_file.size(); ++i) numbers_.emplace(of_file[i], static_cast<int64_t>(i));
}

void Texts::Clear() {
  if (of_run_.empty()) return;
  for (const std::string& text : of_run_) numbers_.erase(text);
  of_run_.clear();
  bytes_ = 0;
}

int64_t Texts::Number(std::string_view text) {
  if (const auto found = numbers_.find(text); found != numbers_.end()) return found->second;
  const int64_t bytes = static_cast<int64_t>(text.size()) + kKeepingBytes;
  if (bytes > most_bytes_ - bytes_) return -1;
  bytes_ += bytes;
  const auto number = static_cast<int64_t>(of_file_.size() + of_run_.size());
  numbers_.emplace(of_run_.emplace_back(text), number);
  return number;
}

std::string_view Texts::At(int64_t number) const {
  const auto at = static_cast<uint64_t>(number);
  if (at < of_file_.size()) return of_file_[at];
  return at - of_file_.size() < of_run_.size() ? std::string_view(of_run_[at - of_file_.size()]) : std::string_view();
}

}  // namespace wf::kernels
