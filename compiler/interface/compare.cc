#include "compiler/interface/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "compiler/interface/wire.h"
#include "runtime/abi/defaults.h"
#include "runtime/base/status.h"
#include "runtime/base/units.h"

namespace wf::interface {
namespace {

template <typename T>
const T* Named(const std::vector<T>& items, const std::string& name) {
  const auto row = std::find_if(items.begin(), items.end(), [&](const T& item) { return item.name == name; });
  return row == items.end() ? nullptr : &*row;
}

const Meta* Keyed(const std::vector<Meta>& items, const std::string& key) {
  const auto row = std::find_if(items.begin(), items.end(), [&](const Meta& item) { return item.key == key; });
  return row == items.end() ? nullptr : &*row;
}

bool Has(const auto& items, const auto& wanted) { return std::find(items.begin(), items.end(), wanted) != items.end(); }

// Whether clients may still ask for every version that they might have asked for.
bool VersionsCover(const std::string& now, const std::string& old) {
  const auto words = [](const std::string& text) {
    std::istringstream in(text);
    return std::vector<std::string>(std::istream_iterator<std::string>(in), {});
  };
  const std::vector<std::string> old_words = words(old), now_words = words(now);
  if (now == old || now == "all") return true;
  if (old_words.size() < 2 || now_words.size() < 2 || old_words[0] != now_words[0]) return false;
  if (old_words[0] == "latest")
    return now_words[1].size() > old_words[1].size() || (now_words[1].size() == old_words[1].size() && now_words[1] >= old_words[1]);
  return std::all_of(old_words.begin() + 1, old_words.end(), [&](const std::string& version) { return Has(now_words, version); });
}

class Comparer {
 public:
  Comparer(const Interface& old, const Interface& now) : old_(old), now_(now) {
    for (const Error& error : old_.errors) {
      const auto is_it = [&](const Error& other) {
        return other.name == error.name && old_.FindError(other.code) == nullptr && !was_.contains(other.code);
      };
      const auto other = std::find_if(now_.errors.begin(), now_.errors.end(), is_it);
      if (now_.FindError(error.code) == nullptr && other != now_.errors.end()) was_.emplace(other->code, error.code);
    }
  }

  Found Run() {
    for (const Service& service : old_.services) {
      const Service* other = Named(now_.services, service.name);
      if (other != nullptr) {
        CompareServices(service, *other);
      } else {
        Say(Impact::kBreaking, service.name, fmt::format("service `{}` is gone", service.name), {});
      }
    }
    for (const Service& service : now_.services) {
      if (Named(old_.services, service.name) == nullptr)
        Say(Impact::kAddition, service.name, fmt::format("service `{}` is new", service.name), service.place);
    }
    CompareOipNames();
    CompareErrors();
    return std::move(found_);
  }

 private:
  void Say(Impact impact, std::string where, std::string message, const Place& place) {
    found_.push_back({impact, std::move(where), std::move(message), place});
  }

  void CompareServices(const Service& old, const Service& now) {
    for (const Call& call : old.calls) {
      const Call* other = Named(now.calls, call.name);
      if (other != nullptr) {
        CompareCalls(old.name + "/" + call.name, call, *other);
      } else {
        Say(Impact::kBreaking, old.name, fmt::format("`POST /{}/{}` is gone", old.name, call.name), now.place);
      }
    }
    for (const Call& call : now.calls) {
      if (Named(old.calls, call.name) == nullptr)
        Say(Impact::kAddition, now.name, fmt::format("`POST /{}/{}` is new", now.name, call.name), call.place);
    }
    const auto limit = [&](const char* what, uint64_t was, uint64_t is, const auto& text) {
      if (is == was) return;
      Say(is < was ? Impact::kBreaking : Impact::kAddition, now.name,
          fmt::format("`{}` was {}, is {}{}", what, text(was), text(is), is < was ? ": what is larger is refused" : ""), now.place);
    };
    const auto body = [](const Service& one) {
      return one.body_bytes != 0 ? one.body_bytes : static_cast<uint64_t>(abi::kBodyBytes.value);
    };
    limit("body", body(old), body(now), base::SizeText);
    const auto rows = [](const Service& one) { return uint64_t{one.rows != 0 ? one.rows : abi::kMostRows}; };
    limit("rows", rows(old), rows(now), [](uint64_t number) { return std::to_string(number); });
    const auto timeout = [](const Service& one) { return one.timeout_ns != 0 ? one.timeout_ns : abi::kTimeoutNs.value; };
    if (timeout(old) != timeout(now)) {
      Say(Impact::kDetail, now.name,
          fmt::format("`timeout` was {}, is {}", base::DurationText(timeout(old)), base::DurationText(timeout(now))), now.place);
    }
  }

  void CompareCalls(const std::string& where, const Call& old, const Call& now) {
    ComparePorts({old_, old}, {now_, now}, where, found_);
    CompareVersions(where, old, now);
    CompareMeta(where, old, now);
    for (const std::string& key : old.annotations) {
      if (!Has(now.annotations, key))
        Say(Impact::kBreaking, where, fmt::format("annotation `{}` no longer comes with the answer", key), now.place);
    }
    for (const std::string& key : now.annotations) {
      if (!Has(old.annotations, key)) Say(Impact::kAddition, where, fmt::format("annotation `{}` is new", key), now.place);
    }
    CompareCodes(where, old, now);
  }

