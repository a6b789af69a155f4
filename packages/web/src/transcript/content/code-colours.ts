/** A stretch of code in one colour. */
export interface CodeSpan {
  readonly text: string
  readonly tone?: "keyword" | "string" | "comment" | "number" | "added" | "removed"
}

/** Longer ones are read, not looked at. */
const MAX_CHARS = 20_000

const SLASHES =
  "ts tsx js jsx mjs typescript javascript java kotlin swift go rust rs c h cpp c++ cs csharp php scala dart css scss json jsonc proto"
const HASHES = "py python rb ruby sh bash shell zsh yaml yml toml perl make dockerfile r"
const DASHES = "sql lua haskell hs ada"

/** How a comment begins, by the name behind the fence. Others are left as they are. */
const COMMENTS = new Map([
  ...SLASHES.split(" ").map((name) => [name, String.raw`\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)`] as const),
  ...HASHES.split(" ").map((name) => [name, String.raw`(?<![\w$])#[^\n]*`] as const),
  ...DASHES.split(" ").map((name) => [name, String.raw`--[^\n]*`] as const),
])

const STRINGS = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|` + "`(?:[^`\\\\]|\\\\.)*`"
const NUMBERS = String.raw`(?<![\w$.])\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?\b`
const KEYWORDS =
  "abstract|and|as|async|await|begin|break|case|catch|class|const|continue|def|default|defer|del|delete|do|done|elif|else|end|enum|esac|except|export|extends|extern|false|False|fi|finally|fn|for|from|func|function|global|go|goto|if|impl|implements|import|in|instanceof|interface|is|lambda|let|local|loop|match|mod|mut|new|nil|None|not|null|of|or|package|pass|private|protected|pub|public|raise|readonly|return|select|SELECT|FROM|WHERE|INSERT|UPDATE|DELETE|CREATE|TABLE|JOIN|self|static|struct|super|switch|then|this|throw|trait|true|True|try|type|typeof|undefined|union|unsafe|until|use|using|var|void|when|where|while|with|yield"

const patterns = new Map<string, RegExp>()

function patternOf(comment: string): RegExp {
  const known = patterns.get(comment)
  if (known !== undefined) return known
  const made = new RegExp(
    `(?<comment>${comment})|(?<string>${STRINGS})|(?<number>${NUMBERS})|(?<keyword>(?<![\\w$.-])(?:${KEYWORDS})(?![\\w$-]))`,
    "g",
  )
  patterns.set(comment, made)
  return made
}

/** Colours only: the same characters in the same places. One span where nothing is known of the language. */
export function codeSpans(text: string, language: string): readonly CodeSpan[] {
  const name =
    language
      .trim()
      .split(/[\s{,:]/, 1)[0]
      ?.toLowerCase() ?? ""
  if (text.length > MAX_CHARS) return [{ text }]
  if (name === "diff" || name === "patch") return diffSpans(text)
  const comment = COMMENTS.get(name)
  if (comment === undefined) return [{ text }]
  const spans: CodeSpan[] = []
  let end = 0
  for (const match of text.matchAll(patternOf(comment))) {
    if (match.index > end) spans.push({ text: text.slice(end, match.index) })
    spans.push({ text: match[0], tone: toneOf(match.groups) })
    end = match.index + match[0].length
  }
  if (end < text.length) spans.push({ text: text.slice(end) })
  return spans
}

function toneOf(groups: Readonly<Record<string, string | undefined>> | undefined): NonNullable<CodeSpan["tone"]> {
  if (groups?.["comment"] !== undefined) return "comment"
  if (groups?.["string"] !== undefined) return "string"
  return groups?.["number"] === undefined ? "keyword" : "number"
}

function diffSpans(text: string): readonly CodeSpan[] {
  return text.split(/(?<=\n)/).map((line) => {
    if (line.startsWith("+")) return { text: line, tone: "added" }
    return line.startsWith("-") ? { text: line, tone: "removed" } : { text: line }
  })
}
