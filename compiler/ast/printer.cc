#include "compiler/ast/printer.h"

#include <fmt/format.h>

#include "compiler/ast/tree_writer.h"

namespace wf::ast {
namespace {

std::string Spelling(const DimExpr& dim) {
  const auto both = [&](std::string_view op) {
    return fmt::format("({} {} {})", Spelling(dim.operands[0]), op, Spelling(dim.operands[1]));
  };
  switch (dim.kind) {
    case DimExpr::Kind::kSymbol:
    case DimExpr::Kind::kInt:
      return dim.text;
    case DimExpr::Kind::kAny:
      return "_";
    case DimExpr::Kind::kRest:
      return "*" + dim.text;
    case DimExpr::Kind::kAdd:
      return both("+");
    case DimExpr::Kind::kSub:
      return both("-");
    case DimExpr::Kind::kMul:
      return both("*");
    case DimExpr::Kind::kDiv:
      return both("/");
    case DimExpr::Kind::kError:
      return "<error>";
  }
  return "";
}

std::string Spelling(const Type& type) {
  std::string text;
  switch (type.kind) {
    case Type::Kind::kError:
      return "<error>";
    case Type::Kind::kNamed:
      text = ToString(type.name);
      if (type.argument != nullptr) text += "<" + Spelling(*type.argument) + ">";
      for (size_t axis = 0; axis < type.dims.size(); ++axis) text += (axis == 0 ? "[" : ", ") + Spelling(type.dims[axis]);
      if (!type.dims.empty()) text += "]";
      break;
    case Type::Kind::kTuple:
      for (const Type::Field& field : type.fields) {
        text += text.empty() ? "(" : ", ";
        text += field.label.text + (field.external_name ? " as " + Quote(*field.external_name) : "") + ": " + Spelling(*field.type);
      }
      text += ")";
      break;
  }
  return text + (type.optional ? "?" : "");
}

std::string_view KindName(DeclKind kind) {
  switch (kind) {
#define DECL(name)        \
  case DeclKind::k##name: \
    return #name;
#include "compiler/ast/node_kinds.def"
  }
  return "";
}

std::string_view KindName(StmtKind kind) {
  switch (kind) {
#define STMT(name)        \
  case StmtKind::k##name: \
    return #name;
#include "compiler/ast/node_kinds.def"
  }
  return "";
}

void PrintType(std::string_view role, const TypePtr& type, TreeWriter& out) {
  if (type != nullptr) out.Line(role, Spelling(*type), type->span);
}

void PrintParams(const std::vector<Param>& params, TreeWriter& out) {
  for (const Param& param : params) {
    const std::string external = param.external_name ? " as " + Quote(*param.external_name) : "";
    out.Line("param", fmt::format("{}{}: {}", param.name.text, external, Spelling(*param.type)), param.span);
    const TreeWriter::Deeper deeper(out);
    if (param.default_value != nullptr) PrintExpr("default", *param.default_value, out);
  }
}

void PrintSettingArg(const SettingArg& arg, TreeWriter& out) {
  const auto line = [&](std::string_view kind, std::string_view text) { out.Line(kind, text, arg.span); };
  const TreeWriter::Deeper deeper(out);
  switch (arg.kind) {
    case SettingArg::Kind::kNumber:
      return line("number", (arg.negative ? "-" : "") + arg.text);
    case SettingArg::Kind::kString:
      return line("string", Quote(arg.text));
    case SettingArg::Kind::kPath:
      return line("path", ToString(arg.path));
    case SettingArg::Kind::kCall: {
      line("call", ToString(arg.path));
      const TreeWriter::Deeper inside(out);
      return PrintArguments(arg.arguments, out);
    }
    case SettingArg::Kind::kList:
      return PrintExpr("list", *arg.list, out);
    case SettingArg::Kind::kMap: {
      line("map", "");
      const TreeWriter::Deeper inside(out);
      for (const auto& [name, number] : arg.entries) out.Line("entry", name.text + ": " + number, name.span);
      return;
    }
  }
}

void PrintSetting(const Setting& setting, TreeWriter& out) {
  out.Line("setting", setting.name.text, setting.span);
  for (const SettingArg& arg : setting.args) PrintSettingArg(arg, out);
}

void PrintSettings(const std::optional<Settings>& settings, TreeWriter& out) {
  if (!settings) return;
  for (const Setting& setting : settings->settings) PrintSetting(setting, out);
}

void PrintBinding(const Binding& binding, TreeWriter& out) {
  out.Line("binding", binding.function.text, binding.span);
  const TreeWriter::Deeper deeper(out);
  PrintArguments(binding.arguments, out);
  PrintSettings(binding.settings, out);
}

void PrintBody(const std::vector<StmtPtr>& body, TreeWriter& out) {
  for (const StmtPtr& stmt : body) PrintStmt(*stmt, out);
}

void PrintIf(const IfStmt& stmt, TreeWriter& out) {
  for (const IfStmt::Arm& arm : stmt.arms) {
    PrintExpr("if", *arm.condition, out);
    out.Line("then", "Body", arm.span);
    const TreeWriter::Deeper deeper(out);
    PrintBody(arm.body, out);
  }
  if (!stmt.otherwise) return;
  out.Text("else: Body");
  const TreeWriter::Deeper deeper(out);
  PrintBody(*stmt.otherwise, out);
}

void PrintNode(const NodeStmt& node, TreeWriter& out) {
  PrintType("type", node.type, out);
  PrintExpr("value", *node.value, out);
  PrintSettings(node.settings, out);
  if (node.fallback != nullptr) PrintExpr("else", *node.fallback, out);
}

std::string TextOf(const Stmt& stmt) {
  if (const auto* let = DynAs<LetStmt>(stmt)) return let->name.text;
  if (const auto* node = DynAs<NodeStmt>(stmt)) return node->name.text;
  if (const auto* stage = DynAs<StageStmt>(stmt)) return stage->name.text;
  if (const auto* call = DynAs<CallStmt>(stmt)) return ToString(call->callee);
  if (const auto* stub = DynAs<StubStmt>(stmt)) return ToString(stub->target) + (stub->key ? "(" + Quote(*stub->key) + ")" : "");
  if (const auto* expect = DynAs<ExpectStmt>(stmt); expect != nullptr && expect->fails) return "fails " + ToString(*expect->fails);
  return "";
}

void PrintStmtChildren(const Stmt& stmt, TreeWriter& out) {
  switch (stmt.kind) {
    case StmtKind::kErrorStmt:
      return;
    case StmtKind::kLetStmt:
      PrintType("type", DynAs<LetStmt>(stmt)->type, out);
      return PrintExpr("value", *DynAs<LetStmt>(stmt)->value, out);
    case StmtKind::kRequireStmt:
      PrintExpr("that", *DynAs<RequireStmt>(stmt)->condition, out);
      if (const auto& otherwise = DynAs<RequireStmt>(stmt)->otherwise) PrintExpr("else", *otherwise, out);
      return;
    case StmtKind::kNodeStmt:
      return PrintNode(*DynAs<NodeStmt>(stmt), out);
    case StmtKind::kStageStmt:
      PrintBody(DynAs<StageStmt>(stmt)->nodes, out);
      return PrintSettings(DynAs<StageStmt>(stmt)->settings, out);
    case StmtKind::kIfStmt:
      return PrintIf(*DynAs<IfStmt>(stmt), out);
    case StmtKind::kCallStmt:
      return PrintArguments(DynAs<CallStmt>(stmt)->arguments, out);
    case StmtKind::kReturnStmt:
      return PrintExpr("value", *DynAs<ReturnStmt>(stmt)->value, out);
    case StmtKind::kFailStmt:
      return PrintExpr("error", *DynAs<FailStmt>(stmt)->error, out);
    case StmtKind::kStubStmt:
      PrintParams(DynAs<StubStmt>(stmt)->params, out);
      return PrintExpr("value", *DynAs<StubStmt>(stmt)->value, out);
    case StmtKind::kExpectStmt:
      return PrintExpr("value", *DynAs<ExpectStmt>(stmt)->value, out);
  }
}

void PrintService(const ServiceDecl& service, TreeWriter& out) {
  for (const ServiceDecl::Member& member : service.members) {
    const std::string published = member.published_name ? " as " + Quote(*member.published_name) : "";
    out.Line(member.is_model ? "model" : "workflow", ToString(member.target) + published, member.span);
  }
  for (const Setting& setting : service.settings) PrintSetting(setting, out);
}

// What stands on a declaration's line beside kind and name.
std::string TextOf(const Decl& decl) {
  if (const auto* import = DynAs<ImportDecl>(decl)) return (import->name.text.empty() ? "" : "= ") + ToString(import->path);
  if (const auto* code = DynAs<ErrorCodeDecl>(decl)) {
    return fmt::format("= {} {}{}", code->code, Quote(code->message), code->status ? " as " + code->status->text : "");
  }
  if (const auto* test = DynAs<TestDecl>(decl)) return Quote(test->title);
  if (const auto* external = DynAs<ExternDecl>(decl)) return external->is_node ? "node" : "fn";
  return "";
}

void PrintTypeParams(const std::vector<Name>& names, TreeWriter& out) {
  for (const Name& name : names) out.Line("type param", name.text, name.span);
}

void PrintDeclChildren(const Decl& decl, TreeWriter& out) {
  switch (decl.kind) {
    case DeclKind::kErrorDecl:
    case DeclKind::kImportDecl:
    case DeclKind::kErrorCodeDecl:
      return;
    case DeclKind::kConstDecl:
      PrintType("type", DynAs<ConstDecl>(decl)->type, out);
      return PrintExpr("value", *DynAs<ConstDecl>(decl)->value, out);
    case DeclKind::kTypeDecl:
      for (const Type::Field& field : DynAs<TypeDecl>(decl)->fields)
        out.Line("field", field.label.text + ": " + Spelling(*field.type), field.span);
      return;
    case DeclKind::kFnDecl: {
      const auto& fn = *DynAs<FnDecl>(decl);
      PrintTypeParams(fn.type_params, out);
      PrintParams(fn.params, out);
      PrintType("result", fn.result, out);
      return PrintBlock("body", fn.body, out);
    }
    case DeclKind::kExternDecl:
      PrintTypeParams(DynAs<ExternDecl>(decl)->type_params, out);
      PrintParams(DynAs<ExternDecl>(decl)->params, out);
      PrintType("result", DynAs<ExternDecl>(decl)->result, out);
      return PrintBinding(DynAs<ExternDecl>(decl)->binding, out);
    case DeclKind::kModelDecl:
      PrintParams(DynAs<ModelDecl>(decl)->params, out);
      PrintType("result", DynAs<ModelDecl>(decl)->result, out);
      return PrintBinding(DynAs<ModelDecl>(decl)->binding, out);
    case DeclKind::kRemoteDecl:
      PrintParams(DynAs<RemoteDecl>(decl)->params, out);
      PrintType("result", DynAs<RemoteDecl>(decl)->result, out);
      return PrintBinding(DynAs<RemoteDecl>(decl)->binding, out);
    case DeclKind::kWorkflowDecl:
      PrintParams(DynAs<WorkflowDecl>(decl)->params, out);
      PrintType("result", DynAs<WorkflowDecl>(decl)->result, out);
      return PrintBody(DynAs<WorkflowDecl>(decl)->body, out);
    case DeclKind::kServiceDecl:
      return PrintService(*DynAs<ServiceDecl>(decl), out);
    case DeclKind::kTestDecl:
      return PrintBody(DynAs<TestDecl>(decl)->body, out);
  }
}

void PrintDecl(const Decl& decl, TreeWriter& out) {
  std::string head(KindName(decl.kind));
  if (!decl.name.text.empty()) head += " " + decl.name.text;
  if (const std::string text = TextOf(decl); !text.empty()) head += " " + text;
  if (decl.has_errors) head += " (has errors)";
  out.Line("", head, decl.span);
  const TreeWriter::Deeper deeper(out);
  if (!decl.doc.empty()) out.Text("doc: " + Quote(decl.doc));
  PrintDeclChildren(decl, out);
}

}  // namespace

void TreeWriter::Line(std::string_view role, std::string_view what, const Span& span) {
  const source::Position begin = sources_.PositionOf(span.file, span.begin);
  const source::Position end = sources_.PositionOf(span.file, span.end);
  text_.append(2 * depth_, ' ');
  if (!role.empty()) text_ += fmt::format("{}: ", role);
  if (!what.empty()) text_ += fmt::format("{} ", what);
  text_ += fmt::format("{}:{}-{}:{}\n", begin.line, begin.column, end.line, end.column);
}

void TreeWriter::Text(std::string_view line) {
  text_.append(2 * depth_, ' ');
  text_ += line;
  text_ += '\n';
}

void PrintStmt(const Stmt& stmt, TreeWriter& out) {
  std::string head(KindName(stmt.kind));
  if (const std::string text = TextOf(stmt); !text.empty()) head += " " + text;
  out.Line("", head, stmt.span);
  const TreeWriter::Deeper deeper(out);
  PrintStmtChildren(stmt, out);
}

std::string Print(const File& file, const source::SourceMap& sources) {
  TreeWriter out(sources);
  out.Text(fmt::format("File {}", sources.name(file.id)));
  const TreeWriter::Deeper deeper(out);
  if (file.package) out.Line("package", ToString(*file.package), file.package->span);
  for (const DeclPtr& decl : file.decls) PrintDecl(*decl, out);
  for (const Comment& comment : file.comments) out.Line("comment", Quote(comment.text), comment.span);
  return out.Take();
}

}  // namespace wf::ast
