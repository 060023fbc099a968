#include "compiler/lsp/uri.h"

#include <cctype>
#include <filesystem>

namespace wf::lsp {
namespace {

constexpr std::string_view kFile = "file://";

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool StandsForItself(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("-._~/").find(c) != std::string_view::npos;
}

}  // namespace

std::string PathOf(std::string_view uri) {
  if (!uri.starts_with(kFile)) return std::string(uri);
  const size_t slash = uri.find('/', kFile.size());  // after the host, which is empty or this machine
  if (slash == std::string_view::npos) return std::string(uri);
  std::string path;
  for (size_t at = slash; at < uri.size(); ++at) {
    const int high = at + 2 < uri.size() && uri[at] == '%' ? HexDigit(uri[at + 1]) : -1;
    const int low = high >= 0 ? HexDigit(uri[at + 2]) : -1;
    path += low >= 0 ? static_cast<char>(high * 16 + low) : uri[at];
    if (low >= 0) at += 2;
  }
  return std::filesystem::path(path).lexically_normal().string();
}

std::string UriOf(std::string_view path) {
  if (!path.starts_with('/')) return std::string(path);
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string uri(kFile);
  for (const char c : path) {
    if (StandsForItself(c)) {
      uri += c;
    } else {
      uri += {'%', kHex[static_cast<unsigned char>(c) >> 4], kHex[static_cast<unsigned char>(c) & 15]};
    }
  }
  return uri;
}

}  // namespace wf::lsp
