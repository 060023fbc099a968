#include "runtime/base/status.h"

namespace wf::base {

int HttpStatus(StatusCode code) {
  switch (code) {
#define STATUS(name, written, grpc, http) \
  case StatusCode::name:                  \
    return http;
#include "runtime/base/status_codes.def"
#undef STATUS
  }
  return 500;
}

}  // namespace wf::base
