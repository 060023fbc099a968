// Prototypes of the native bodies; runtime_symbols.def has a NATIVE row for each, from which generated code is declared.
// Thread: any; several at once.   Owns: nothing; results live in the job's memory (wf_alloc).   Borrows: arguments, for the call.
// Errors: recorded by wf_fail, then WF_FAILED; codes as docs/errors.
#pragma once

#include "runtime/abi/plan.h"
#include "runtime/abi/values.h"
#include "runtime/nodes/picture_natives.h"
#include "runtime/nodes/sound_natives.h"

#ifdef __cplusplus
extern "C" {
#endif

// (values: T[k], indices: i64[k])
typedef struct wf_top_k_result {
  wf_tensor values, indices;
} wf_top_k_result;

// The k largest of x: T[n], largest first; equal values by lower index, NaN after all numbers. T: any numeric dtype.
// Errors: 7001 when k is outside 0..n.   Cost: O(n log k), no memory besides the result.
wf_code wf_n_top_k(wf_ctx*, const wf_tensor* x, const int64_t* k, wf_top_k_result* result) WF_NOEXCEPT;

// Position of the largest of x: T[n], by the order of top_k.
// Errors: 7005 when x is empty.
wf_code wf_n_argmax(wf_ctx*, const wf_tensor* x, int64_t* index) WF_NOEXCEPT;

// The same of each row of x: T[m, n]: i64[m].
// Errors: 7005 when there are rows of nothing.
wf_code wf_n_argmax_rows(wf_ctx*, const wf_tensor* x, wf_tensor* indices) WF_NOEXCEPT;

// Where the elements of x: T[n] stand in ascending order, i64[n]; equal values by lower index, NaN after all numbers.
// Cost: O(n), 8 bytes an element besides the result.
wf_code wf_n_argsort(wf_ctx*, const wf_tensor* x, wf_tensor* order) WF_NOEXCEPT;

// xs: a list of what `==` compares -> of each element where the first that is equal to it stands, itself if no earlier one is: i64[n]. A
// NaN, and what holds one, is equal to nothing. types, type: of the list.
// Cost: O(n) and the bytes of texts; 24 to 40 bytes an element besides the result.
wf_code wf_n_first_equal(wf_ctx*, const wf_list* xs, const wf_type* types, uint32_t type, wf_tensor* first) WF_NOEXCEPT;

// The elements of x: T[n] in that order: T[n].
// Cost: O(n), n elements of memory besides the result.
wf_code wf_n_sort(wf_ctx*, const wf_tensor* x, wf_tensor* sorted) WF_NOEXCEPT;

// Where x: bool[n] is true, in ascending order: i64[_].
// Cost: O(n), no memory besides the result.
wf_code wf_n_nonzero(wf_ctx*, const wf_tensor* x, wf_tensor* places) WF_NOEXCEPT;

// Before which element of sorted: T[n], in that order, each of values: T[k] stands; with `right`, behind those that are equal to it. i64[k]
// Cost: O(k log n).
wf_code wf_n_searchsorted(wf_ctx*, const wf_tensor* sorted, const wf_tensor* values, const uint8_t* right, wf_tensor* places) WF_NOEXCEPT;

// The sums of x: T[n] up to each element, this included, in their order: T[n]. T: i32 i64 u32 u64 f32 f64.
// Errors: 7000 for the types of storage.
wf_code wf_n_cumsum(wf_ctx*, const wf_tensor* x, wf_tensor* sums) WF_NOEXCEPT;

// For each of `extent` places the last i whose at[i] it is, -1 where there is none: i64[extent]. at: i64[k].
// Errors: 7001 when one of `at` is outside 0..extent.
wf_code wf_n_last_at(wf_ctx*, const wf_tensor* at, const int64_t* extent, wf_tensor* last) WF_NOEXCEPT;

// (labels: i64[h, w], boxes: i64[k, 4], areas: i64[k])
typedef struct wf_components {
  wf_tensor labels, boxes, areas;
} wf_components;

// The parts of mask: bool[h, w] whose pixels are neighbours, corner to corner too, in the order of their first pixels: the number of each
// pixel's, 0 outside; their boxes (x0, y0, x1, y1), x1 and y1 behind the last pixel; how many pixels they have.
// Cost: O(pixels), no memory besides the result.
wf_code wf_n_connected_components(wf_ctx*, const wf_tensor* mask, wf_components* found) WF_NOEXCEPT;

// (tokens: i64[_], score: f32)
typedef struct wf_reading {
  wf_tensor tokens;
  float score;
} wf_reading;

enum { WF_MAX_BEAMS = 10000 };

// What scores: f32[steps, classes], probabilities, can be read as: the likeliest prefixes of a beam search, best first, with the logarithms
// of how likely they are. What is no probability above 0 counts as 0; what cannot be is left out. Errors: 7000 when width is
// outside 1..WF_MAX_BEAMS, 7001 when blank is no class. Cost: O(steps * width * (classes + width)); 40 bytes a step and beam besides the
// result.
wf_code wf_n_ctc_beam(wf_ctx*, const wf_tensor* scores, const int64_t* width, const int64_t* blank, wf_list* readings) WF_NOEXCEPT;

// XXH64 of bytes.
wf_code wf_n_xxh64(wf_ctx*, const wf_bytes* data, const uint64_t* seed, uint64_t* hash) WF_NOEXCEPT;

// What stands before, between and behind the places of `between` in `text`, as views of it: one part more than there are places.
// Errors: 7000 when `between` is empty.   Cost: O(text), 16 bytes a part.
wf_code wf_n_split(wf_ctx*, const wf_bytes* text, const wf_bytes* between, wf_list* parts) WF_NOEXCEPT;

// The texts, with `between` between each two.   Cost: O(the result).
wf_code wf_n_join(wf_ctx*, const wf_list* texts, const wf_bytes* between, wf_bytes* joined) WF_NOEXCEPT;

// The byte at which `part` first stands; whether text begins or ends with it.
wf_code wf_n_find(wf_ctx*, const wf_bytes* text, const wf_bytes* part, wf_optional_i64* at) WF_NOEXCEPT;
wf_code wf_n_starts_with(wf_ctx*, const wf_bytes* text, const wf_bytes* part, uint8_t* does) WF_NOEXCEPT;
wf_code wf_n_ends_with(wf_ctx*, const wf_bytes* text, const wf_bytes* part, uint8_t* does) WF_NOEXCEPT;

// `text` with `by` in the places of `part`, from the left.   Errors: 7000 when `part` is empty.   Cost: O(text + result).
wf_code wf_n_replace(wf_ctx*, const wf_bytes* text, const wf_bytes* part, const wf_bytes* by, wf_bytes* result) WF_NOEXCEPT;

// How many characters (code points) there are; those from `from` to before `to`; the text without white space at the ends; what stands
// between white space. All but the first are views of text.   Cost: O(text).
wf_code wf_n_characters(wf_ctx*, const wf_bytes* text, int64_t* count) WF_NOEXCEPT;
wf_code wf_n_slice(wf_ctx*, const wf_bytes* text, const int64_t* from, const int64_t* to, wf_bytes* part) WF_NOEXCEPT;
wf_code wf_n_trim(wf_ctx*, const wf_bytes* text, const uint8_t* start, const uint8_t* end, wf_bytes* trimmed) WF_NOEXCEPT;
wf_code wf_n_words(wf_ctx*, const wf_bytes* text, wf_list* words) WF_NOEXCEPT;

// Changes of characters by Unicode's tables, those of utf8proc.   Errors: 7000 for a form that is none of NFC, NFD, NFKC, NFKD.
// Cost: O(text), but O(n log n) for n combining marks in a row; some 20 bytes a character besides the result, of 4 KiB where there are
// spaces between ASCII.
wf_code wf_n_normalise(wf_ctx*, const wf_bytes* text, const wf_bytes* form, wf_bytes* result) WF_NOEXCEPT;
wf_code wf_n_lower(wf_ctx*, const wf_bytes* text, wf_bytes* result) WF_NOEXCEPT;
wf_code wf_n_casefold(wf_ctx*, const wf_bytes* text, wf_bytes* result) WF_NOEXCEPT;
wf_code wf_n_strip_accents(wf_ctx*, const wf_bytes* text, wf_bytes* result) WF_NOEXCEPT;

enum { WF_MAX_PATTERN_BYTES = 1024 * 1024 /* of memory that a compiled pattern takes, 64 of which are kept */ };

// A pattern is a regular expression of RE2. Whether it matches somewhere; the texts of its matches; what stands between them; the texts of
// the first match and its groups, none when there is none; the text with \0 to \9 in `by` as the groups hold in the places of the matches.
// Errors: 7000 when the pattern, or `by`, is none.   Cost: O(text * pattern) at worst, as one search between two looks at the stop flag.
wf_code wf_n_matches(wf_ctx*, const wf_bytes* text, const wf_bytes* pattern, uint8_t* does) WF_NOEXCEPT;
wf_code wf_n_find_all(wf_ctx*, const wf_bytes* text, const wf_bytes* pattern, wf_list* found) WF_NOEXCEPT;
wf_code wf_n_split_all(wf_ctx*, const wf_bytes* text, const wf_bytes* pattern, wf_list* parts) WF_NOEXCEPT;
wf_code wf_n_groups(wf_ctx*, const wf_bytes* text, const wf_bytes* pattern, wf_list* groups) WF_NOEXCEPT;
wf_code wf_n_replace_all(wf_ctx*, const wf_bytes* text, const wf_bytes* pattern, const wf_bytes* by, wf_bytes* result) WF_NOEXCEPT;

// The ids of `text` by a tokenizer, which is a table (runtime/abi/token_table.h): i64[n]. At most `most`, else as many as the table says.
// Errors: 7000 when the table is none of that model, or `most` below the number of special ids, which are put around if `special`.
// Cost: O(text * longest piece) and O(text log longest word); some 50 bytes besides the result for a byte of the longest word, or of text
// without spaces between ASCII, and with NFKD five times that.
wf_code wf_n_wordpiece(wf_ctx*, const wf_bytes* text, const wf_bytes* tokenizer, const wf_optional_i64* most, const uint8_t* special,
                       wf_tensor* ids) WF_NOEXCEPT;
wf_code wf_n_bpe(wf_ctx*, const wf_bytes* text, const wf_bytes* tokenizer, const wf_optional_i64* most, const uint8_t* special,
                 wf_tensor* ids) WF_NOEXCEPT;
wf_code wf_n_unigram(wf_ctx*, const wf_bytes* text, const wf_bytes* tokenizer, const wf_optional_i64* most, const uint8_t* special,
                     wf_tensor* ids) WF_NOEXCEPT;

// The text of ids: i64[n] by a tokenizer of any model; ids that it does not have go, and those of special tokens unless `special`. What is
// no UTF-8 becomes U+FFFD. Errors: 7000 when the table is none, or joins tokens in a way that is not built.   Cost: O(text), twice the
// text.
wf_code wf_n_detokenise(wf_ctx*, const wf_tensor* ids, const wf_bytes* tokenizer, const uint8_t* special, wf_bytes* text) WF_NOEXCEPT;

// A text of RFC 3339 -> nanoseconds since 1970-01-01T00:00Z; further digits of the fraction are dropped.
// Errors: 5000 for other texts, times that are none, leap seconds, and years that i64 nanoseconds do not reach.   Cost: O(text).
wf_code wf_n_parse_time(wf_ctx*, const wf_bytes* text, int64_t* ns) WF_NOEXCEPT;

// The same of the machine's clock, which may be set back.
wf_code wf_n_now(wf_ctx*, int64_t* ns) WF_NOEXCEPT;

#ifdef __cplusplus
}
#endif
