#include "runtime/base/status.h"

namespace wf::base {

std::string_view StatusCodeName(StatusCode code) {
  switch (code) {
#define STATUS(name, grpc, http) \
  case StatusCode::name:         \
    return #name;
#include "runtime/base/status_codes.def"
#undef STATUS
  }
  return "unknown";
}

int HttpStatus(StatusCode code) {
  switch (code) {
#define STATUS(name, grpc, http) \
  case StatusCode::name:         \
    return http;
#include "runtime/base/status_codes.def"
#undef STATUS
  }
  return 500;
}

}  // namespace wf::base
