import { isObject, textOf } from "@signalbox/protocol/envelope"

const MAX_SHOWN = 12

/** A path after an `@`, while it is being typed: where the `@` stands, and what follows it. */
export interface FilePart {
  readonly start: number
  readonly query: string
}

/** An address such as `a@b` is no file: the `@` begins a word. */
export function filePart(text: string, caret: number): FilePart | undefined {
  const query = /(?:^|\s)@([^\s@]*)$/.exec(text.slice(0, caret))?.[1]
  return query === undefined ? undefined : { start: caret - query.length - 1, query }
}

/** The paths that an agent offers, whether it names them or tells more of each. */
export function readSuggestions(reply: unknown): readonly string[] {
  const list: readonly unknown[] = isObject(reply) && Array.isArray(reply["suggestions"]) ? reply["suggestions"] : []
  const paths = list.flatMap((each) => pathOf(each) ?? [])
  return [...new Set(paths)].slice(0, MAX_SHOWN)
}

const NAMES = ["path", "file", "displayText", "value", "label", "name", "id"]

function pathOf(value: unknown): string | undefined {
  if (typeof value === "string") return value
  return NAMES.map((name) => textOf(value, name)).find((text) => text !== undefined && text !== "")
}

/** The text with the path in its place, and where the caret goes. */
export function withFile(
  text: string,
  { start, query }: FilePart,
  path: string,
): { readonly text: string; readonly caret: number } {
  const before = `${text.slice(0, start)}@${path} `
  return { text: before + text.slice(start + 1 + query.length).trimStart(), caret: before.length }
}
