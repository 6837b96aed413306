// Prints the definitions and tokens of all TypeScript and JavaScript files below a folder, found by the TypeScript
// compiler: `node definitions.cjs COMPILER FOLDER`.
const fs = require("fs");
const path = require("path");

const ts = require(path.join(process.argv[2], "lib", "typescript.js"));
const root = process.argv[3];
const kinds = ts.SyntaxKind;

function* filesBelow(folder) {
  for (const item of fs.readdirSync(folder, { withFileTypes: true })) {
    const full = path.join(folder, item.name);
    if (item.isDirectory()) yield* filesBelow(full);
    else if (/\.(ts|tsx|mts|cts|js|jsx|mjs|cjs)$/.test(item.name)) yield full;
  }
}

function tokensOf(node, source, found) {
  // Comments of documentation are children too. Everything else that isn't a token has tokens as its leaves.
  if (node.kind >= kinds.FirstJSDocNode && node.kind <= kinds.LastJSDocNode) return found;
  const children = node.getChildren(source);
  if (children.length === 0) {
    const start = node.getStart(source);
    if (node.end > start) found.push([start, node.end]);
  }
  for (const child of children) tokensOf(child, source, found);
  return found;
}

function nameOf(node) {
  return node.name && (ts.isIdentifier(node.name) || ts.isStringLiteral(node.name)) ? node.name : null;
}

// The node that a name stands for, with its name, for nodes that define something.
function* definitionsIn(node) {
  if (ts.isVariableStatement(node)) {
    const only = node.declarationList.declarations;
    // A statement with several variables is no definition of one of them.
    if (only.length === 1 && nameOf(only[0])) yield [node, nameOf(only[0]), []];
  } else if (ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node)) {
    if (node.name) yield [node, node.name, node.members];
  } else if (
    ts.isFunctionDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isEnumDeclaration(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isGetAccessor(node) ||
    ts.isSetAccessor(node)
  ) {
    if (nameOf(node)) yield [node, nameOf(node), []];
  }
}

function collect(nodes, source, prefix, found) {
  const line = (position) => source.getLineAndCharacterOfPosition(position).line + 1;
  for (const outer of nodes) {
    for (const [node, name, members] of definitionsIn(outer)) {
      const start = node.getStart(source);
      const names = [...prefix, name.text];
      found.push({
        name: names.join("."),
        start: line(start),
        end: line(node.end),
        text: source.text.slice(start, node.end),
        tokens: tokensOf(node, source, []).map(([from, to]) => source.text.slice(from, to)),
        without: tokensOf(node, source, [])
          .filter(([from]) => from !== name.getStart(source))
          .map(([from, to]) => source.text.slice(from, to)),
      });
      collect(members, source, names, found);
    }
  }
}

const result = {};
for (const file of filesBelow(root)) {
  const text = fs.readFileSync(file, "utf8");
  const kind = /x$/.test(file) ? ts.ScriptKind.TSX : undefined;
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, kind);
  const line = (position) => source.getLineAndCharacterOfPosition(position).line + 1;
  const definitions = [];
  collect(source.statements, source, [], definitions);
  result[path.relative(root, file)] = {
    broken: source.parseDiagnostics.length > 0,
    tokens: tokensOf(source, source, []).map(([from, to]) => [source.text.slice(from, to), line(from), line(to)]),
    definitions,
  };
}
process.stdout.write(JSON.stringify(result));
