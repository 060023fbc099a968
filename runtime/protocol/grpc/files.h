#pragma once

#include <string_view>

// The FileDescriptorProto of each service's .proto, embedded when this is built.
namespace wf::grpc {

std::string_view InferenceFile();
std::string_view HealthFile();
std::string_view ReflectionFile();
std::string_view ReflectionV1alphaFile();

}  // namespace wf::grpc
