#include "compiler/base/partial_file.h"

namespace wf::source {

base::Status PartialFile::Create(mode_t mode) {
  const EndingsWait wait;  // one that came between the two would leave it behind
  base::Result<base::NewFile> made = base::NewFile::Beside(target_, mode);
  if (!made.ok()) return made.status();
  removed_.emplace(made->path(), RemovedOnEnding::Kind::kFile);
  file_.emplace(*std::move(made));
  return {};
}

}  // namespace wf::source
