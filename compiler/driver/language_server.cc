#include "compiler/driver/language_server.h"

#include <unistd.h>

#include <filesystem>

#include "compiler/backend/backend.h"
#include "compiler/driver/layout.h"
#include "compiler/driver/loader.h"

namespace wf::driver {

int ServeEditor(Console& console) {
  lsp::Host host;
  host.stdlib = std::filesystem::path(StdlibFolder(console.executable)).lexically_normal().string();
  host.error_pages = ErrorPagesFolder(console.executable);
  host.version = WF_VERSION;
  host.natives = console.natives;
  host.complain = [&console](std::string_view message) { Fail(console, message); };
  host.load = [stdlib = host.stdlib, parsed = std::make_shared<ParsedFiles>()](const lsp::Root& root, const Overlay& overlay,
                                                                               source::SourceMap& sources, diag::Emitter& emitter) {
    std::vector<lsp::LoadedModule> modules;
    for (Module& module :
         LoadProgram(root.path, {.stdlib = stdlib, .folder = root.folder, .overlay = &overlay, .parsed = parsed.get()}, sources, emitter)) {
      modules.push_back({std::move(module.path), std::move(module.file)});
    }
    return modules;
  };
  return backend::Get().serve_editor(STDIN_FILENO, STDOUT_FILENO, std::move(host));
}

}  // namespace wf::driver
