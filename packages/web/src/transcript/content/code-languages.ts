/** How a language is told apart from others, as far as its colours need it. */
export interface Language {
  /** Beginnings of a comment that ends with its line. */
  readonly lineComments?: readonly string[]
  readonly blockComments?: readonly (readonly [open: string, close: string])[]
  readonly quotes?: readonly Quote[]
  readonly keywords?: ReadonlySet<string>
  /** Keywords are written large or small. */
  readonly isCaseless?: boolean
  /** Characters that are part of words here, beside letters, digits, `_` and `$`. */
  readonly wordCharacters?: string
  /** A word or text before a colon is a name: of a property, a key. */
  readonly hasKeys?: boolean
  /** Comments and quotes begin only where a word could: `don't`, `$#`. */
  readonly needsSpace?: boolean
  /** Words with this sign before them: an at-rule, a decorator, a directive. */
  readonly signed?: Readonly<Record<string, "keyword" | "name">>
  readonly kind?: "markup" | "diff"
}

interface Quote {
  readonly open: string
  readonly close: string
  readonly hasEscapes: boolean
  readonly isLong: boolean
  /** One character alone: a quote that is not closed right behind it means something else (`'a` of Rust). */
  readonly isCharacter?: boolean
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "))
const quote = (open: string, rest: Partial<Quote> = {}): Quote => ({
  open,
  close: open,
  hasEscapes: true,
  isLong: false,
  ...rest,
})

const SLASHES = { lineComments: ["//"], blockComments: [["/*", "*/"]] } as const
const PLAIN_QUOTES = [quote('"'), quote("'")]

const script: Language = {
  ...SLASHES,
  quotes: [...PLAIN_QUOTES, quote("`", { isLong: true })],
  signed: { "@": "name", "#": "name" },
  keywords: words(
    "abstract any as async await boolean break case catch class const constructor continue debugger declare default delete do else enum export extends false finally for from function get if implements import in infer instanceof interface is keyof let namespace never new null number object of override private protected public readonly return satisfies set static string super switch symbol this throw true try type typeof undefined unknown using var void while with yield",
  ),
}
const json: Language = { ...SLASHES, quotes: [quote('"')], hasKeys: true, keywords: words("true false null") }
const python: Language = {
  lineComments: ["#"],
  quotes: [quote('"""', { isLong: true }), quote("'''", { isLong: true }), ...PLAIN_QUOTES],
  signed: { "@": "name" },
  keywords: words(
    "False None True and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return self try while with yield",
  ),
}
const shell: Language = {
  lineComments: ["#"],
  needsSpace: true,
  wordCharacters: "-",
  quotes: [quote('"', { isLong: true }), quote("'", { isLong: true, hasEscapes: false })],
  keywords: words(
    "case do done elif else esac export fi for function if in local readonly return select set shift source then trap unset until while",
  ),
}
const go: Language = {
  ...SLASHES,
  quotes: [...PLAIN_QUOTES, quote("`", { isLong: true, hasEscapes: false })],
  keywords: words(
    "any bool break byte case chan const continue default defer else error fallthrough false float64 for func go goto if import int int64 interface iota map nil package range return rune select string struct switch true type uint64 var",
  ),
}
const rust: Language = {
  ...SLASHES,
  quotes: [quote('"', { isLong: true }), quote("'", { isCharacter: true })],
  keywords: words(
    "as async await bool box break char const continue crate dyn else enum extern false fn for i32 i64 if impl in let loop match mod move mut pub ref return self Self static str String struct super trait true type u32 u64 u8 union unsafe use usize where while",
  ),
}
const braces: Language = {
  ...SLASHES,
  quotes: PLAIN_QUOTES,
  signed: { "#": "keyword", "@": "name" },
  keywords: words(
    "abstract assert async auto await base bool boolean break byte case catch char class const constexpr continue data default defer delegate delete do double else enum explicit export extends extern false final finally float for foreach friend fun func function goto guard if implements import in init inline int interface internal is lateinit let long match mutable namespace new nil noexcept null nullptr object open operator out override package private protected protocol public readonly record ref register required return sealed self short signed sizeof static string struct super suspend switch synchronized template this throw throws trait true try typedef typename union unsigned using val var virtual void volatile when where while yield",
  ),
}
const css: Language = {
  ...SLASHES,
  quotes: PLAIN_QUOTES,
  wordCharacters: "-",
  hasKeys: true,
  signed: { "@": "keyword" },
  keywords: words("and from important inherit initial none not only or to unset"),
}
const markup: Language = {
  kind: "markup",
  blockComments: [["<!--", "-->"]],
  quotes: [quote('"', { isLong: true, hasEscapes: false }), quote("'", { isLong: true, hasEscapes: false })],
  wordCharacters: "-:.",
}
const settings: Language = {
  lineComments: ["#"],
  needsSpace: true,
  wordCharacters: "-./",
  hasKeys: true,
  quotes: [quote('"'), quote("'", { hasEscapes: false })],
  keywords: words("true false null yes no on off"),
}
const sql: Language = {
  lineComments: ["--"],
  blockComments: [["/*", "*/"]],
  quotes: [quote("'", { isLong: true, hasEscapes: false }), quote('"', { hasEscapes: false })],
  isCaseless: true,
  keywords: words(
    "add all alter and any as asc begin between bigint boolean by case cascade check column commit constraint create cross database default delete desc distinct drop else end exists false foreign from full function grant group having if in index inner insert int integer into is join key left like limit not null numeric offset on or order outer primary references replace returning right rollback select serial set table text then timestamp transaction true truncate union unique update using values varchar view when where with",
  ),
}
const hashes: Language = {
  lineComments: ["#"],
  needsSpace: true,
  quotes: PLAIN_QUOTES,
  signed: { "@": "name" },
  keywords: words(
    "and begin break case class def do else elsif end ensure false for from if in include is local module my next nil not or our package print raise redo require rescue return self sub super then true undef unless until use when while yield ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM LABEL RUN USER VOLUME WORKDIR",
  ),
}
const dashes: Language = {
  lineComments: ["--"],
  quotes: PLAIN_QUOTES,
  keywords: words(
    "and break case class data do else elseif end false for function goto if import in instance let local module nil not of or repeat return then true type until where while",
  ),
}

const TABLE: readonly (readonly [Language, names: string])[] = [
  [script, "ts tsx mts cts js jsx mjs cjs typescript javascript node"],
  [json, "json jsonc json5 webmanifest"],
  [python, "py pyi python python3"],
  [shell, "sh bash zsh shell console shellsession"],
  [go, "go golang mod"],
  [rust, "rs rust"],
  [
    braces,
    "java kt kts kotlin swift c h cc cpp c++ cxx hpp hh cs csharp m mm php scala dart groovy gradle proto zig objc",
  ],
  [css, "css scss less sass"],
  [markup, "html htm xml svg vue svelte xhtml plist"],
  [settings, "yaml yml toml ini cfg conf env properties"],
  [sql, "sql psql mysql sqlite postgres postgresql"],
  [hashes, "rb ruby pl perl r make makefile dockerfile cmake tf hcl elixir ex"],
  [dashes, "lua hs haskell elm"],
  [{ kind: "diff" }, "diff patch"],
]

const BY_NAME: ReadonlyMap<string, Language> = new Map(
  TABLE.flatMap(([language, names]) => names.split(" ").map((name) => [name, language] as const)),
)

/** A language by the name behind a fence, or by the ending of a file's name; undefined for one that nobody told us about. */
export function languageNamed(name: string): Language | undefined {
  return BY_NAME.get(name)
}
