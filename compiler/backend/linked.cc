#include "compiler/backend/backend.h"

namespace wf::backend {

const Functions& Get() { return kLinked; }

}  // namespace wf::backend
