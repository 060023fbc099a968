#include "runtime/protocol/http/reply.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

namespace wf::http {

// "Sun, 06 Nov 1994 08:49:37 GMT", made once a second.
std::string_view DateText() {
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
    const int count = std::snprintf(line, sizeof line, "%s, %02d %s %04d %02d:%02d:%02d GMT", kDays[parts.tm_wday], parts.tm_mday,
                                    kMonths[parts.tm_mon], parts.tm_year + 1900, parts.tm_hour, parts.tm_min, parts.tm_sec);
    size = static_cast<size_t>(std::max(count, 0));
  }
  return {line, std::min(size, sizeof line - 1)};
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

}  // namespace wf::http
