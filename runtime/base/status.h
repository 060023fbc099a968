#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/base/check.h"

namespace wf::base {

enum class StatusCode : int {
#define STATUS(name, written, grpc, http) name = grpc,
#include "runtime/base/status_codes.def"
#undef STATUS
};
using enum StatusCode;

int HttpStatus(StatusCode code);  // of the plain JSON protocol; other protocols have tables of their own

// The outcome of something that the world can make fail: a file, a peer, a limit. Never used for mistakes in a .wf text (diag) or for bugs
// (WF_CHECK).   Thread: confined, as a std::string is.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}
  static Status Ok() { return {}; }

  bool ok() const { return code_ == kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }  // lower case, no full stop; names the file or peer

 private:
  StatusCode code_ = kOk;
  std::string message_;
};

// A value, or the reason why there is none.   Thread: confined, as its value is.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}                                    // NOLINT: implicit, so that `return value;` reads well
  Result(Status status) : status_(std::move(status)) { WF_CHECK(!status_.ok()); }  // NOLINT

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  // REQUIRES: ok()
  T& operator*() & {
    WF_CHECK(ok(), status_.message());
    return *value_;
  }
  const T& operator*() const& {
    WF_CHECK(ok(), status_.message());
    return *value_;
  }
  T&& operator*() && {
    WF_CHECK(ok(), status_.message());
    return std::move(*value_);
  }
  T* operator->() {
    WF_CHECK(ok(), status_.message());
    return &*value_;
  }
  const T* operator->() const {
    WF_CHECK(ok(), status_.message());
    return &*value_;
  }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace wf::base

// Leaves the function with the status of `expr` when it failed.
#define WF_RETURN_IF_ERROR(expr)                                       \
  do {                                                                 \
    if (auto wf_status_ = (expr); !wf_status_.ok()) return wf_status_; \
  } while (0)
