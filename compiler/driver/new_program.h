#pragma once

#include <span>
#include <string_view>

#include "compiler/driver/console.h"
#include "compiler/driver/options.h"

namespace wf::driver {

// A file of the folder compiler/driver/templates, built into wfc.
struct TemplateFile {
  std::string_view folder, name, text;  // `@NAME@` in name and text stands for the program's name
};
std::span<const TemplateFile> TemplateFiles();

// `wfc new`: a new folder of the name given, with the files of a template. Nothing that exists is touched.
int NewProgram(const Options& options, Console& console);

}  // namespace wf::driver
