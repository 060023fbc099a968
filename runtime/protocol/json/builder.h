#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/base/sink.h"

namespace wf::json {

// JSON that is written member by member, with its commas.
// Thread: loop-confined.   Borrows: the sink, whose failure is the writer's.   Bounds: kMostDepth open objects and arrays.
class Builder {
 public:
  explicit Builder(wf_sink* out) : out_(out) {}

  Builder& Object() { return Open('{'); }
  Builder& Array() { return Open('['); }
  Builder& End();  // of the innermost
  Builder& Name(std::string_view name);
  Builder& Text(std::string_view text);
  Builder& Number(int64_t number);
  Builder& Thousandths(int64_t number);  // 1234 is 1.234
  Builder& Bool(bool value) { return Plain(value ? "true" : "false"); }
  Builder& Line();  // the next member begins a line of its own

 private:
  static constexpr int kMostDepth = 16;
  Builder& Open(char mark);
  Builder& Plain(std::string_view text);
  void Separate();

  wf_sink* const out_;
  int depth_ = 0;
  bool after_name_ = false, on_line_ = false;
  bool has_members_[kMostDepth] = {};
  char closes_[kMostDepth] = {};
};

}  // namespace wf::json
