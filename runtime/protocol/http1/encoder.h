#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/base/sink.h"
#include "runtime/protocol/http/reply.h"

namespace wf::http1 {

// What frames an answer, beside its head.
struct Framing {
  uint64_t content_length = 0;
  bool keep_alive = true;
  bool http_1_0 = false;  // of the request: such a client must be told that the connection stays
};

// The head of an answer, with Date and Content-Length. Trailers are dropped.
bool PutHead(wf_sink* out, const http::ReplyHead& reply, const Framing& framing);
bool PutContinue(wf_sink* out);

std::string_view ReasonPhrase(int status);

}  // namespace wf::http1
