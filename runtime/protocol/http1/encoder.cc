#include "runtime/protocol/http1/encoder.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace wf::http1 {
namespace {

bool Put(wf_sink* out, std::string_view text) { return out->Put(text.data(), text.size()); }

// "date: Sun, 06 Nov 1994 08:49:37 GMT\r\n", made once a second.
std::string_view DateLine() {
  constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  thread_local char line[80];
  thread_local size_t size = 0;
  thread_local time_t made_at = -1;
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  if (now.tv_sec != made_at) {
    made_at = now.tv_sec;
    tm parts{};
    gmtime_r(&made_at, &parts);
    const int count = std::snprintf(line, sizeof line, "date: %s, %02d %s %04d %02d:%02d:%02d GMT\r\n", kDays[parts.tm_wday], parts.tm_mday,
                                    kMonths[parts.tm_mon], parts.tm_year + 1900, parts.tm_hour, parts.tm_min, parts.tm_sec);
    size = static_cast<size_t>(std::max(count, 0));
  }
  return {line, std::min(size, sizeof line - 1)};
}

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

bool IsHeaderText(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c == '\t' || (static_cast<uint8_t>(c) >= 0x20 && c != 0x7f); });
}

bool IsToken(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || kMarks.find(c) != std::string_view::npos;
  });
}

bool PutHead(wf_sink* out, const ReplyHead& reply) {
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
  at = Copy(at, DateLine());
  if (!reply.content_type.empty()) at = Copy(Copy(Copy(at, "content-type: "), reply.content_type), "\r\n");
  at = Copy(at, "content-length: ");
  at = std::to_chars(at, at + 20, reply.content_length).ptr;
  at = Copy(at, !reply.keep_alive ? "\r\nconnection: close\r\n" : reply.http_1_0 ? "\r\nconnection: keep-alive\r\n" : "\r\n");
  if (reply.headers.empty()) at = Copy(at, "\r\n");
  out->Commit(reinterpret_cast<uint8_t*>(at));
  if (reply.headers.empty()) return true;
  for (const Header& header : reply.headers) {
    if (!Put(out, header.name) || !Put(out, ": ") || !Put(out, header.value) || !Put(out, "\r\n")) return false;
  }
  return Put(out, "\r\n");
}

bool PutContinue(wf_sink* out) { return Put(out, "HTTP/1.1 100 Continue\r\n\r\n"); }

}  // namespace wf::http1
