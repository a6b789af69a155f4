import { keepStored, readTexts } from "../app/stored.ts"

interface Template {
  readonly name: string
  readonly text: string
}

/** A few that fit any project. */
export const BUILT_IN: readonly Template[] = [
  {
    name: "Explain this project",
    text: "Explain this project: what it does, how it is built, and where to start reading.",
  },
  {
    name: "Fix a failing test",
    text: "Run the tests. If one fails, find the cause and fix it. Change no test unless the test itself is wrong.",
  },
  {
    name: "Review my changes",
    text: "Review the uncommitted changes: bugs first, then what could be simpler. Don't edit anything.",
  },
  {
    name: "Write missing tests",
    text: "Find the code that matters most and has no tests. Write tests for it and run them.",
  },
]

const KEY = "signalbox:templates"
const MAX_OWN = 20
/** A longer text is no template. */
export const MAX_TEMPLATE_CHARS = 10_000

/** This browser's own, the newest first. */
export function ownTemplates(): readonly Template[] {
  return readTexts(KEY).map(asTemplate)
}

export function keepTemplate(text: string): readonly Template[] {
  if (text.length > MAX_TEMPLATE_CHARS) return ownTemplates()
  return keep([text, ...readTexts(KEY).filter((kept) => kept !== text)].slice(0, MAX_OWN))
}

export function dropTemplate(text: string): readonly Template[] {
  return keep(readTexts(KEY).filter((kept) => kept !== text))
}

function keep(texts: readonly string[]): readonly Template[] {
  keepStored(KEY, texts)
  return texts.map(asTemplate)
}

const MAX_NAME = 50

/** Called by its beginning. */
function asTemplate(text: string): Template {
  const line = text.trim().split("\n")[0] ?? ""
  return { name: line.length > MAX_NAME ? `${line.slice(0, MAX_NAME)}…` : line, text }
}

/** Nothing that was typed is lost: a template comes after it. */
export function withTemplate(typed: string, text: string): string {
  return typed.trim() === "" ? text : `${typed.trimEnd()}\n\n${text}`
}
