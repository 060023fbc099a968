#include "compiler/lower/lower.h"

#include <map>

#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "compiler/lower/body.h"
#include "compiler/lower/codec.h"
#include "compiler/lower/context.h"
#include "compiler/lower/cpu.h"
#include "compiler/lower/frames.h"
#include "compiler/lower/note.h"
#include "compiler/lower/places.h"
#include "compiler/lower/plan.h"
#include "compiler/lower/work.h"
#include "runtime/abi/version.h"
#include "runtime/base/check.h"

namespace wf::lower {
namespace {

// Bytes are where the program has them, at a distance that the linker knows: nothing is left to do when a server starts.
llvm::Constant* PlaceTable(Context& context, const std::vector<Places::Entry>& places, const std::string& name) {
  auto* type = llvm::ArrayType::get(context.I32(), places.size());
  auto* table = new llvm::GlobalVariable(context.module(), type, true, llvm::GlobalValue::InternalLinkage, nullptr, name + ".places");
  llvm::Constant* start = llvm::ConstantExpr::getPtrToInt(table, context.I64());
  std::vector<llvm::Constant*> entries;
  for (const Places::Entry& place : places) {
    if (place.bytes == nullptr) {
      entries.push_back(llvm::ConstantInt::get(context.I32(), place.number));
      continue;
    }
    llvm::Constant* distance = llvm::ConstantExpr::getSub(llvm::ConstantExpr::getPtrToInt(place.bytes, context.I64()), start);
    entries.push_back(llvm::ConstantExpr::getTrunc(distance, context.I32()));
  }
  table->setInitializer(llvm::ConstantArray::get(type, entries));
  return table;
}

llvm::Function* EmitBody(Context& context, const FrameLayout& frames, const ir::Task& task, const TaskLiterals& literals,
                         const std::string& name) {
  const bool is_pick = task.kind != ir::TaskKind::kRun;
  auto* type =
      llvm::FunctionType::get(is_pick ? static_cast<llvm::Type*>(context.I64()) : context.I32(), {context.Ptr(), context.Ptr()}, false);
  llvm::Function* entry = context.NewFunction(type, name);
  if (!HasLoops(task.body)) {
    BodyEmitter(context, frames, task, entry, {}).Emit();
    return entry;
  }
  auto* shared = llvm::FunctionType::get(type->getReturnType(), {context.Ptr(), context.Ptr(), context.Ptr()}, false);
  const bool is_generic = context.options().target_cpu == "generic";
  llvm::Function* narrow = context.NewFunction(shared, name + (is_generic ? ".v3" : ".own"));
  narrow->addFnAttr("wf-body");                                  // for codegen: of many nodes where they are equal
  if (is_generic) narrow->addFnAttr(llvm::Attribute::NoInline);  // what is optimised is not optimised again in its entry
  const std::vector<Places::Entry> places = BodyEmitter(context, frames, task, narrow, literals).Emit();
  llvm::Function* wide = narrow;
  if (is_generic && TurnsOfLoops(task.body) > static_cast<double>(context.options().few_turns)) {
    wide = context.NewFunction(shared, name + ".v4");
    wide->addFnAttr("wf-body");
    context.SetCpu(wide, "x86-64-v4");
    BodyEmitter(context, frames, task, wide, literals).Emit();
  }
  EmitEntry(context, *entry, {narrow, wide}, PlaceTable(context, places, name));
  return entry;
}

Functions EmitBodies(Context& context, const FrameLayout& frames) {
  Functions functions;
  const ir::Program& program = context.program();
  functions.tasks.resize(program.tasks.size());
  const std::vector<TaskLiterals> literals = FindLiterals(program);
  for (size_t i = 0; i < program.tasks.size(); ++i) {
    const ir::Task& task = program.tasks[i];
    if (task.body.empty()) {
      WF_CHECK(task.kind != ir::TaskKind::kRun && task.kind != ir::TaskKind::kSelect && task.kind != ir::TaskKind::kEach,
               "a task without its body", i);
      continue;
    }
    functions.tasks[i].body = EmitBody(context, frames, task, literals[i], "task_" + std::to_string(i));
    if (task.cost_ns_per_unit > 0) functions.tasks[i].work = EmitWork(context, frames, task, "work_" + std::to_string(i));
  }
  return functions;
}

// The symbol that only the runtime archive of the same contract defines.
void ReferToAbi(Context& context) {
  auto* symbol =
      new llvm::GlobalVariable(context.module(), context.I8(), true, llvm::GlobalValue::ExternalLinkage, nullptr, WF_ABI_SYMBOL_TEXT);
  auto* reference = new llvm::GlobalVariable(context.module(), context.Ptr(), true, llvm::GlobalValue::InternalLinkage, symbol, "abi");
  llvm::appendToUsed(context.module(), {reference});
}

}  // namespace

std::unique_ptr<llvm::Module> Lower(const ir::Program& program, llvm::LLVMContext& llvm_context, const Options& options) {
  const base::CheckContext what("lower");
  auto module = std::make_unique<llvm::Module>("plan", llvm_context);
  module->setPICLevel(llvm::PICLevel::BigPIC);
  module->setPIELevel(llvm::PIELevel::Large);
  module->setSourceFileName("plan");
  Context context(program, *module, options);
  const FrameLayout frames = LayOutFrames(program);
  EmitTypeTable(context);
  Functions functions = EmitBodies(context, frames);
  std::vector<llvm::GlobalVariable*> in_ports;
  std::map<std::vector<std::string>, llvm::GlobalVariable*> named;  // of which codecs look at the names alone
  for (const ir::Workflow& workflow : program.workflows) {
    in_ports.push_back(EmitPorts(context, workflow.in));
    std::vector<std::string> names;
    for (const ir::Port& port : workflow.in) names.push_back(port.name);
    llvm::GlobalVariable* ports = named.try_emplace(std::move(names), in_ports.back()).first->second;
    functions.workflows.push_back(EmitCodec(context, frames, workflow, ports));
  }
  EmitPlan(context, frames, functions, in_ports);
  EmitStartUp(context);
  EmitNote(context);
  ReferToAbi(context);
  return module;
}

}  // namespace wf::lower
