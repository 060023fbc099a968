#pragma once

#include <string>

#include "runtime/base/status.h"

namespace wf::link {

// What the compiler wrote into a server about itself: a JSON object, as `lower` describes the program. Reads any file safely: nothing of it
// is trusted, and at most 64 MiB of notes are looked at. Errors: kNotFound: no such file; kInvalidArgument: not an ELF file of x86-64, or
// without the note.
base::Result<std::string> ReadNote(const std::string& path);

}  // namespace wf::link
