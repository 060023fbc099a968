#include "compiler/natives/type_rows.h"

#include <utility>

#include "runtime/base/json_text.h"

namespace wf::natives {

TypeRows::TypeRows(const ir::TypeTable& types) {
  for (size_t i = 0; i < types.size(); ++i) rows_.push_back(RowOf(types, static_cast<ir::TypeId>(i)));
}

wf_bytes TypeRows::Text(std::string text) {
  const std::string& kept = texts_.emplace_back(std::move(text));
  return {reinterpret_cast<const uint8_t*>(kept.data()), kept.size()};
}

wf_type TypeRows::RowOf(const ir::TypeTable& types, ir::TypeId id) {
  const ir::Type& type = types[id];
  const ir::Layout layout = ir::LayoutOf(types, id);
  wf_type row{};
  row.kind = static_cast<uint8_t>(type.kind);
  row.dtype = static_cast<uint8_t>(type.dtype);
  row.rank = static_cast<uint8_t>(type.dims.size());
  row.element = type.element == ir::TypeId::kNone ? static_cast<uint16_t>(WF_NONE) : static_cast<uint16_t>(type.element);
  row.n_fields = static_cast<uint16_t>(type.fields.size());
  row.size = layout.size;
  row.align = layout.align;
  if (type.kind == ir::TypeKind::kOptional) row.has_offset = ir::LayoutOf(types, type.element).size;
  if (type.kind == ir::TypeKind::kMap) {
    const ir::EntryLayout entry = ir::MapEntry(types, type.element);
    row.map_value_offset = entry.value_offset;
    row.map_entry_size = entry.size;
  }
  std::vector<wf_field>& fields = fields_.emplace_back();
  for (size_t i = 0; i < type.fields.size(); ++i)
    fields.push_back({Text(type.fields[i].name), Text(base::JsonBeforeValue(type.fields[i].name)), ir::FieldOffset(types, id, i),
                      static_cast<uint16_t>(type.fields[i].type), 0});
  row.fields = fields.data();
  row.dim = dims_.emplace_back(type.dims).data();
  row.name = Text(types.ToString(id));
  return row;
}

}  // namespace wf::natives
