#include "tests/unit/support/source_path.h"

namespace wf {

std::string SourcePath(std::string_view below) { return std::string(WF_SOURCE_ROOT "/").append(below); }

}  // namespace wf
