import type { Ask } from "@signalbox/client"

export type Why = NonNullable<Ask["why"]>

/** The part of a field that decided; undefined if none did, or if the text is not the one that was judged. */
export function decidingSpan(why: Why | undefined, field: string, text: string): Why["span"] {
  const { span } = why ?? {}
  if (why?.field !== field || span === undefined) return undefined
  const { start, end } = span
  return start < end && end <= text.length ? span : undefined
}
