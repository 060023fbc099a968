#include "compiler/lsp/uri.h"

#include <filesystem>

#include "compiler/base/percent.h"

namespace wf::lsp {
namespace {

constexpr std::string_view kFile = "file://";

}  // namespace

std::string PathOf(std::string_view uri) {
  if (!uri.starts_with(kFile)) return std::string(uri);
  const size_t slash = uri.find('/', kFile.size());  // after the host, which is empty or this machine
  if (slash == std::string_view::npos) return std::string(uri);
  return std::filesystem::path(source::PercentDecoded(uri.substr(slash))).lexically_normal().string();
}

std::string UriOf(std::string_view path) {
  return path.starts_with('/') ? std::string(kFile) + source::PercentEncoded(path) : std::string(path);
}

}  // namespace wf::lsp
