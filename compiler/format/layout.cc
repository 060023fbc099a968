// Declarations, types and settings.

#include "compiler/format/layout.h"

#include "compiler/format/format.h"
#include "runtime/base/check.h"

namespace wf::format {
namespace {

using ast::DeclKind;

// Whether empty lines set the declaration apart from its neighbours, written or not.
bool StandsApart(const ast::Decl& decl) {
  if (const auto* fn = ast::DynAs<ast::FnDecl>(decl)) return fn->body.span != fn->body.value->span;
  return decl.kind == DeclKind::kWorkflowDecl || decl.kind == DeclKind::kServiceDecl || decl.kind == DeclKind::kTestDecl;
}

bool BringsBraces(const ast::Expr& expr) {
  using ast::ExprKind;
  return expr.kind == ExprKind::kIfExpr || expr.kind == ExprKind::kMatchExpr || expr.kind == ExprKind::kForExpr ||
         expr.kind == ExprKind::kFoldExpr;
}

bool WantsBlankBetween(const ast::Decl& above, const ast::Decl& below) {
  return StandsApart(above) || StandsApart(below) || (above.kind == DeclKind::kImportDecl) != (below.kind == DeclKind::kImportDecl);
}

}  // namespace

Doc Layout::File() {
  std::vector<Doc> parts;
  const auto add = [&](bool wants_blank, const std::function<Doc()>& rule) {
    const Trivia before = at_.TakeTrivia();
    parts.push_back(before.trailing);
    if (!parts.empty()) parts.push_back(docs_.HardLine());
    if (before.blank_before || wants_blank) parts.push_back(docs_.Blank());
    parts.push_back(before.leading);
    parts.push_back(rule());
  };
  if (file_.package) {
    add(false, [&] { return Concat({Token("package"), Space(), Path(*file_.package), at_.Close(";")}); });
  }
  for (size_t number = 0; number < file_.decls.size(); ++number) {
    const ast::Decl& decl = *file_.decls[number];
    const bool blank = number == 0 ? file_.package.has_value() : WantsBlankBetween(*file_.decls[number - 1], decl);
    add(blank, [&] { return Decl(decl); });
  }
  add(false, [&] { return docs_.Empty(); });
  WF_CHECK(at_.AtEnd());
  return Concat(std::move(parts));
}

Doc Layout::Decl(const ast::Decl& decl) {
  switch (decl.kind) {
    case DeclKind::kErrorDecl:
      WF_CHECK(false);  // only files without errors are formatted
    case DeclKind::kImportDecl:
      return Import(*ast::DynAs<ast::ImportDecl>(decl));
    case DeclKind::kConstDecl:
      return Const(*ast::DynAs<ast::ConstDecl>(decl));
    case DeclKind::kTypeDecl:
      return TypeDeclaration(*ast::DynAs<ast::TypeDecl>(decl));
    case DeclKind::kErrorCodeDecl:
      return ErrorCode(*ast::DynAs<ast::ErrorCodeDecl>(decl));
    case DeclKind::kFnDecl:
      return Fn(*ast::DynAs<ast::FnDecl>(decl));
    case DeclKind::kExternDecl:
      return Extern(*ast::DynAs<ast::ExternDecl>(decl));
    case DeclKind::kModelDecl:
      return Model(*ast::DynAs<ast::ModelDecl>(decl));
    case DeclKind::kRemoteDecl:
      return Remote(*ast::DynAs<ast::RemoteDecl>(decl));
    case DeclKind::kWorkflowDecl:
      return Workflow(*ast::DynAs<ast::WorkflowDecl>(decl));
    case DeclKind::kServiceDecl:
      return Service(*ast::DynAs<ast::ServiceDecl>(decl));
    case DeclKind::kTestDecl:
      return Test(*ast::DynAs<ast::TestDecl>(decl));
  }
  WF_CHECK(false, static_cast<int>(decl.kind));
}

Doc Layout::Import(const ast::ImportDecl& decl) {
  const Doc head = Concat({Token("import"), Space(), Path(decl.path)});
  const Doc alias = decl.name.text.empty() ? docs_.Empty() : Concat({Space(), Words(2)});
  return Concat({head, alias, at_.Close(";")});
}

Doc Layout::Const(const ast::ConstDecl& decl) {
  const Doc head = Words(2);
  const Doc type = decl.type == nullptr ? docs_.Empty() : Concat({Token(":"), Space(), Type(*decl.type)});
  return Concat({head, type, Space(), Token("="), Indented(*decl.value), at_.Close(";")});
}

Doc Layout::TypeDeclaration(const ast::TypeDecl& decl) {
  const Doc head = Words(2);
  const auto field = [&](size_t number) { return Concat({TypeField(decl.fields[number]), at_.Close(";")}); };
  return Concat({head, Space(), Braced({.count = decl.fields.size()}, field)});
}

Doc Layout::ErrorCode(const ast::ErrorCodeDecl& decl) {
  const Doc head = Words(decl.status ? 7 : 5);
  return Concat({head, at_.Close(";")});
}

Doc Layout::Fn(const ast::FnDecl& decl) {
  const Doc head = Concat({Words(2), TypeParams(decl.type_params), Params(decl.params), Space(), Token("->"), Space(), Type(*decl.result)});
  if (!at_.At("=")) return Concat({head, Space(), Block(decl.body, {.always_broken = true})});
  const Doc equals = Token("=");
  const bool broken = at_.BreakAhead();
  const bool hug = !broken && BringsBraces(*decl.body.value);
  const Doc value = Expr(*decl.body.value);
  const Doc body = hug ? Concat({Space(), value}) : docs_.Group(docs_.Nest(Concat({docs_.Line(), value})), broken);
  return Concat({head, Space(), equals, body, at_.Close(";")});
}

Doc Layout::Extern(const ast::ExternDecl& decl) {
  const Doc head = Concat({Words(3), TypeParams(decl.type_params), Params(decl.params), Space(), Token("->"), Space(), Type(*decl.result)});
  return Concat({head, Space(), Token("="), Space(), Binding(decl.binding)});
}

Doc Layout::Model(const ast::ModelDecl& decl) {
  const Doc head = Words(2);
  const Doc signature =
      decl.has_signature ? Concat({Params(decl.params), Space(), Token("->"), Space(), Type(*decl.result)}) : docs_.Empty();
  return Concat({head, signature, Space(), Token("="), Space(), Binding(decl.binding)});
}

Doc Layout::Remote(const ast::RemoteDecl& decl) {
  const Doc head = Concat({Words(2), Params(decl.params), Space(), Token("->"), Space(), Type(*decl.result)});
  return Concat({head, Space(), Token("="), Space(), Binding(decl.binding)});
}

Doc Layout::Workflow(const ast::WorkflowDecl& decl) {
  const Doc head = Concat({Words(2), Params(decl.params), Space(), Token("->"), Space(), Type(*decl.result)});
  return Concat({head, Space(), Body(decl.body)});
}

Doc Layout::Service(const ast::ServiceDecl& decl) {
  const Doc head = Words(2);
  size_t member = 0, setting = 0;
  const auto item = [&](size_t) {
    const bool is_member = member < decl.members.size() && decl.members[member].span.begin == at_.Begin();
    if (!is_member) return Setting(decl.settings[setting++]);
    const ast::ServiceDecl::Member& one = decl.members[member++];
    const Doc target = Concat({at_.Take(), Space(), Path(one.target)});
    const Doc published = one.published_name ? Concat({Space(), Words(2)}) : docs_.Empty();
    return Concat({target, published, at_.Close(";")});
  };
  return Concat({head, Space(), Braced({.count = decl.members.size() + decl.settings.size(), .always_broken = true}, item)});
}

Doc Layout::Test(const ast::TestDecl& decl) {
  const Doc head = Words(2);
  return Concat({head, Space(), Body(decl.body)});
}

Doc Layout::Binding(const ast::Binding& binding) {
  const Doc call = Concat({at_.Take(), Arguments(binding.arguments)});
  return binding.settings ? Concat({call, Space(), Settings(*binding.settings)}) : Concat({call, at_.Close(";")});
}

Doc Layout::Settings(const ast::Settings& settings) {
  return Braced({.count = settings.settings.size()}, [&](size_t number) { return Setting(settings.settings[number]); });
}

Doc Layout::Setting(const ast::Setting& setting) {
  std::vector<Doc> parts = {at_.Take()};
  for (const ast::SettingArg& arg : setting.args) {
    parts.push_back(Space());
    parts.push_back(SettingArg(arg));
  }
  parts.push_back(at_.Close(";"));
  return Concat(std::move(parts));
}

Doc Layout::SettingArg(const ast::SettingArg& arg) {
  switch (arg.kind) {
    case ast::SettingArg::Kind::kNumber:
      return arg.negative ? Concat({Token("-"), at_.Take()}) : at_.Take();
    case ast::SettingArg::Kind::kString:
      return at_.Take();
    case ast::SettingArg::Kind::kPath:
      return Path(arg.path);
    case ast::SettingArg::Kind::kCall:
      return Concat({Path(arg.path), Arguments(arg.arguments)});
    case ast::SettingArg::Kind::kList:
      return Expr(*arg.list);
    case ast::SettingArg::Kind::kMap:
      return Braced({.count = arg.entries.size()},
                    [&](size_t) { return Concat({at_.Take(), Token(":"), Space(), at_.Take(), at_.Close(";")}); });
  }
  WF_CHECK(false, static_cast<int>(arg.kind));
}

Doc Layout::TypeParams(const std::vector<ast::Name>& names) {
  if (names.empty()) return docs_.Empty();
  const Doc open = Token("<"), inside = docs_.Nest(Names());
  return Concat({open, inside, Token(">")});
}

Doc Layout::Params(const std::vector<ast::Param>& params) {
  return Bracketed({.open = "(", .close = ")", .count = params.size()}, [&](size_t number) {
    const ast::Param& param = params[number];
    const Doc name = param.external_name ? Words(3) : at_.Take();
    const Doc type = Concat({Token(":"), Space(), Type(*param.type)});
    if (param.default_value == nullptr) return Concat({name, type});
    return Concat({name, type, Space(), Token("="), Space(), Expr(*param.default_value)});
  });
}

Doc Layout::TypeField(const ast::Type::Field& field) {
  return Concat({field.external_name ? Words(3) : at_.Take(), Token(":"), Space(), Type(*field.type)});
}

Doc Layout::Type(const ast::Type& type) {
  std::vector<Doc> parts;
  if (type.kind == ast::Type::Kind::kTuple) {
    const Brackets brackets = {.open = "(", .close = ")", .count = type.fields.size()};
    parts.push_back(Bracketed(brackets, [&](size_t number) { return TypeField(type.fields[number]); }));
  } else {
    parts.push_back(Path(type.name));
    if (type.argument != nullptr) {
      parts.push_back(Token("<"));
      parts.push_back(docs_.Nest(Type(*type.argument)));
      parts.push_back(Token(">"));
    }
    if (type.is_tensor) parts.push_back(Dims());
  }
  if (type.optional) parts.push_back(Token("?"));
  return Concat(std::move(parts));
}

// The tree of a dimension does not keep its parentheses; the tokens do.
Doc Layout::Dims() {
  const Doc open = Token("[");
  std::vector<Doc> parts;
  while (!at_.At("]")) {
    const bool comma = at_.At(","), spaced = at_.At("+") || at_.At("-");
    if (spaced) parts.push_back(Space());
    parts.push_back(comma ? at_.Close(",") : at_.Take());
    if (comma || spaced) parts.push_back(Space());
  }
  const Doc inside = docs_.Nest(Concat(std::move(parts)));
  return Concat({open, inside, Token("]")});
}

std::string Format(const ast::File& file, const source::SourceMap& sources) {
  Docs docs;
  const Doc all = Layout(file, sources, docs).File();
  std::string text = docs.Print(all, kLineWidth);
  return text == "\n" ? "" : text;
}

}  // namespace wf::format
