import { textOf } from "@signalbox/protocol/envelope"

/** A comment on a part of a plan. Pure. */
export interface PlanComment {
  readonly quote: string
  readonly text: string
}

const MAX_QUOTE = 600

/** The selected text as it is quoted: no blank ends, and not a whole plan. */
export function quoteOf(selected: string): string {
  const quote = selected.trim()
  return quote.length > MAX_QUOTE ? `${quote.slice(0, MAX_QUOTE - 1)}…` : quote
}

/** The comments as an agent reads them: each below what it is about. */
export function feedbackOf(comments: readonly PlanComment[]): string {
  return comments
    .map(({ quote, text }) => {
      const quoted = quote
        .split("\n")
        .map((line) => `> ${line}`.trimEnd())
        .join("\n")
      return `${quoted}\n\n${text.trim()}`
    })
    .join("\n\n")
}

/** Actions that a plan asks to have allowed along with it. */
export function allowedPromptsOf(input: Readonly<Record<string, unknown>> | undefined): readonly string[] {
  const list: unknown = input?.["allowedPrompts"]
  if (!Array.isArray(list)) return []
  return list.flatMap((entry: unknown) => {
    const [tool, prompt] = [textOf(entry, "tool"), textOf(entry, "prompt")]
    if (prompt === undefined) return []
    return [tool === undefined ? prompt : `${tool}: ${prompt}`]
  })
}
