#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "compiler/backend/backend.h"
#include "runtime/base/system_error.h"

namespace wf::backend {

// Begins again as the whole program, with the same arguments.
const Functions& Get() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string whole = self.parent_path().parent_path() / "lib/wfc-whole";
  std::ifstream stream("/proc/self/cmdline", std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  std::vector<char*> arguments;
  for (size_t at = 0; at < text.size(); at += std::strlen(&text[at]) + 1) arguments.push_back(&text[at]);
  arguments.push_back(nullptr);
  execv(whole.c_str(), arguments.data());
  std::fprintf(stderr, "wfc: cannot start `%s`, which makes code and belongs beside `bin/wfc`: %s\n", whole.c_str(),
               base::TextOfErrno(errno).c_str());
  std::_Exit(EXIT_FAILURE);
}

}  // namespace wf::backend
