#include "compiler/lower/note.h"

#include <llvm/Support/JSON.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "compiler/lower/image.h"
#include "runtime/abi/version.h"

namespace wf::lower {
namespace {

namespace json = llvm::json;

void WritePorts(json::OStream& out, const ir::Program& program, const char* name, const std::vector<ir::Port>& ports) {
  out.attributeArray(name, [&] {
    for (const ir::Port& port : ports) {
      out.object([&] {
        out.attribute("name", port.name);
        out.attribute("type", program.types.ToString(port.type));
        if (!port.required) out.attribute("required", false);
      });
    }
  });
}

void WriteModels(json::OStream& out, const ir::Program& program) {
  out.attributeArray("models", [&] {
    for (const ir::Model& model : program.models) {
      out.object([&] {
        out.attribute("name", model.name);
        out.attribute("path", model.path);
        out.attribute("batched", model.batched);
        WritePorts(out, program, "in", model.in);
        WritePorts(out, program, "out", model.out);
      });
    }
  });
}

}  // namespace

std::string DescribeProgram(const ir::Program& program, const Options& options) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string hash;
  for (const uint8_t byte : program.source_hash) {
    hash += kHex[byte >> 4];
    hash += kHex[byte & 15];
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  json::OStream out(stream);
  out.object([&] {
    out.attribute("compiler", options.compiler_version);
    out.attribute("abi", WF_ABI_SYMBOL_TEXT);
    out.attribute("source", program.source_name);
    out.attribute("source_hash", hash);
    out.attribute("target_cpu", options.target_cpu);
    WriteModels(out, program);
    for (const auto& [name, text_of] : {std::pair("interface", &options.interface_json), {"graph", &options.graph_json}}) {
      if (text_of->empty()) continue;
      out.attributeBegin(name);
      out.rawValue(*text_of);
      out.attributeEnd();
    }
  });
  return text;
}

void EmitNote(Context& context) {
  const std::string text = DescribeProgram(context.program(), context.options());
  struct Head {
    uint32_t name_bytes, description_bytes, type;
    char name[4];
  };
  Image image;
  image.Add(Head{4, static_cast<uint32_t>(text.size()), 1, "wfc"});
  for (const char c : text) image.Add(c);
  while (image.size() % 4 != 0) image.Add('\0');
  llvm::GlobalVariable* note = image.Global(context.module(), "note", 4);
  note->setSection(".note.wfc");
  llvm::appendToUsed(context.module(), {note});
}

}  // namespace wf::lower
