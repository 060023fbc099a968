#include "compiler/sema/mentions.h"

#include <vector>

namespace wf::sema {
namespace {

// A walk with a stack of its own: chains of operators are deep.
class Walk {
 public:
  using OnIndexed = std::function<void(const ast::IndexExpr&)>;
  using OnType = std::function<void(const ast::Type&)>;
  explicit Walk(NameSet& names, const OnIndexed* on_indexed = nullptr, const OnType* on_type = nullptr)
      : names_(names), on_indexed_(on_indexed), on_type_(on_type) {}

  void Add(const ast::ExprPtr& expr) {
    if (expr) open_.push_back(expr.get());
  }
  void Add(const ast::Expr& expr) { open_.push_back(&expr); }
  void Add(const std::vector<ast::Argument>& arguments) {
    for (const ast::Argument& argument : arguments) Add(argument.value);
  }
  void Add(const ast::Path& path) {
    if (!path.parts.empty()) names_.insert(path.parts.front().text);
  }
  void Add(const ast::DimExpr& dim) {
    if (dim.kind == ast::DimExpr::Kind::kSymbol) names_.insert(dim.text);
    for (const ast::DimExpr& operand : dim.operands) Add(operand);
  }
  void Add(const ast::TypePtr& type) {
    if (!type) return;
    if (on_type_ != nullptr) (*on_type_)(*type);
    Add(type->name);
    Add(type->argument);
    for (const ast::DimExpr& dim : type->dims) Add(dim);
    for (const ast::Type::Field& field : type->fields) Add(field.type);
  }
  void Add(const std::vector<ast::Param>& params) {
    for (const ast::Param& param : params) {
      Add(param.type);
      Add(param.default_value);
    }
  }
  void Add(const ast::Binding& binding) {
    Add(binding.arguments);
    if (binding.settings) Add(*binding.settings);
  }
  void Add(const ast::Settings& settings) {
    for (const ast::Setting& setting : settings.settings) {
      for (const ast::SettingArg& argument : setting.args) {
        Add(argument.path);
        Add(argument.arguments);
        Add(argument.list);
      }
    }
  }
  void Add(const ast::Block& block) {
    for (const ast::StmtPtr& stmt : block.statements) Add(*stmt);
    Add(block.value);
    Add(block.fallback);
  }
  void Add(const std::vector<ast::StmtPtr>& stmts) {
    for (const ast::StmtPtr& stmt : stmts) Add(*stmt);
  }
  void Add(const ast::Stmt& stmt);
  void Add(const ast::Decl& decl);
  void Run() {
    while (!open_.empty()) {
      const ast::Expr& expr = *open_.back();
      open_.pop_back();
      Expand(expr);
    }
  }

