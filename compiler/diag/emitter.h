#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/base/source.h"
#include "compiler/diag/codes.h"
#include "compiler/diag/shorten.h"

namespace wf::diag {

struct Label {
  source::Span span;
  std::string text;
};
struct Edit {
  source::Span span;
  std::string replacement;
};  // a fix that is certain

struct Diagnostic {
  Code code;
  Severity severity;
  std::string message;
  source::Span span;          // primary
  std::string span_label;     // text beside the carets, may be empty
  std::vector<Label> labels;  // secondary
  std::vector<std::string> help;
  std::vector<Edit> fixes;
};

// What another program said: stands whole and on its lines, since what matters may be the last of them.
struct Words {
  std::string text;
};

// An argument of a message: text, shortened and on one line, or a number.
class Argument {
 public:
  Argument(const std::string& text) : text_(Shorten(text)) {}                // NOLINT
  Argument(std::string_view text) : text_(Shorten(text)) {}                  // NOLINT
  Argument(const char* text) : text_(Shorten(text)) {}                       // NOLINT
  Argument(Words words) : text_(std::move(words.text)), has_lines_(true) {}  // NOLINT
  template <typename T>
    requires std::is_integral_v<T>
  Argument(T number) : text_(std::to_string(number)) {}  // NOLINT
  const std::string& text() const { return text_; }
  bool has_lines() const { return has_lines_; }

 private:
  std::string text_;
  bool has_lines_ = false;
};

using Candidates = std::function<std::vector<std::string>()>;  // collected for what is shown alone: they are many

// Refines the diagnostic just emitted; valid until the next Emit. Does nothing to one that is not kept. Texts are shortened.
// Borrows: the diagnostic and its emitter.
class Builder {
 public:
  Builder(Diagnostic* diagnostic, size_t& comparisons) : diagnostic_(diagnostic), comparisons_(&comparisons) {}
  Builder& Here(const std::string& text);                             // beside the primary carets
  Builder& Label(const source::Span& span, const std::string& text);  // the same twice stands once; the first twelve are kept
  Builder& Help(const std::string& text);
  Builder& HelpIf(const std::optional<std::string>& text);  // e.g. from Suggest
  Builder& Fix(const source::Span& span, std::string replacement);
  Builder& FixAlso(const std::vector<source::Span>& spans);  // these too, if there is a fix: what it puts in place goes there
  // Help as of Suggest for `name`, which stands at `span`, and a fix when only one candidate can be meant. Nothing when so many names of
  // the compilation have been likened that more would take too long.
  Builder& DidYouMean(const source::Span& span, std::string_view name, const std::vector<std::string>& candidates);
  Builder& DidYouMean(const source::Span& span, std::string_view name, const Candidates& candidates);
  // The same where there are few: without a near one, all are told.
  Builder& DidYouMeanOneOf(const source::Span& span, std::string_view name, const std::vector<std::string>& candidates);

 private:
  Diagnostic* diagnostic_;  // null: not kept
  size_t* comparisons_;     // that are left
};

// Collects the diagnostics of one compilation. Exact repeats (same code, span, message) are dropped.
// Thread: loop-confined.   Bounds: at most `limit` errors and as many warnings are kept, those that stand first; the rest are counted.
// Names are likened to kMostComparisons others, whatever the limit.
class Emitter {
  using Place = std::tuple<source::FileId, uint32_t, uint32_t, Code, std::string>;  // the message last
  struct Found {
    std::map<Place, Diagnostic> errors, warnings;
    size_t error_count = 0, warning_count = 0;
    bool is_cut = false;
  };

 public:
  explicit Emitter(size_t limit = 200) : limit_(limit) {}
  Builder Emit(const source::Span& span, Code code, std::initializer_list<Argument> arguments = {});

  size_t error_count() const { return found_.error_count; }
  size_t warning_count() const { return found_.warning_count; }
  size_t dropped_error_count() const { return Beyond(found_.error_count); }
  size_t dropped_warning_count() const { return Beyond(found_.warning_count); }
  bool has_errors() const { return found_.error_count != 0; }
  std::vector<Diagnostic> Sorted() const;  // by file, position, code
  // A file with very many errors is not read to its end: nobody knows how many it has.
  void StopCounting() { found_.is_cut = true; }
  bool is_cut() const { return found_.is_cut; }

  // While one of these lives with `on`, nothing is kept or counted: what is looked at did not parse, which has been said.
  class Muted {
   public:
    Muted(Emitter& emitter, bool on) : emitter_(emitter), outer_(emitter.muted_) { emitter.muted_ = outer_ || on; }
    ~Muted() { emitter_.muted_ = outer_; }
    Muted(const Muted&) = delete;
    Muted& operator=(const Muted&) = delete;

   private:
    Emitter& emitter_;
    const bool outer_;
  };

  // While one of these lives, an error at an element of a list that is word for word that at the first element is not kept: one mistake.
  class Elements {
   public:
    explicit Elements(Emitter& emitter) : emitter_(emitter), outer_(emitter.elements_) { emitter.elements_ = this; }
    ~Elements() { emitter_.elements_ = outer_; }
    Elements(const Elements&) = delete;
    Elements& operator=(const Elements&) = delete;
    void Next(const source::Span& span) { is_first_ = !std::exchange(at_, span); }  // the element that is looked at

   private:
    friend class Emitter;
    bool IsAgain(const source::Span& span, Code code, const std::string& message);

    Emitter& emitter_;
    Elements* const outer_;
    std::optional<source::Span> at_;
    bool is_first_ = false;
    std::optional<std::pair<Code, std::string>> told_;  // of the first
  };

  // While one of these lives, what is emitted goes to it, whatever was emitted before.   Borrows: emitter.
  class Apart {
   public:
    explicit Apart(Emitter& emitter) : emitter_(emitter) { std::swap(emitter_.found_, found_); }
    ~Apart() { std::swap(emitter_.found_, found_); }
    Apart(const Apart&) = delete;
    Apart& operator=(const Apart&) = delete;

   private:
    Emitter& emitter_;
    Found found_;
  };

 private:
  static constexpr size_t kMostComparisons = 5'000'000;  // a second or two
  size_t Beyond(size_t count) const { return count > limit_ ? count - limit_ : 0; }

  size_t limit_;
  size_t comparisons_ = kMostComparisons;
  bool muted_ = false;
  Elements* elements_ = nullptr;  // the innermost
  Found found_;
};

// "did you mean `x`?" for the candidate nearest to `name`, if one is near enough.
std::optional<std::string> Suggest(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace wf::diag
