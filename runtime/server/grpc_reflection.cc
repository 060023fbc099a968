// gRPC's server reflection, in both versions of its protocol.
#include <algorithm>
#include <vector>

#include "runtime/base/error_codes.h"
#include "runtime/protocol/grpc/files.h"
#include "runtime/protocol/grpc/reflection.h"
#include "runtime/server/grpc_service.h"
#include "runtime/server/intake.h"

namespace wf::server {
namespace {

bool Find(const WorkflowSite&, std::string_view name, GrpcMethod* method) {
  method->streams = method->takes_many = true;
  return name == "ServerReflectionInfo";
}

void Serve(WorkflowSite&, Exchange& exchange, wf_bytes request) {
  std::vector<grpc::Reflected> services;
  for (const GrpcService* const row : GrpcServices()) services.push_back({row->name, row->file()});
  wf_sink message;
  if (grpc::Reflect(services, request, &message)) return ReplyMessage(exchange, &message);
  exchange.Refuse(400, code::kInputParams, "the message is no ServerReflectionRequest, or asks for nothing");
  AnswerRefusal(exchange);
}

}  // namespace

constexpr GrpcService grpc_reflection = {
    .name = "grpc.reflection.v1.ServerReflection", .file = grpc::ReflectionFile, .find = Find, .serve = Serve};
constexpr GrpcService grpc_reflection_v1alpha = {
    .name = "grpc.reflection.v1alpha.ServerReflection", .file = grpc::ReflectionV1alphaFile, .find = Find, .serve = Serve};

}  // namespace wf::server
