#include "compiler/lsp/reach.h"

#include <gtest/gtest.h>

#include <sstream>

namespace wf::lsp {
namespace {

// The names in reach behind words that spaces part, in one line.
std::string NamesBehind(const std::string& text) {
  Reach reach;
  std::istringstream words(text);
  for (std::string word; words >> word;) reach.Read(word);
  std::string names;
  for (const std::string& name : reach.Names()) names += (names.empty() ? "" : " ") + name;
  return names;
}

TEST(Reach, HasParametersAndDimensions) {
  EXPECT_EQ(NamesBehind("fn h ( p : P , q as \"r\" : f32 [ n , m ] ) -> i64 { let z ="), "p q n m");
  EXPECT_EQ(NamesBehind("fn h ( x : f32 [ n ] , m : i64 ) -> f32 [ n ] ="), "x m n");
  EXPECT_EQ(NamesBehind("workflow W ( x : f32 ) -> ( y : f32 ) { return ("), "x");
  EXPECT_EQ(NamesBehind("test \"t\" { stub M ( x : f32 ) ="), "x");
  EXPECT_EQ(NamesBehind("fn f ( a : i64 ) -> i64 { a } fn g ( b : i64 ) -> i64 {"), "b");
  EXPECT_EQ(NamesBehind("fn f ( a : i64 ) -> i64 = a ; fn g ( b : i64 ) -> i64 {"), "b");
}

TEST(Reach, HasWhatStatementsAboveDeclare) {
  EXPECT_EQ(NamesBehind("fn h ( ) -> i64 { let q = p . a ; q +"), "q");
  EXPECT_EQ(NamesBehind("workflow W ( ) -> ( y : i64 ) { node a = f ( 1 ) { timeout 1ms ; } node b ="), "a");
  EXPECT_EQ(NamesBehind("workflow W ( ) -> ( y : i64 ) { stage s { node a = 1 ; } { timeout 1ms ; } node b ="), "a");
  EXPECT_EQ(NamesBehind("workflow W ( ) -> ( y : i64 ) { if c { node a = 1 ; } node b ="), "");
  EXPECT_EQ(NamesBehind("workflow W ( ) -> ( y : i64 ) { node a = if c { let z = 1 ;"), "z");
}

TEST(Reach, HasNamesOfLoops) {
  EXPECT_EQ(NamesBehind("fn h ( ) -> i64 { for a , b in zip ( xs , ys ) {"), "a b");
  EXPECT_EQ(NamesBehind("fn h ( ) -> i64 { fold sum = 0 for x in xs {"), "sum x");
  EXPECT_EQ(NamesBehind("fn h ( ) -> i64 { f ( for x in xs { x } , for y in ys {"), "y");
  EXPECT_EQ(NamesBehind("fn h ( ) -> i64 { for x in if c { xs } else { ys } {"), "x");
  EXPECT_EQ(NamesBehind("fn h ( ) -> i64 { ( fold a = 0 for x in xs { a } ) + for y in match c { true => xs , false => ys } {"), "y");
  EXPECT_EQ(NamesBehind("fn h ( ) -> i64 { fold a = 0 for x in xs { a } + for y in ys {"), "y");
  EXPECT_EQ(NamesBehind("workflow W ( ) -> ( y : i64 ) { node a = for x in xs { x } { timeout 1ms ; } else for y in ys {"), "y");
}

TEST(Reach, HasNamesOfComprehensionsInTheirConditions) {
  EXPECT_EQ(NamesBehind("fn h ( ) -> i64 { [ f ( a ) for a , b in xs if"), "a b");
  EXPECT_EQ(NamesBehind("fn h ( ) -> i64 { [ if c { 1 } else { 2 } for a in xs if"), "a");
  EXPECT_EQ(NamesBehind("fn h ( ) -> i64 { [ a for a in"), "");
  EXPECT_EQ(NamesBehind("fn h ( ) -> i64 { [ a for a in xs if a > 0 ] ;"), "");
  EXPECT_EQ(NamesBehind("fn h ( ) -> i64 { [ [ i ] => if"), "i");
}

TEST(Reach, HasIndicesAndWhatArmsBind) {
  EXPECT_EQ(NamesBehind("fn h ( ) -> i64 { [ i , j < n ] => x ["), "i j");
  EXPECT_EQ(NamesBehind("fn h ( ) -> i64 { f ( [ i ] => x [ i ] ,"), "");
  EXPECT_EQ(NamesBehind("fn h ( ) -> i64 { sum [ k < n ] ( x ["), "k");
  EXPECT_EQ(NamesBehind("fn h ( ) -> i64 { sum [ k ] ( x [ k ] ) +"), "");
  EXPECT_EQ(NamesBehind("fn h ( ) -> i64 { match v { none => 0 , other =>"), "other");
}

TEST(Reach, TakesBracketsThatDoNotMatch) {
  EXPECT_EQ(NamesBehind(") ] } fn h ( p : P ) -> i64 { f ( [ let q = 1 ;"), "p q");
  EXPECT_EQ(NamesBehind("fn h ( p : P ) -> i64 { let q = f ( [ } fn g ( r : P ) -> i64 {"), "r");
}

}  // namespace
}  // namespace wf::lsp
