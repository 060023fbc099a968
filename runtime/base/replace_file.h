#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "runtime/base/status.h"

namespace wf::base {

// Makes these the bytes of the file, in one step: there are those from before, or these. Where the path is a link, what it leads to; what
// is there and no regular file, as /dev/stdout, is written straight. Permissions stay those that it had, else the umask's. It is not waited
// for the disk: after a power failure the file may be empty.
// Errors: why it cannot be written, without the path; nothing is left beside it then.
Status ReplaceFile(const std::string& path, std::span<const uint8_t> bytes);

}  // namespace wf::base
