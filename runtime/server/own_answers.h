#pragma once

#include <string_view>

#include "runtime/base/sink.h"

namespace wf::server {

struct Exchange;
struct Shared;

// What every port answers by itself: the probes, and what is asked of the server as a whole.
inline constexpr std::string_view kLivePath = "/livez", kReadyPath = "/readyz", kWholeServer = "*";
// Null when all is well, else why not, as a line.
const char* ProbeFailure(const Shared& shared, std::string_view probe);
// Sets own_path, or refuses, when the head asks for one of them at `path`, which is decoded. False: for something else.
bool TakeOwn(Exchange& exchange, std::string_view path);
void AnswerOwn(const Shared& shared, Exchange& exchange, wf_sink* body) noexcept;

}  // namespace wf::server
