// A tokenizer as wfc writes it into a program (compiler/tokens) and natives read it (runtime/nodes): a head, the arrays that it names,
// texts. All is little-endian and may lie at any address. A program can make a table of any bytes, so readers check what they take from it.
#pragma once

#include <cstdint>

namespace wf::abi {

enum class TokenModel : uint32_t { kWordPiece = 1, kBpe, kUnigram };

// How a text is cut into words: as BERT does, at spaces and punctuation; by the pattern of GPT-2; by that of GPT-4 (and Llama 3), where up
// to three digits are a word, or of Qwen, where one is; not at all; before each U+2581, which has taken the place of spaces.
enum class TokenSplit : uint32_t { kBert = 1, kGpt2, kGpt4, kQwen, kWhole, kMarks };

// What is done to a text before, in order.
enum class TextStep : uint8_t {
  kEnd,
  kClean,            // control characters go, spaces of all kinds become ' '
  kSpaceIdeographs,  // a space on both sides of each Chinese character
  kDecompose,        // NFD
  kDecomposeCompat,  // NFKD
  kCompose,          // after one of these: NFC, NFKC
  kDropNonspacing,   // category Mn
  kDropMarks,        // category M
  kLowercase,
  kMapCharacters,  // by the table's map
  kNmt,            // as kClean does, by the rules of SentencePiece
  kJoinSpaces,     // several ' ' side by side become one
  kStripStart,     // white space at the ends of the text goes
  kStripEnd,
  kMarkSpaces,  // ' ' becomes U+2581
  kMarkWords,   // white space goes, and each word has U+2581 before it
};

inline constexpr uint32_t kTokenMagic = 0x316b7477;  // "wtk1"
inline constexpr uint32_t kMaxTextSteps = 15;
inline constexpr uint32_t kNoToken = 0xffffffff;

// How tokens become a text again: one behind the other with spaces between them, where a token has none of its flags; as bytes; with spaces
// for U+2581. kNone: in a way that is not built.
enum class TokenJoin : uint32_t { kNone, kSpaces, kBytes, kMarks };

enum TokenFlags : uint32_t {
  kSpaceBefore = 1,  // a text that begins with no ' ' gets one; with kMarkSpaces, U+2581
  kFuseUnknown = 2,  // unknown characters side by side are one token
  kWholeWords = 4,   // a word of the vocabulary is not taken apart and merged again
  kOnlyAtStart = 8,  // kSpaceBefore is for what stands at the very start alone
  kKeepsAscii = 32,  // the map leaves ASCII that can be seen as it is, and ' '
  kDropsFirst = 16,  // kMarks of the first token leave no space
};

struct TokenSection {
  uint32_t offset, count;  // bytes from the head; entries
};

// Places of a table that are looked at, from the first on: no entry lies behind them. Among four million entries that nobody chose for it
// none lies 130 behind its own.
inline constexpr uint32_t kMostProbes = 512;

// Of a word of the vocabulary, in a table open to linear probing from SlotOf(hash). WordPiece: `continues` says that it stands within a
// word, and its text has no prefix. BPE: the bytes that it stands for.
struct TokenWord {
  uint32_t hash, offset, length;
  uint32_t continues;
  uint32_t id;  // kNoToken: a free slot
};

// Of a trie of pieces, a double array: the child of a node by a byte stands at `base` + byte, if it names the node as its parent; the root
// is 0.
struct TokenNode {
  uint32_t base, parent;
  uint32_t id;  // of the piece that ends here, or kNoToken
};

// That two tokens side by side become one, the lowest rank first. A table, as above.
struct TokenMerge {
  uint32_t left, right, rank;
  uint32_t id;  // kNoToken: a free slot
};

// A token that is looked for in the text itself.
struct AddedToken {
  uint32_t offset, length, id;
  uint32_t trims;  // kTrimLeft, kTrimRight
};
inline constexpr uint32_t kTrimLeft = 1, kTrimRight = 2;  // spaces beside it are part of it

// The text of a token, or its bytes, in the order of ids.
struct TokenName {
  uint32_t id, offset, length;
  uint32_t flags;  // NameFlags
};
enum NameFlags : uint32_t {
  kSpecialName = 1,
  kContinuedName = 2,  // behind another it stands without its prefix and without a space
  kCloseName = 4,      // behind another it stands without a space
};

struct TokenHead {
  uint32_t magic;
  TokenModel model;
  TokenSplit split;
  uint32_t flags;
  uint32_t unknown;       // its id, or kNoToken
  uint32_t longest_word;  // WordPiece, in characters: a longer one is unknown
  uint32_t longest_text;  // of `words`, in bytes
  uint32_t most;          // ids, those of `before` and `after` counted; 0: any number
  TokenJoin join;
  uint32_t prefix;       // bytes of that of kContinuedName
  double unknown_score;  // Unigram, of a character that no piece is of
  TextStep steps[kMaxTextSteps + 1];
  TokenSection before, after;  // uint32_t: ids around those of a text
  TokenSection added[2];       // AddedToken, in the order of their texts; the second are looked for in what the first leave
  TokenSection words;          // TokenWord
  TokenSection merges;         // TokenMerge
  TokenSection bytes;          // uint32_t[256]: BPE, the id of each byte or kNoToken; Unigram, where unknown characters become bytes
  TokenSection nodes;          // TokenNode: Unigram
  TokenSection scores;         // double: Unigram, by id
  TokenSection map;            // bytes: of CharMap
  TokenSection names;          // TokenName
  TokenSection texts;          // bytes
};

// Hashes of words grow byte by byte.
inline constexpr uint64_t kWordHash = 0xcbf29ce484222325, kContinuationHash = 0x9ae16a3b2f90404f;
constexpr uint64_t HashByte(uint64_t hash, uint8_t byte) { return (hash ^ byte) * 0x100000001b3; }
constexpr uint32_t Mixed(uint64_t hash) {
  hash ^= hash >> 32;
  return static_cast<uint32_t>((hash * 0x9e3779b97f4a7c15) >> 32);
}
constexpr uint32_t HashOfPair(uint32_t left, uint32_t right) { return Mixed((uint64_t{left} << 32 | right) * 0xff51afd7ed558ccd); }
constexpr uint32_t SlotOf(uint32_t hash, uint32_t slots) { return static_cast<uint32_t>(uint64_t{hash} * slots >> 32); }

}  // namespace wf::abi
