#include "compiler/load/target.h"

#include <fmt/format.h>
#include <netdb.h>

#include <algorithm>
#include <cstring>

namespace wf::load {
namespace {

struct Authority {
  std::string host, port;
};

// "host", "host:port", "[::1]:port".
Authority Split(const std::string& text) {
  const size_t bracket = text.starts_with('[') ? text.find(']') : std::string::npos;
  const size_t colon = text.find(':', bracket == std::string::npos ? 0 : bracket);
  const std::string host = bracket == std::string::npos ? text.substr(0, colon) : text.substr(1, bracket - 1);
  return {host, colon == std::string::npos ? "80" : text.substr(colon + 1)};
}

bool IsPort(const std::string& text) {
  const bool digits = std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits && !text.empty() && text.size() <= 5 && std::stoi(text) >= 1 && std::stoi(text) <= 65535;
}

}  // namespace

base::Result<Target> ParseUrl(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  const auto wrong = [&](std::string_view reason) {
    return base::Status(base::kInvalidArgument, fmt::format("`{}` is no URL of a server: {}", url, reason));
  };
  std::string_view rest = url;
  if (rest.starts_with(kScheme)) rest.remove_prefix(kScheme.size());
  if (const size_t scheme = rest.find("://"); scheme != std::string_view::npos && scheme < rest.find('/'))
    return wrong(fmt::format("`{}` is not spoken here; http:// is", rest.substr(0, scheme)));
  if (std::any_of(url.begin(), url.end(), [](unsigned char c) { return c <= ' ' || c == 0x7F; })) return wrong("it has a space in it");
  Target target;
  target.host = rest.substr(0, rest.find_first_of("/?#"));
  const std::string_view path = rest.substr(target.host.size());
  target.path = path.substr(0, path.find('#'));
  if (!target.path.starts_with('/')) target.path.insert(0, "/");
  const Authority authority = Split(target.host);
  if (authority.host.empty() || target.host.find('@') != std::string::npos) return wrong("HOST:PORT is expected");
  if (!IsPort(authority.port)) return wrong(fmt::format("`{}` is no port", authority.port));
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  if (const int error = getaddrinfo(authority.host.c_str(), authority.port.c_str(), &wanted, &found); error != 0)
    return base::Status(base::kNotFound, fmt::format("no host is called `{}`", authority.host));
  std::memcpy(&target.address, found->ai_addr, found->ai_addrlen);
  target.address_bytes = found->ai_addrlen;
  freeaddrinfo(found);
  return target;
}

}  // namespace wf::load
