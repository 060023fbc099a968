// What clients send must still be taken: parameters. What they get must still be what they know: results.

#include <fmt/format.h>

#include <algorithm>

#include "compiler/interface/compare.h"
#include "compiler/interface/shapes.h"
#include "compiler/interface/wire.h"

namespace wf::interface {
namespace {

using base::Dim;

enum class Way : uint8_t { kIn, kOut };

// A value within a message: how messages name it, and the JSON around it.
struct Spot {
  std::string text, before, after;
  bool is_member = false;  // of a record: it may be left out where it may be null
  std::string Null() const { return "`" + before + "null" + after + "`"; }
  Spot Member(const std::string& name) const {
    return {fmt::format("`{}` of {}", name, text), before + "{\"" + name + "\":", "}" + after, true};
  }
  Spot Element(bool of_map) const { return {"an element of " + text, before + (of_map ? "{\"a\":" : "["), (of_map ? "}" : "]") + after}; }
};

const Port* Find(const std::vector<Port>& ports, const std::string& name) {
  const auto row = std::find_if(ports.begin(), ports.end(), [&](const Port& port) { return port.name == name; });
  return row == ports.end() ? nullptr : &*row;
}

const Field* Find(const std::vector<Field>& fields, const std::string& name) {
  const auto row = std::find_if(fields.begin(), fields.end(), [&](const Field& field) { return field.name == name; });
  return row == fields.end() ? nullptr : &*row;
}

bool IsInteger(const Type& type) {
  return type.kind == ir::TypeKind::kScalar && type.dtype != ir::DType::kBool && !ir::IsFloat(type.dtype);
}

class PortComparer {
 public:
  PortComparer(const CallOf& old, const CallOf& now, const std::string& where, Found& found)
      : old_interface_(old.interface), now_interface_(now.interface), old_(old.call), now_(now.call), where_(where), found_(found) {}

  void Run() {
    BindInputs();
    for (const Port& port : old_.in) CompareParameter(port);
    for (const Port& port : now_.in) {
      if (Find(old_.in, port.name) != nullptr) continue;
      Say(port.required ? Impact::kBreaking : Impact::kAddition,
          fmt::format("parameter `{}` is new{}", port.name, port.required ? " and required: calls without it are refused" : ""),
          port.place);
    }
    CompareRawBody();
    FixOldSymbols();
    for (const Port& port : old_.out) {
      const Port* other = Find(now_.out, port.name);
      if (other == nullptr) {
        Say(Impact::kBreaking, fmt::format("result `{}` is gone", port.name), now_.place);
      } else {
        ComparePort(Way::kOut, port, *other);
      }
    }
    for (const Port& port : now_.out) {
      if (Find(old_.out, port.name) == nullptr) Say(Impact::kAddition, fmt::format("result `{}` is new", port.name), port.place);
    }
  }

 private:
  void Say(Impact impact, std::string message, const Place& place) { found_.push_back({impact, where_, std::move(message), place}); }

  // The values of the new symbols that make the new parameters those of the old: bare symbols first, so that the others can be solved.
  void BindInputs() {
    for (const Port& port : now_.in) {
      const Port* before = Find(old_.in, port.name);
      if (before != nullptr && IsInteger(port.type) && IsInteger(before->type)) inputs_.Fix(port.name, Dim::Symbol(port.name));
    }
    for (const bool bare : {true, false}) {
      for (const Port& port : now_.in) {
        const Port* before = Find(old_.in, port.name);
        if (before == nullptr || before->type.dims.size() != port.type.dims.size()) continue;
        for (size_t axis = 0; axis < port.type.dims.size(); ++axis) {
          if (port.type.dims[axis].symbol().has_value() == bare) inputs_.Match(port.type.dims[axis], before->type.dims[axis]);
        }
      }
    }
  }

  void FixOldSymbols() {
    for (const Port& port : old_.in) {
      if (IsInteger(port.type)) outputs_.Fix(port.name, Dim::Symbol(port.name));
      for (const Dim& dim : port.type.dims) {
        for (const std::string& symbol : dim.Symbols()) outputs_.Fix(symbol, Dim::Symbol(symbol));
      }
    }
  }

  void CompareParameter(const Port& old) {
    const Port* now = Find(now_.in, old.name);
    if (now == nullptr)
      return Say(Impact::kBreaking, fmt::format("parameter `{}` is gone: calls that send it are refused", old.name), now_.place);
    ComparePort(Way::kIn, old, *now);
    if (!old.required && now->required)
      Say(Impact::kBreaking, fmt::format("parameter `{}` is now required: calls without it are refused", old.name), now->place);
    if (old.required && !now->required) Say(Impact::kAddition, fmt::format("parameter `{}` may now be left out", old.name), now->place);
    if (!old.required && !now->required && old.default_value != now->default_value) {
      const auto shown = [](const Port& port) { return port.default_value.empty() ? "another value" : "`" + port.default_value + "`"; };
      Say(Impact::kBreaking,
          fmt::format("the default of `{}` was {}, is {}: calls that leave it out get another answer", old.name, shown(old), shown(*now)),
          now->place);
    }
  }

  void ComparePort(Way way, const Port& old, const Port& now) {
    const size_t before = found_.size();
    place_ = &now.place;
    const std::string text = (way == Way::kIn ? "parameter `" : "result `") + old.name + "`";
    CompareType(way, {text, "{\"" + old.name + "\":", "}"}, old.type, now.type);
    const bool breaks = std::any_of(found_.begin() + static_cast<ptrdiff_t>(before), found_.end(),
                                    [](const Change& change) { return change.impact == Impact::kBreaking; });
    if (breaks) return;
    const std::string was = OipText(old.type, way == Way::kOut), is = OipText(now.type, way == Way::kOut);
    if (was != is) Say(Impact::kBreaking, fmt::format("`{}` was {} on the Open Inference Protocol, is {}", old.name, was, is), now.place);
  }

