#include "compiler/lsp/transport.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

namespace wf::lsp {
namespace {

constexpr size_t kMaxLine = 8192, kMaxTold = 80;
constexpr std::string_view kLength = "content-length:";

std::optional<size_t> LengthOf(std::string line) {
  std::transform(line.begin(), line.end(), line.begin(), [](unsigned char c) { return std::tolower(c); });
  if (!line.starts_with(kLength)) return std::nullopt;
  const size_t digits = line.find_first_not_of(' ', kLength.size());
  if (digits == std::string::npos) return std::nullopt;
  size_t length = 0;
  const auto [end, error] = std::from_chars(line.data() + digits, line.data() + line.size(), length);
  return error == std::errc() && end == line.data() + line.size() ? std::optional(length) : std::nullopt;
}

}  // namespace

bool Transport::Fill() {
  buffer_.erase(0, at_);
  at_ = 0;
  char chunk[65536];
  ssize_t got = 0;
  do {
    got = read(in_, chunk, sizeof(chunk));
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return false;
  buffer_.append(chunk, static_cast<size_t>(got));
  return true;
}

std::optional<std::string_view> Transport::Line() {
  while (true) {
    if (const size_t end = buffer_.find('\n', at_); end != std::string::npos) {
      line_ = buffer_.substr(at_, end - at_);
      at_ = end + 1;
      if (line_.ends_with('\r')) line_.pop_back();
      return line_;
    }
    if (buffer_.size() - at_ > kMaxLine) at_ = buffer_.size();  // no header of ours
    if (!Fill()) return std::nullopt;
  }
}

// Once: what follows it is rarely understood either.
void Transport::PassOver(const std::string& header) {
  if (std::exchange(has_passed_over_, true)) return;
  const std::string told = header.empty() ? "none" : "`" + header.substr(0, kMaxTold) + (header.size() > kMaxTold ? "…`" : "`");
  complain_("what the editor sent is passed over, for want of a header `Content-Length: BYTES`; there is " + told);
}

std::optional<std::string> Transport::Read() {
  std::optional<size_t> length;
  std::string last;  // of the headers
  while (const auto line = Line()) {
    if (!line->empty()) {
      if (const auto found = LengthOf(std::string(*line))) length = found;
      last = *line;
      continue;
    }
    if (!length) {
      PassOver(std::exchange(last, {}));
      continue;
    }
    const bool keep = *length <= kMaxBytes;
    std::string body;
    for (size_t left = *length; left > 0;) {
      if (at_ == buffer_.size() && !Fill()) {
        complain_("the input ends inside a message: " + std::to_string(*length - left) + " of " + std::to_string(*length) + " bytes came");
        return std::nullopt;
      }
      const size_t take = std::min(left, buffer_.size() - at_);
      if (keep) body.append(buffer_, at_, take);
      at_ += take;
      left -= take;
    }
    return body;
  }
  return std::nullopt;
}

bool Transport::Waiting(int within_ms) const {
  if (at_ < buffer_.size()) return true;
  pollfd in{in_, POLLIN, 0};
  return poll(&in, 1, within_ms) == 1 && (in.revents & POLLIN) != 0;
}

void Transport::Write(std::string_view body) {
  const std::string message = "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
  for (size_t done = 0; done < message.size();) {
    const ssize_t wrote = write(out_, message.data() + done, message.size() - done);
    if (wrote < 0 && errno != EINTR) return;  // the editor is gone; the next read says so
    if (wrote > 0) done += static_cast<size_t>(wrote);
  }
}

}  // namespace wf::lsp
