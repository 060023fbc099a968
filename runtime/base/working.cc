#include "runtime/base/working.h"

namespace wf::base {

constinit thread_local Working working;

}  // namespace wf::base