  void SayNull(Way way, const Spot& what, bool now_optional) {
    const char* const or_absent = what.is_member ? " or left out" : "";  // of a parameter, that is said apart
    if (way == Way::kIn && now_optional) {
      Say(Impact::kAddition, fmt::format("{} may now be null{}: {} is taken", what.text, or_absent, what.Null()), *place_);
    } else if (way == Way::kIn) {
      Say(Impact::kBreaking, fmt::format("{} may no longer be null{}: {} is refused", what.text, or_absent, what.Null()), *place_);
    } else if (now_optional) {
      Say(Impact::kBreaking, fmt::format("{} may now be null: clients that rely on a value may get {}", what.text, what.Null()), *place_);
    } else {
      Say(Impact::kDetail, fmt::format("{} is never null now: no answer is {}", what.text, what.Null()), *place_);
    }
  }

  void CompareType(Way way, const Spot& what, const Type& old, const Type& now) {
    const bool old_optional = old.kind == ir::TypeKind::kOptional, now_optional = now.kind == ir::TypeKind::kOptional;
    if (old_optional != now_optional) {
      SayNull(way, what, now_optional);
      return CompareType(way, what, old_optional ? old.element[0] : old, now_optional ? now.element[0] : now);
    }
    const bool same_shape = old.kind == now.kind && old.dtype == now.dtype && old.dims.size() == now.dims.size();
    if (!same_shape) return Say(Impact::kBreaking, fmt::format("{} was `{}`, is `{}`", what.text, ToString(old), ToString(now)), *place_);
    if (old.kind == ir::TypeKind::kTensor) return CompareDims(way, what.text, old, now);
    if (old.kind == ir::TypeKind::kRecord) return CompareFields(way, what, old, now);
    if (old_optional) return CompareType(way, what, old.element[0], now.element[0]);
    if (!old.element.empty()) CompareType(way, what.Element(old.kind == ir::TypeKind::kMap), old.element[0], now.element[0]);
  }

  void CompareDims(Way way, const std::string& what, const Type& old, const Type& now) {
    bool same = true, holds = true;
    for (size_t axis = 0; axis < old.dims.size(); ++axis) {
      if (way == Way::kIn) {
        holds = holds && inputs_.Match(now.dims[axis], old.dims[axis]);
        same = same && loosened_.Match(old.dims[axis], now.dims[axis]);
      } else {
        holds = holds && outputs_.Match(old.dims[axis], inputs_.Apply(now.dims[axis]));
      }
    }
    const std::string was = ToString(old), is = ToString(now),
                      text = was == is ? "`" + was + "`" : fmt::format("was `{}`, is `{}`", was, is);
    if (!holds) {
      Say(Impact::kBreaking,
          way == Way::kIn ? fmt::format("{} {}: shapes that were taken are refused", what, was == is ? "stands for fewer shapes" : text)
                          : fmt::format("{} {}: shapes that calls relied on no longer hold", what, was == is ? "has other shapes" : text),
          *place_);
    } else if (!same) {
      Say(Impact::kAddition, fmt::format("{} {}: more shapes are taken", what, was == is ? "stands for more shapes" : text), *place_);
    }
  }

  void CompareFields(Way way, const Spot& what, const Type& old, const Type& now) {
    const std::vector<Field>&old_fields = FieldsOf(old_interface_, old), &now_fields = FieldsOf(now_interface_, now);
    for (const Field& field : old_fields) {
      const Field* other = Find(now_fields, field.name);
      if (other == nullptr) {
        Say(Impact::kBreaking, fmt::format("member `{}` of {} is gone", field.name, what.text), *place_);
      } else {
        CompareType(way, what.Member(field.name), field.type, other->type);
      }
    }
    for (const Field& field : now_fields) {
      if (Find(old_fields, field.name) != nullptr) continue;
      const bool wanted = way == Way::kIn && field.type.kind != ir::TypeKind::kOptional;
      Say(wanted ? Impact::kBreaking : Impact::kAddition,
          fmt::format("member `{}` of {} is new{}", field.name, what.text, wanted ? " and required" : ""), *place_);
    }
  }

  void CompareRawBody() {
    const Port *old = RawBody(old_), *now = RawBody(now_);
    if (old != nullptr && now == nullptr && Find(now_.in, old->name) != nullptr)
      Say(Impact::kBreaking, fmt::format("the body is no longer taken as `{}`", old->name), now_.place);
    if (old == nullptr && now != nullptr)
      Say(Impact::kAddition, fmt::format("a body that is not JSON is now taken as `{}`", now->name), now->place);
  }

  const Interface &old_interface_, &now_interface_;
  const Call &old_, &now_;
  const std::string& where_;
  Found& found_;
  ShapeMatch inputs_;    // new symbols in terms of the old
  ShapeMatch loosened_;  // the other way round, to see what is taken beyond the old
  ShapeMatch outputs_;   // old symbols of results
  const Place* place_ = nullptr;
};

}  // namespace

void ComparePorts(const CallOf& old, const CallOf& now, const std::string& where, Found& found) {
  PortComparer(old, now, where, found).Run();
}

}  // namespace wf::interface
