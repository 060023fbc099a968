// The grammar of .wf text; README.md maps each rule to its AST node, docs/language.md says what it means.
// Read in SLL mode only. Constraints that keep it free of ambiguity: `{` never begins an expression; `=>` stands above the operators;
// the settings of nodes, models and services are one generic rule.
parser grammar WfParser;
options { tokenVocab = WfLexer; }

file : packageDecl? decl* EOF ;
packageDecl : 'package' path ';' ;

decl
  : importDecl | constDecl | typeDecl | errorDecl | fnDecl | externDecl | modelDecl | remoteDecl | workflowDecl | serviceDecl | testDecl
  ;
importDecl : 'import' path ('as' NAME)? ';' ;
constDecl : 'const' NAME (':' type)? '=' expr ';' ;
typeDecl : 'type' NAME typeBody ;
typeBody : '{' typeField* '}' ;
typeField : label ':' type ';' ;
errorDecl : 'error' NAME '=' INT STRING ('as' status=NAME)? ';' ;
fnDecl : 'fn' NAME typeParams? params '->' type ('=' expr ';' | block) ;
externDecl : 'extern' ('fn' | what='node') NAME typeParams? params '->' type '=' binding ;
modelDecl : 'model' NAME (params '->' type)? '=' binding ;
remoteDecl : 'remote' NAME params '->' type '=' binding ;
workflowDecl : 'workflow' NAME workflowHead body ;
workflowHead : params '->' type ; // a mistake in it leaves the body to be read
serviceDecl : 'service' NAME serviceBody ;
serviceBody : '{' serviceItem* '}' ;
serviceItem : ('workflow' | what='model') path ('as' STRING)? ';' | setting ;
testDecl : 'test' STRING testBody ;
testBody : '{' testItem* '}' ;
testItem : letStmt | stubStmt | expectStmt ;
stubStmt : 'stub' path (params | '(' STRING ')') '=' expr ';' ; // the string is a key of `meta`
expectStmt : 'expect' expr ('fails' path)? ';' ;

binding : NAME '(' args? ')' (settings | ';') ;
typeParams : '<' NAME (',' NAME)* '>' ; // of package std only
params : '(' (param (',' param)* ','?)? ')' ;
param : NAME ('as' STRING)? ':' type ('=' expr)? ;

settings : '{' setting* '}' ;
setting : NAME setArg* ';' ; // words and arguments come from a table in sema
setArg
  : '-'? number=(INT | FLOAT | MEASURE)
  | STRING
  | path (call='(' args? ')')?
  | list
  | '{' weight+ '}'
  ;
weight : NAME ':' INT ';' ;

type : (path ('<' type '>')? (open='[' dim (',' dim)* ']')? | '(' field (',' field)* ','? ')') optional='?'? ;
field : label ('as' STRING)? ':' type ;
dim
  : left=dim what=('*' | '/') right=dim
  | left=dim what=('+' | '-') right=dim
  | what='*' NAME
  | NAME
  | INT
  | MEASURE // `2h`: reported with the spelling that is meant
  | '(' inner=dim ')'
  ;

body : '{' stmt* '}' ;
stmt : letStmt | requireStmt | nodeStmt | stageStmt | ifStmt | callStmt | returnStmt | failStmt ;
stageStmt : 'stage' NAME stageBody settings? ;
stageBody : '{' nodeStmt* '}' ;
ifStmt : 'if' expr body ('else' 'if' expr body)* (otherwise='else' body)? ;
callStmt : path '(' args? ')' ';' ; // only annotate(..) passes the checker
returnStmt : 'return' expr ';' ;
failStmt : 'fail' expr ';' ;
nodeStmt : 'node' NAME (':' type)? '=' expr (settings ('else' expr ';')? | ('else' expr)? ';') ;
letStmt : 'let' NAME (':' type)? '=' expr ';' ;
requireStmt : 'require' expr ('else' expr)? ';' ;
block : '{' (letStmt | requireStmt)* expr ('else' expr)? '}' ; // this else: only in the body of a for

expr : op ('=>' expr)? ; // left of => stands a list of index names, demanded by the AST builder
op
  : object=op what='.' label
  | object=op what='(' args? ')'
  | object=op what='[' index (',' index)* ']'
  | what=('-' | '!') operand=op
  | left=op what=('*' | '/' | '%') right=op
  | left=op what=('+' | '-') right=op
  | left=op what=('==' | '!=' | '<' | '<=' | '>' | '>=') right=op // a < b < c is reported by the AST builder
  | left=op what='&&' right=op
  | left=op what='||' right=op
  | <assoc=right> left=op what='??' right=op
  | left=op what='|>' right=op
  | what='fail' operand=op
  | primary
  ;
primary
  : literal=(NAME | INT | FLOAT | MEASURE | STRING | RAW_STRING | 'true' | 'false' | 'none')
  | list
  | '(' expr ')'
  | tuple
  | ifExpr
  | matchExpr
  | forExpr
  | foldExpr
  ;
tuple : '(' tupleField (',' tupleField)* ','? ')' ;
tupleField : label ':' expr ;
ifExpr : 'if' expr block ('else' 'if' expr block)* 'else' block ;
matchExpr : 'match' expr '{' arm (',' arm)* ','? '}' ;
forExpr : 'for' names 'in' expr block ;
foldExpr : 'fold' NAME '=' initial=expr 'for' names 'in' source=expr block ;
list : '[' (expr (comprehension | (',' expr)* ','?))? ']' ;
comprehension : 'for' names 'in' source=expr ('if' condition=expr)? ;
arm : pattern ('|' pattern)* '=>' expr ;
pattern : '-'? INT | STRING | RAW_STRING | 'true' | 'false' | 'none' | NAME ;
index : first=expr (slice=':' last=expr?)? | slice=':' last=expr? ;
args : arg (',' arg)* ','? ;
arg : (label ':')? expr ;
names : NAME (',' NAME)* ;
path : NAME ('.' NAME)* ;
label
  : NAME | 'package' | 'import' | 'as' | 'const' | 'type' | 'error' | 'fn' | 'extern' | 'node' | 'model' | 'remote' | 'workflow' | 'service'
  | 'test' | 'stub' | 'expect' | 'fails' | 'stage' | 'let' | 'require' | 'return' | 'fail' | 'if' | 'else' | 'match' | 'for' | 'in' | 'fold'
  ;
