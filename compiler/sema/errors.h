#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "runtime/base/error_codes.h"

namespace wf::sema {

struct BuiltInError {
  std::string_view name;
  int32_t code;
  std::string_view message;
};
// Errors that every program knows (docs/semantics.md 35).
inline constexpr std::array<BuiltInError, 7> kBuiltInErrors = {{{"InputParams", code::kInputParams, "the input does not fit"},
                                                                {"Timeout", code::kTimeout, "the time is over"},
                                                                {"Type", code::kType, "a value does not fit its type"},
                                                                {"Rpc", code::kRpc, "a remote call failed"},
                                                                {"Inference", code::kInference, "a model failed"},
                                                                {"Refused", code::kRefused, "the server has no room"},
                                                                {"Cancelled", code::kCancelled, "the request was cancelled"}}};

}  // namespace wf::sema
