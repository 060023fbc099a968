#pragma once

#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "runtime/workbench/arguments.h"
#include "runtime/workbench/session.h"

namespace wf::workbench {

// Of inputs that nobody gives: `--batch N` and `--dim NAME=N`.
struct ShapeSettings {
  int64_t batch = 1;
  std::map<std::string, int64_t> named;
};
std::optional<ShapeSettings> ReadShapeSettings(const Arguments& arguments, std::ostream& err);  // nothing: said why

int Fail(const base::Status& status, std::ostream& err);  // says it; kFailed

// Ways of kernels: those that the file of `--kernel-cache` has or is to have; without it as a server measures them, or with
// `measures` false the own ones of their rows, which is null.
std::shared_ptr<kernels::Choices> ReadChoices(const Arguments& arguments, bool measures, std::ostream& err);
void KeepChoices(const Session& session, std::ostream& err);  // in that file

// The model that a command is for, its first path; null: said why.
std::unique_ptr<Session> OpenOnly(const Arguments& arguments, const char* command, std::ostream& err, int instances = 1,
                                  std::shared_ptr<kernels::Choices> choices = nullptr);

std::string BytesText(int64_t bytes);  // "24.5 KiB"

}  // namespace wf::workbench
