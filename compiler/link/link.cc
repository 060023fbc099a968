#include "compiler/link/link.h"

#include <cctype>
#include <cerrno>
#include <deque>
#include <fstream>
#include <string_view>
#include <vector>

#include "compiler/base/ending.h"
#include "compiler/base/memory_file.h"
#include "compiler/base/partial_file.h"
#include "compiler/link/lld.h"
#include "runtime/base/system_error.h"

namespace wf::link {
namespace {

// The output cannot be written: told apart from a runtime archive that is missing.
base::Status Unwritable(const base::Status& status) {
  return {status.code() == base::kResourceExhausted ? base::kResourceExhausted : base::kPermissionDenied, status.message()};
}

// Lines of wf_link.txt as arguments; `@object@` and `@dir@` replaced.
base::Result<std::vector<std::string>> ReadPieces(const std::string& dir, const std::vector<std::string>& objects) {
  const std::string list = dir + "/wf_link.txt";
  errno = 0;
  std::ifstream file(list);
  if (!file && errno != 0 && errno != ENOENT) return base::Status(base::kNotFound, "`" + list + "`: " + base::TextOfErrno(errno));
  if (!file) return base::Status(base::kNotFound, "`" + list + "` is missing: no runtime was built for this compiler");
  std::vector<std::string> pieces;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (const size_t at = line.find("@dir@"); at != std::string::npos) line.replace(at, 5, dir);
    if (line == "@object@") {
      pieces.insert(pieces.end(), objects.begin(), objects.end());
    } else {
      pieces.push_back(line);
    }
  }
  return pieces;
}

// What the linker says of its own output is a failure to write, not to link; the system's reason stands behind the path, which may be in
// quotes. Empty: something else.
std::string WriteFailure(const std::string& words, const std::string& path) {
  constexpr std::string_view kWriting = "IO failure on output stream";
  size_t at = words.find(kWriting);
  if (at != std::string::npos) {
    at += kWriting.size();
  } else if (at = words.find(path); at != std::string::npos) {
    at += path.size();
    if (at < words.size() && words[at] == '\'') ++at;
  }
  if (at == std::string::npos || words.compare(at, 2, ": ") != 0) return "";
  std::string reason = words.substr(at + 2, words.find('\n', at) - at - 2);
  if (!reason.empty()) reason[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(reason[0])));
  return reason;
}

}  // namespace

base::Status Link(const std::vector<std::string>& plan, const Options& options) {
  std::deque<source::MemoryFile> files;
  std::vector<std::string> objects;
  for (const std::string& object : plan) {
    const source::MemoryFile& file = files.emplace_back("plan.o");
    if (const base::Status status = file.Append(object); !status.ok()) {
      return {status.code(), "no place for an object file: " + status.message()};
    }
    objects.push_back(file.path());
  }
  objects.insert(objects.end(), options.objects.begin(), options.objects.end());
  const auto pieces = ReadPieces(options.runtime_dir.empty() ? FindRuntime() : options.runtime_dir, objects);
  if (!pieces.ok()) return pieces.status();
  source::PartialFile partial(options.output);
  if (const base::Status status = partial.Create(0755); !status.ok()) return Unwritable(status);
  std::vector<std::string> arguments{"-pie",
                                     "-z",
                                     "relro",
                                     "-z",
                                     "now",
                                     "-z",
                                     "noexecstack",
                                     "-z",
                                     "pack-relative-relocs",
                                     "--gc-sections",
                                     "--hash-style=gnu",
                                     "--eh-frame-hdr",
                                     "--build-id=fast",  // 8 bytes of a hash of the file; a digest would take 2 % of a build
                                     "--no-dependent-libraries",
                                     "--threads=1",
                                     "--no-mmap-output-file",  // a full disk is an error there, not a signal
                                     "-o",
                                     partial.path()};
  if (options.strip) arguments.emplace_back("--strip-all");
  arguments.insert(arguments.end(), pieces->begin(), pieces->end());
  const source::EndingsHeld held;  // the linker brings handlers of its own
  if (base::Status status = RunLld(arguments); !status.ok()) {
    std::string reason = WriteFailure(status.message(), partial.path());
    return reason.empty() ? status : base::Status(base::kResourceExhausted, std::move(reason));
  }
  const base::Status placed = partial.file().TakePlace({});
  return placed.ok() ? placed : Unwritable(placed);
}

}  // namespace wf::link
