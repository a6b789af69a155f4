import type { Ask } from "@signalbox/client"

export type Why = NonNullable<Ask["why"]>

/** The part of a field that decided; undefined if none did, or if the text is not the one that was judged. */
export function decidingSpan(why: Why | undefined, field: string, text: string): Why["span"] {
  const { span } = why ?? {}
  if (why?.field !== field || span === undefined) return undefined
  const { start, end } = span
  return start < end && end <= text.length ? span : undefined
}

/** The share of the mark that falls into a part of the text, which begins at `from`; undefined where none does. */
export function whyWithin(why: Why | undefined, from: number, text: string): Why | undefined {
  if (why?.span === undefined) return undefined
  const span = { start: Math.max(0, why.span.start - from), end: Math.min(text.length, why.span.end - from) }
  return span.start < span.end ? { ...why, span } : undefined
}
