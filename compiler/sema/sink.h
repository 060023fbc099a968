#pragma once

#include "compiler/sema/env.h"

namespace wf::sema {

enum class LocalKind : uint8_t { kParam, kLet, kNode, kIndex, kLoop, kAccumulator, kArm, kErr };

// What Check says about sound and unsound programs alike while it finds out what names mean: for editors. A thing is known by the place of
// its name where it is declared. The same may be said several times, since the body of a library function is checked once per instance.
// Thread: that of Check.   Borrows: what it is told, until Check returns; types, too.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void Collected(const std::deque<Module>& modules) = 0;                   // before all others
  virtual void Declare(const Local& local, LocalKind kind) = 0;                    // a name inside a declaration
  virtual void Use(const Span& use, const Span& declared) = 0;                     // `declared` may begin a larger span
  virtual void UseField(const Span& use, TypeRef record, const Field& field) = 0;  // `use`: the name after the dot
  virtual void ReadMember(const Span& name, TypeRef object) = 0;                   // `name`, known or not, is read of a value of the type
  virtual void Checked(const Entity& entity, const Program& so_far) = 0;           // a declaration, its body included
};

}  // namespace wf::sema
