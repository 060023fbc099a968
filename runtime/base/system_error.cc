#include "runtime/base/system_error.h"

#include <cerrno>
#include <cstring>

#include "runtime/base/ascii.h"

namespace wf::base {

std::string TextOfErrno(int error) {
  if (error == ENOENT || error == ENOTDIR) return "no such file";
  std::string text = std::strerror(error);
  if (!text.empty()) text[0] = Lower(text[0]);
  return text;
}

}  // namespace wf::base
