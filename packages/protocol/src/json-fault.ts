const TOKEN = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[[\]{},:]/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y
const SPACE = /[ \t\n\r]*/y

type Expectation = "value" | "value or ]" | "name or }" | "name" | ":" | ", or ]" | ", or }" | "the end"

interface JsonFault {
  readonly line: number
  readonly column: number
  readonly expected: Expectation
}

/** Where a text stops being JSON, in words that follow "is not JSON": ` at line 2, column 5: expected , or }`. Empty when it is JSON. */
export function jsonFaultWords(text: string): string {
  const fault = locateJsonFault(text)
  return fault === undefined ? "" : ` at line ${fault.line}, column ${fault.column}: expected ${fault.expected}`
}

/** V8 does not always say where. Undefined when it is JSON. */
function locateJsonFault(text: string): JsonFault | undefined {
  const open: ("[" | "{")[] = []
  let expected: Expectation = "value"
  let at = skipSpace(text, 0)
  while (at < text.length) {
    const token = tokenAt(text, at)
    const next: Expectation | undefined = token === undefined ? undefined : step(expected, token, open)
    if (token === undefined || next === undefined) return faultAt(text, at, expected)
    expected = next
    at = skipSpace(text, at + token.length)
  }
  return expected === "the end" ? undefined : faultAt(text, at, expected)
}

/** Moves on by one token; undefined when it may not stand here. `open` is the brackets it stands in. */
function step(expected: Expectation, token: string, open: ("[" | "{")[]): Expectation | undefined {
  switch (expected) {
    case "value":
    case "value or ]":
      if (token === "]" && expected === "value or ]") return close(open)
      return value(token, open)
    case "name":
    case "name or }":
      if (token === "}" && expected === "name or }") return close(open)
      return token.startsWith('"') ? ":" : undefined
    case ":":
      return token === ":" ? "value" : undefined
    case ", or ]":
      return token === "," ? "value" : token === "]" ? close(open) : undefined
    case ", or }":
      return token === "," ? "name" : token === "}" ? close(open) : undefined
    case "the end":
      return undefined
  }
}

function value(token: string, open: ("[" | "{")[]): Expectation | undefined {
  if (token === "[" || token === "{") {
    open.push(token)
    return token === "[" ? "value or ]" : "name or }"
  }
  return /^[\]},:]$/.test(token) ? undefined : afterValue(open)
}

function close(open: ("[" | "{")[]): Expectation {
  open.pop()
  return afterValue(open)
}

function afterValue(open: readonly ("[" | "{")[]): Expectation {
  const inside = open.at(-1)
  return inside === undefined ? "the end" : inside === "[" ? ", or ]" : ", or }"
}

function tokenAt(text: string, at: number): string | undefined {
  if (text[at] === '"') return stringAt(text, at)
  TOKEN.lastIndex = at
  return TOKEN.exec(text)?.[0]
}

/** By hand: an expression with a choice in its loop runs out of stack on a string of megabytes. */
function stringAt(text: string, start: number): string | undefined {
  let at = start + 1
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === 0x22) return text.slice(start, at + 1)
    if (code < 0x20) return undefined
    ESCAPE.lastIndex = at
    if (code !== 0x5c) at++
    else if (ESCAPE.test(text)) at = ESCAPE.lastIndex
    else return undefined
  }
  return undefined
}

function skipSpace(text: string, at: number): number {
  SPACE.lastIndex = at
  SPACE.exec(text)
  return SPACE.lastIndex
}

function faultAt(text: string, at: number, expected: Expectation): JsonFault {
  const before = text.slice(0, at)
  const lineStart = before.lastIndexOf("\n") + 1
  return { line: before.split("\n").length, column: at - lineStart + 1, expected }
}