  void CompareVersions(const std::string& where, const Call& old, const Call& now) {
    if (old.is_model != now.is_model) {
      Say(Impact::kBreaking, where,
          now.is_model ? "it was a workflow, which has version 1, and is a model"
                       : "it was a model with versions of its own, and is a workflow",
          now.place);
    } else if (old.versions != now.versions) {
      const bool covers = VersionsCover(now.versions, old.versions);
      Say(covers ? Impact::kAddition : Impact::kBreaking, where, fmt::format("`versions` was `{}`, is `{}`", old.versions, now.versions),
          now.place);
    }
  }

  void CompareMeta(const std::string& where, const Call& old, const Call& now) {
    for (const Meta& meta : old.meta) {
      const Meta* other = Keyed(now.meta, meta.key);
      if (other == nullptr) {
        Say(Impact::kBreaking, where, fmt::format("metadata `{}` is no longer read", meta.key), now.place);
      } else if (ToString(meta.type) != ToString(other->type)) {
        Say(Impact::kBreaking, where, fmt::format("metadata `{}` was `{}`, is `{}`", meta.key, ToString(meta.type), ToString(other->type)),
            other->place);
      } else if (meta.default_value != other->default_value) {
        const auto shown = [](const Meta& one) { return one.default_value.empty() ? "computed" : "`" + one.default_value + "`"; };
        Say(Impact::kBreaking, where,
            fmt::format("the default of metadata `{}` was {}, is {}: calls without it get another answer", meta.key, shown(meta),
                        shown(*other)),
            other->place);
      }
    }
    for (const Meta& meta : now.meta) {
      if (Keyed(old.meta, meta.key) == nullptr) Say(Impact::kAddition, where, fmt::format("metadata `{}` is read", meta.key), meta.place);
    }
  }

  // Codes of the framework may come to any call: what the program gives of its own is compared.
  void CompareCodes(const std::string& where, const Call& old, const Call& now) {
    for (const int32_t code : now.errors) {
      const Error* error = now_.FindError(code);
      if (error == nullptr || Has(old.errors, code)) continue;
      const auto was = was_.find(code);
      if (was != was_.end() && Has(old.errors, was->second)) continue;
      Say(Impact::kAddition, where, fmt::format("it may fail with {} `{}`, HTTP {}", code, error->name, HttpStatusOf(*error)),
          error->place);
    }
    for (const int32_t code : old.errors) {
      const Error* error = old_.FindError(code);
      const bool is_renumbered = std::any_of(was_.begin(), was_.end(), [&](const auto& row) { return row.second == code; });
      if (error == nullptr || Has(now.errors, code) || is_renumbered) continue;
      Say(Impact::kDetail, where, fmt::format("it no longer fails with {} `{}`", code, error->name), now.place);
    }
  }

  static int HttpStatusOf(const Error& error) { return base::HttpStatus(static_cast<base::StatusCode>(error.status)); }

  void CompareErrors() {
    for (const auto& [is, was] : was_) {
      const Error& error = *now_.FindError(is);
      Say(Impact::kBreaking, "", fmt::format("the code of error `{}` was {}, is {}", error.name, was, is), error.place);
    }
    for (const Error& error : old_.errors) {
      const Error* other = now_.FindError(error.code);
      if (other == nullptr) continue;
      if (other->name != error.name)
        Say(Impact::kBreaking, "", fmt::format("error {} was called `{}`, is called `{}`", error.code, error.name, other->name),
            other->place);
      if (HttpStatusOf(*other) != HttpStatusOf(error) || other->status != error.status) {
        Say(Impact::kBreaking, "",
            fmt::format("error {} `{}` was HTTP {} (canonical {}), is {} ({})", error.code, error.name, HttpStatusOf(error), error.status,
                        HttpStatusOf(*other), other->status),
            other->place);
      }
      if (other->message != error.message)
        Say(Impact::kDetail, "", fmt::format("error {} `{}` says something else", error.code, error.name), other->place);
    }
  }

  // Names that lead elsewhere, or nowhere, although the call is still there.
  void CompareOipNames() {
    const auto old = OipNames(old_), now = OipNames(now_);
    for (const auto& [name, call] : old) {
      const auto other = now.find(name);
      const bool is_there = std::any_of(now.begin(), now.end(), [&, wanted = &call](const auto& row) { return row.second == *wanted; });
      if (!is_there || (other != now.end() && other->second == call)) continue;
      const std::string is = other == now.end() ? "no call" : "`" + other->second + "`";
      Say(Impact::kBreaking, "", fmt::format("model name `{}` of the Open Inference Protocol was `{}`, is {}", name, call, is), {});
    }
  }

  const Interface &old_, &now_;
  std::map<int32_t, int32_t> was_;  // of errors that have another code now: the old by the new. Several may have one name.
  Found found_;
};

}  // namespace

std::vector<Change> Compare(const Interface& old, const Interface& now) { return Comparer(old, now).Run(); }

Impact Worst(const std::vector<Change>& changes) {
  Impact worst = Impact::kNone;
  for (const Change& change : changes) worst = std::max(worst, change.impact);
  return worst;
}

}  // namespace wf::interface
