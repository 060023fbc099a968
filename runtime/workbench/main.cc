#include <iostream>
#include <string>
#include <vector>

#include "runtime/workbench/commands.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const int status = wf::workbench::RunCommand({argv + 1, argv + argc}, std::cout, std::cerr);
  std::cout.flush();
  if (std::cout) return status;
  std::cerr << "wfc: the output could not be written whole\n";
  return status == wf::workbench::kFine ? static_cast<int>(wf::workbench::kFailed) : status;
}
