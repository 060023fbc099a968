#pragma once

#include <sys/socket.h>

#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace wf::load {

// Where requests go: http://HOST[:PORT][/PATH].
struct Target {
  std::string host;  // as the URL has it, with its port: what the Host field says
  std::string path = "/";
  sockaddr_storage address{};
  socklen_t address_bytes = 0;
};

// Looks the host up. A URL without `http://` is taken for one, as curl does.
// Errors: kInvalidArgument: it is none, or one of another scheme; kNotFound: no such host.
base::Result<Target> ParseUrl(std::string_view url);

}  // namespace wf::load
