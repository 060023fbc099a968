#pragma once

#include <span>
#include <string_view>

#include "runtime/protocol/http/head.h"

namespace wf::http {

struct ReplyHead {
  int status = 200;
  std::string_view content_type;              // one of ours; empty: none
  std::span<const Header> headers, trailers;  // lower-case tokens and texts without control characters: IsToken, IsHeaderText
  std::span<const Header> more = {};          // behind the headers
};

std::string_view DateText();  // of now, as the header Date has it
bool IsHeaderText(std::string_view text);
bool IsToken(std::string_view text);

}  // namespace wf::http
