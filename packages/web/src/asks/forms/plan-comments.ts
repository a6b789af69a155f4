/** What somebody has to say about a part of a plan. Pure. */
export interface PlanComment {
  readonly quote: string
  readonly text: string
}

const MAX_QUOTE = 600

/** What was selected, as it is quoted: no blank ends, and not a whole plan. */
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
    if (typeof entry !== "object" || entry === null || !("prompt" in entry) || typeof entry.prompt !== "string")
      return []
    const tool = "tool" in entry && typeof entry.tool === "string" ? `${entry.tool}: ` : ""
    return [`${tool}${entry.prompt}`]
  })
}
