#pragma once

#include "compiler/lsp/analysis.h"

namespace wf::lsp {

// Speaks LSP until the editor says `exit` or the input ends. Returns the exit status that LSP asks for: 0 after `shutdown`, else 1.
// Thread: one.   Errors: a message that is not understood is answered with an error, never fatal; input that ends before there was one is
// complained about.
// Cost: texts are checked when nothing more has arrived, so that of several keystrokes only the last counts. Memory that is free goes back
// to the system when nothing arrives for a second.
int Serve(int in, int out, Host host);

}  // namespace wf::lsp
