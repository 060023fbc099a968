#pragma once

#include <span>
#include <string_view>

#include "runtime/abi/values.h"
#include "runtime/base/sink.h"

namespace wf::grpc {

// A service and the FileDescriptorProto that it stands in.
struct Reflected {
  std::string_view service, file;
};

// The ServerReflectionResponse to a ServerReflectionRequest, the same in both versions of the protocol; what is not found is an answer,
// too. False: the bytes are no such message.
bool Reflect(std::span<const Reflected> services, wf_bytes request, wf_sink* response);

}  // namespace wf::grpc
