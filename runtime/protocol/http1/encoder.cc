#include "runtime/protocol/http1/encoder.h"

#include <charconv>
#include <cstring>

namespace wf::http1 {
namespace {

bool Put(wf_sink* out, std::string_view text) { return out->Put(text.data(), text.size()); }

char* Copy(char* at, std::string_view text) {
  std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

}  // namespace

std::string_view ReasonPhrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 499:
      return "Client Closed Request";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Unknown";
  }
}

bool PutHead(wf_sink* out, const http::ReplyHead& reply, const Framing& framing) {
  constexpr size_t kFixedBytes = 512;  // status line, date, length, connection and the content type, whose texts are ours
  auto* at = reinterpret_cast<char*>(out->Reserve(kFixedBytes));
  if (at == nullptr) return false;
  if (reply.status == 200) {
    at = Copy(at, "HTTP/1.1 200 OK\r\n");
  } else {
    at = Copy(at, "HTTP/1.1 ");
    at = std::to_chars(at, at + 4, reply.status).ptr;
    *at++ = ' ';
    at = Copy(Copy(at, ReasonPhrase(reply.status)), "\r\n");
  }
  at = Copy(Copy(Copy(at, "date: "), http::DateText()), "\r\n");
  if (!reply.content_type.empty()) at = Copy(Copy(Copy(at, "content-type: "), reply.content_type), "\r\n");
  at = Copy(at, "content-length: ");
  at = std::to_chars(at, at + 20, framing.content_length).ptr;
  at = Copy(at, !framing.keep_alive ? "\r\nconnection: close\r\n" : framing.http_1_0 ? "\r\nconnection: keep-alive\r\n" : "\r\n");
  const bool ends = reply.headers.empty() && reply.more.empty();
  if (ends) at = Copy(at, "\r\n");
  out->Commit(reinterpret_cast<uint8_t*>(at));
  if (ends) return true;
  for (const std::span<const http::Header> headers : {reply.headers, reply.more}) {
    for (const http::Header& header : headers) {
      if (!Put(out, header.name) || !Put(out, ": ") || !Put(out, header.value) || !Put(out, "\r\n")) return false;
    }
  }
  return Put(out, "\r\n");
}

bool PutContinue(wf_sink* out) { return Put(out, "HTTP/1.1 100 Continue\r\n\r\n"); }

}  // namespace wf::http1
