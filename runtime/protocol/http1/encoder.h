#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/base/sink.h"
#include "runtime/protocol/http1/head.h"

namespace wf::http1 {

struct ReplyHead {
  int status = 200;
  std::string_view content_type;  // one of ours; empty: none
  uint64_t content_length = 0;
  bool keep_alive = true;
  bool http_1_0 = false;            // of the request: such a client must be told that the connection stays
  std::span<const Header> headers;  // tokens and texts without control characters: IsToken, IsHeaderText
};

// The head of an answer, with Date and Content-Length.
bool PutHead(wf_sink* out, const ReplyHead& reply);
bool PutContinue(wf_sink* out);

std::string_view ReasonPhrase(int status);
bool IsHeaderText(std::string_view text);
bool IsToken(std::string_view text);

}  // namespace wf::http1
