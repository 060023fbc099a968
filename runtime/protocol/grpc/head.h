#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace wf::grpc {

inline constexpr std::string_view kContentType = "application/grpc";  // of every answer

// A `content-type` of gRPC with protobuf messages: `application/grpc`, perhaps with `+proto`, perhaps with parameters.
bool IsContentType(std::string_view content_type);

// Nanoseconds of a `grpc-timeout` such as `100m`; -1: not one. Those that are longer than 146 years are cut: a time of any clock may be
// added.
inline constexpr int64_t kMostTimeoutNs = INT64_MAX / 2;
int64_t ParseTimeout(std::string_view text);

// The text of a `grpc-message`: bytes outside of 0x20 to 0x7e, `%`, and a space at an end, which HTTP/2 refuses, as %XX. Views `text` or
// `storage`.
std::string_view PercentEncode(std::string_view text, std::vector<char>* storage);

}  // namespace wf::grpc
