#include "runtime/server/grpc_service.h"

namespace wf::server {

// Alone in this file, so that a program which links a list of its own has that instead.
std::span<const GrpcService* const> GrpcServices() {
  static constexpr const GrpcService* kServices[] = {&grpc_inference, &grpc_health, &grpc_reflection, &grpc_reflection_v1alpha};
  return kServices;
}

}  // namespace wf::server