 private:
  void Expand(const ast::Expr& expr);
  void ExpandControl(const ast::Expr& expr);
  NameSet& names_;
  const OnIndexed* const on_indexed_;
  const OnType* const on_type_;
  std::vector<const ast::Expr*> open_;
};

void Walk::Add(const ast::Stmt& stmt) {
  if (const auto* let = ast::DynAs<ast::LetStmt>(stmt)) {
    Add(let->type);
    Add(let->value);
  } else if (const auto* require = ast::DynAs<ast::RequireStmt>(stmt)) {
    Add(require->condition);
    Add(require->otherwise);
  } else if (const auto* node = ast::DynAs<ast::NodeStmt>(stmt)) {
    Add(node->type);
    Add(node->value);
    if (node->settings) Add(*node->settings);
    Add(node->fallback);
  } else if (const auto* stage = ast::DynAs<ast::StageStmt>(stmt)) {
    Add(stage->nodes);
  } else if (const auto* branch = ast::DynAs<ast::IfStmt>(stmt)) {
    for (const ast::IfStmt::Arm& arm : branch->arms) {
      Add(arm.condition);
      Add(arm.body);
    }
    if (branch->otherwise) Add(*branch->otherwise);
  } else if (const auto* call = ast::DynAs<ast::CallStmt>(stmt)) {
    Add(call->callee);
    Add(call->arguments);
  } else if (const auto* result = ast::DynAs<ast::ReturnStmt>(stmt)) {
    Add(result->value);
  } else if (const auto* failure = ast::DynAs<ast::FailStmt>(stmt)) {
    Add(failure->error);
  } else if (const auto* stub = ast::DynAs<ast::StubStmt>(stmt)) {
    Add(stub->target);
    Add(stub->params);
    Add(stub->value);
  } else if (const auto* expect = ast::DynAs<ast::ExpectStmt>(stmt)) {
    Add(expect->value);
    if (expect->fails) Add(*expect->fails);
  }
}

void Walk::Add(const ast::Decl& decl) {
  if (const auto* constant = ast::DynAs<ast::ConstDecl>(decl)) {
    Add(constant->type);
    Add(constant->value);
  } else if (const auto* record = ast::DynAs<ast::TypeDecl>(decl)) {
    for (const ast::Type::Field& field : record->fields) Add(field.type);
  } else if (const auto* fn = ast::DynAs<ast::FnDecl>(decl)) {
    Add(fn->params);
    Add(fn->result);
    Add(fn->body);
  } else if (const auto* external = ast::DynAs<ast::ExternDecl>(decl)) {
    Add(external->params);
    Add(external->result);
  } else if (const auto* model = ast::DynAs<ast::ModelDecl>(decl)) {
    Add(model->params);
    Add(model->result);
    Add(model->binding);
  } else if (const auto* remote = ast::DynAs<ast::RemoteDecl>(decl)) {
    Add(remote->params);
    Add(remote->result);
    Add(remote->binding);
  } else if (const auto* workflow = ast::DynAs<ast::WorkflowDecl>(decl)) {
    Add(workflow->params);
    Add(workflow->result);
    Add(workflow->body);
  } else if (const auto* service = ast::DynAs<ast::ServiceDecl>(decl)) {
    for (const ast::ServiceDecl::Member& member : service->members) Add(member.target);
  } else if (const auto* test = ast::DynAs<ast::TestDecl>(decl)) {
    Add(test->body);
  }
}

void Walk::ExpandControl(const ast::Expr& expr) {
  if (const auto* branch = ast::DynAs<ast::IfExpr>(expr)) {
    for (const ast::IfExpr::Arm& arm : branch->arms) {
      Add(arm.condition);
      Add(arm.block);
    }
    Add(branch->otherwise);
  } else if (const auto* match = ast::DynAs<ast::MatchExpr>(expr)) {
    Add(match->subject);
    for (const ast::MatchExpr::Arm& arm : match->arms) Add(arm.value);
  } else if (const auto* loop = ast::DynAs<ast::ForExpr>(expr)) {
    Add(loop->source);
    Add(loop->block);
  } else if (const auto* fold = ast::DynAs<ast::FoldExpr>(expr)) {
    Add(fold->initial);
    Add(fold->source);
    Add(fold->block);
  } else if (const auto* list = ast::DynAs<ast::ComprehensionExpr>(expr)) {
    Add(list->value);
    Add(list->source);
    Add(list->condition);
  } else if (const auto* lambda = ast::DynAs<ast::LambdaExpr>(expr)) {
    for (const ast::LambdaExpr::Index& index : lambda->indices) Add(index.extent);
    Add(lambda->body);
  }
}

void Walk::Expand(const ast::Expr& expr) {
  if (const auto* name = ast::DynAs<ast::NameExpr>(expr)) {
    names_.insert(name->name);
  } else if (const auto* literal = ast::DynAs<ast::LiteralExpr>(expr)) {
    if (literal->literal == ast::LiteralKind::kNone) names_.insert("none");
  } else if (const auto* text = ast::DynAs<ast::StringExpr>(expr)) {
    for (const ast::StringExpr::Piece& piece : text->pieces) Add(piece.hole);
  } else if (const auto* member = ast::DynAs<ast::MemberExpr>(expr)) {
    Add(member->object);
  } else if (const auto* call = ast::DynAs<ast::CallExpr>(expr)) {
    Add(call->callee);
    Add(call->arguments);
  } else if (const auto* index = ast::DynAs<ast::IndexExpr>(expr)) {
    if (on_indexed_ != nullptr) (*on_indexed_)(*index);
    Add(index->object);
    for (const ast::Subscript& subscript : index->subscripts) {
      Add(subscript.first);
      Add(subscript.last);
    }
  } else if (const auto* unary = ast::DynAs<ast::UnaryExpr>(expr)) {
    Add(unary->operand);
  } else if (const auto* binary = ast::DynAs<ast::BinaryExpr>(expr)) {
    Add(binary->left);
    Add(binary->right);
  } else if (const auto* failure = ast::DynAs<ast::FailExpr>(expr)) {
    Add(failure->error);
  } else if (const auto* list = ast::DynAs<ast::ListExpr>(expr)) {
    for (const ast::ExprPtr& element : list->elements) Add(element);
  } else if (const auto* paren = ast::DynAs<ast::ParenExpr>(expr)) {
    Add(paren->inner);
  } else if (const auto* tuple = ast::DynAs<ast::TupleExpr>(expr)) {
    for (const ast::TupleExpr::Field& field : tuple->fields) Add(field.value);
  } else {
    ExpandControl(expr);
  }
}

}  // namespace

void CollectNames(const ast::Expr& expr, NameSet& names) {
  Walk walk(names);
  walk.Add(expr);
  walk.Run();
}

void ForEachIndexed(const ast::Expr& expr, const std::function<void(const ast::IndexExpr&)>& visit) {
  NameSet names;
  Walk walk(names, &visit);
  walk.Add(expr);
  walk.Run();
}

void CollectNames(const ast::Stmt& stmt, NameSet& names) {
  Walk walk(names);
  walk.Add(stmt);
  walk.Run();
}

void CollectNames(const ast::Decl& decl, NameSet& names) {
  Walk walk(names);
  walk.Add(decl);
  walk.Run();
}

void ForEachType(const ast::Decl& decl, const std::function<void(const ast::Type&)>& visit) {
  NameSet names;
  Walk walk(names, nullptr, &visit);
  walk.Add(decl);
  walk.Run();
}

}  // namespace wf::sema
