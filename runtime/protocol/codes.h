#pragma once

#include <cstddef>
#include <string_view>

#include "runtime/abi/plan.h"
#include "runtime/base/error_codes.h"
#include "runtime/bus/failure.h"

namespace wf::protocol {

// Refused for room that other requests take: worth asking again soon.
inline bool IsForLoad(wf_code code) { return code == code::kRefused; }

using base::CodeInfo;

// What a code is called and which canonical status it has: the program's own declarations, then those of the framework.   Cost: O(log
// declared).
CodeInfo InfoOf(const wf_plan& plan, wf_code code);

// What became of a call.
struct Answer {
  wf_code code = 0;  // 0: fine
  int status = 200;
  std::string_view reason = {};        // why it failed, for the log; in the bus's memory
  std::string_view path = {};          // of the failed node, as long as the bus lives; empty: none
  std::string_view content_type = {};  // empty: JSON
};

inline constexpr size_t kMostMessage = 65536;  // of an error: it may quote what a client sent, and is written on the loop

// What an error answer says, whatever its wire form.
struct ErrorText {
  wf_code code = 0;
  std::string_view name;
  std::string_view message;
  std::string_view path;  // of the failed node; empty: none
  uint64_t data_id = 0;
  std::string_view log_id;
  std::string_view text() const { return message.empty() ? name : message; }
};

}  // namespace wf::protocol
