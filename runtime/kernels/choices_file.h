#pragma once

#include <map>
#include <string>

#include "runtime/base/status.h"

// The file that keeps choices between processes: text, for one machine.
//
//     wf-kernel-cache 1
//     machine AMD EPYC 9B45 .. oneDNN 2.6.3 ..
//     <way>\t<key>            one a line, sorted by key
//     end <number of lines> <sum of all before>
namespace wf::kernels {

struct ChoicesRead {
  std::map<std::string, std::string> way;  // by key
  std::string odd;                         // why there is nothing in it; empty: there is, or no file
  bool is_ours = true;                     // not another kind of file, which nobody would want to lose
};

// The CPU, its features, and the libraries that kernels are from.   Cost: the first call may load them.
std::string MachineText();

ChoicesRead ReadChoices(const std::string& file, const std::string& machine);
// Whether WriteChoices may succeed, as far as that is known before.
base::Status CheckWritable(const std::string& file);
// In one step; where the file is a link, what it leads to. After a power failure the old one may be there, or none: it is not waited for
// the disk. Errors: the file's name and why it cannot be written.
base::Status WriteChoices(const std::string& file, const std::string& machine, const std::map<std::string, std::string>& way);

}  // namespace wf::kernels
