#include "runtime/protocol/json/builder.h"

#include <charconv>

#include "runtime/base/check.h"
#include "runtime/protocol/json/reader.h"

namespace wf::json {

void Builder::Separate() {
  if (!after_name_ && depth_ > 0) {
    if (has_members_[depth_ - 1]) out_->Put(",", 1);
    has_members_[depth_ - 1] = true;
    if (on_line_) out_->Put("\n", 1);
  }
  after_name_ = on_line_ = false;
}

Builder& Builder::Open(char mark) {
  WF_CHECK(depth_ < kMostDepth);
  Separate();
  out_->Put(&mark, 1);
  has_members_[depth_] = false;
  closes_[depth_++] = mark == '{' ? '}' : ']';
  return *this;
}

Builder& Builder::End() {
  WF_CHECK(depth_ > 0);
  out_->Put(&closes_[--depth_], 1);
  on_line_ = false;
  return *this;
}

Builder& Builder::Name(std::string_view name) {
  Text(name);
  out_->Put(":", 1);
  after_name_ = true;
  return *this;
}

Builder& Builder::Plain(std::string_view text) {
  Separate();
  out_->Put(text.data(), text.size());
  return *this;
}

Builder& Builder::Text(std::string_view text) {
  Separate();
  PutString(out_, text);
  return *this;
}

Builder& Builder::Number(int64_t number) {
  char digits[24];
  return Plain({digits, static_cast<size_t>(std::to_chars(digits, digits + sizeof digits, number).ptr - digits)});
}

Builder& Builder::Thousandths(int64_t number) {
  char digits[32];
  char* at = digits;
  if (number < 0) *at++ = '-';
  const uint64_t size = number < 0 ? UINT64_C(0) - static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
  at = std::to_chars(at, digits + sizeof digits, size / 1000).ptr;
  *at++ = '.';
  for (const uint64_t unit : {100, 10, 1}) *at++ = static_cast<char>('0' + size / unit % 10);
  return Plain({digits, static_cast<size_t>(at - digits)});
}

Builder& Builder::Line() {
  on_line_ = true;
  return *this;
}

}  // namespace wf::json
