// Tokens of .wf text. No modes and no actions: a string is one token, its holes are read again by compiler/parse.
// The reader feeds bytes, with every byte of a non-ASCII character shown as 0x7F (see compiler/parse/byte_stream.h): such characters may
// stand in strings and comments only, so no rule needs to tell them apart.
lexer grammar WfLexer;

KW_PACKAGE : 'package' ;
KW_IMPORT : 'import' ;
KW_AS : 'as' ;
KW_CONST : 'const' ;
KW_TYPE : 'type' ;
KW_ERROR : 'error' ;
KW_FN : 'fn' ;
KW_EXTERN : 'extern' ;
KW_NODE : 'node' ;
KW_MODEL : 'model' ;
KW_REMOTE : 'remote' ;
KW_WORKFLOW : 'workflow' ;
KW_SERVICE : 'service' ;
KW_TEST : 'test' ;
KW_STUB : 'stub' ;
KW_EXPECT : 'expect' ;
KW_FAILS : 'fails' ;
KW_STAGE : 'stage' ;
KW_LET : 'let' ;
KW_REQUIRE : 'require' ;
KW_RETURN : 'return' ;
KW_FAIL : 'fail' ;
KW_IF : 'if' ;
KW_ELSE : 'else' ;
KW_MATCH : 'match' ;
KW_FOR : 'for' ;
KW_IN : 'in' ;
KW_FOLD : 'fold' ;
KW_TRUE : 'true' ;
KW_FALSE : 'false' ;
KW_NONE : 'none' ;

LPAREN : '(' ;
RPAREN : ')' ;
LBRACKET : '[' ;
RBRACKET : ']' ;
LBRACE : '{' ;
RBRACE : '}' ;
SEMI : ';' ;
COMMA : ',' ;
COLON : ':' ;
DOT : '.' ;
ASSIGN : '=' ;
ARROW : '->' ;
FAT_ARROW : '=>' ;
EQ : '==' ;
NE : '!=' ;
LE : '<=' ;
GE : '>=' ;
LT : '<' ;
GT : '>' ;
PLUS : '+' ;
MINUS : '-' ;
STAR : '*' ;
SLASH : '/' ;
PERCENT : '%' ;
BANG : '!' ;
AND : '&&' ;
OR : '||' ;
PIPE : '|>' ;
BAR : '|' ;
COALESCE : '??' ;
QUESTION : '?' ;

NAME : [A-Za-z_] [A-Za-z0-9_]* ;
INT : [0-9] [0-9_]* | '0x' [0-9a-fA-F_]+ ;
FLOAT : [0-9] [0-9_]* ('.' [0-9] [0-9_]* EXPONENT? | EXPONENT) ;
fragment EXPONENT : [eE] [+-]? [0-9]+ ;
MEASURE : [0-9] [0-9_]* ('.' [0-9] [0-9_]*)? [A-Za-z] [A-Za-z0-9_]* ; // 2ms, 64MiB; the unit is checked later: it may be the `u8` of `1u8`

STRING : '"' ('\\' ~[\r\n] | ~["\\\r\n])* '"' ;
RAW_STRING : 'r"' ~["\r\n]* '"' ;
BAD_STRING : '"' ('\\' ~[\r\n] | ~["\\\r\n])* | 'r"' ~["\r\n]* ; // not closed on its line
COMMENT : '//' ~[\r\n]* -> channel(HIDDEN) ; // the reader takes comments and spaces itself (compiler/parse/tokens.cc); a test compares
SPACE : [ \t\r\n]+ -> skip ;
BAD : . ; // stays last
