#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace wf::base {

// Where what is written to a path goes. The one answer for everything that wfc and servers write.
struct Place {
  std::string path;                   // links followed, though nothing may be behind the last
  std::optional<mode_t> permissions;  // of what is there
  bool is_straight = false;           // a device, a pipe, or what is open already, as /dev/stdout: written to, never replaced
};

// Errors: kPermissionDenied: a folder, links in a circle, what is protected against writing.
Result<Place> PlaceOf(const std::string& path);

// Makes these the bytes of the file, in one step: there are those from before, or these. Permissions stay those that it had, else the
// umask's. It is not waited for the disk: after a power failure the file may be empty.
// Errors: why it cannot be written, without the path; nothing is left beside it then.
Status ReplaceFile(const std::string& path, std::string_view bytes);

Status WriteStraight(const std::string& path, std::string_view bytes);  // of such a place; what a file had before is gone

// Whether ReplaceFile may write there, as far as that is known before: of room on the disk it is not.
Status MayReplace(const std::string& path);

}  // namespace wf::base
