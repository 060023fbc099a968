#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/load/target.h"
#include "runtime/base/status.h"

namespace wf::load {

// Until the descriptor is ready for `events` of poll, or fails, which who reads it then sees. False when the time (of base::SystemClock) is
// over first.
bool WaitFor(int fd, short events, int64_t until_ns);

// One request over a connection of its own, which it asks to be closed. The bytes of the answer, up to 64 MiB.
// Errors: kUnavailable: nothing listens, or nothing came; kDeadlineExceeded.
base::Result<std::string> Exchange(const sockaddr_storage& address, socklen_t address_bytes, std::string_view request, int64_t within_ns);

// The body of the answer to a GET.   Errors: as above; kNotFound: an answer other than 200.
base::Result<std::string> Fetch(const Target& target, int64_t within_ns);

}  // namespace wf::load
