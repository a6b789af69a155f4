import { whyLines } from "@signalbox/transcript"
import { type Colours, PLAIN } from "./output.ts"
import { cutCells, onOneLine } from "./text.ts"

const MAX_CHARS = 2_000
const MAX_PART_CHARS = 200

/**
 * Why the rules decided as they did, of an ask or of an audit record's details: the sentence, the rules with the part of
 * the request that decided, and what would have to change. No lines where the hub does not say it.
 */
export function whyText(told: unknown, colours: Colours = PLAIN): readonly string[] {
  const why = whyLines(told)
  if (why === undefined) return []
  const { reason, place, part, change } = why
  // `Rule 3, “no-push”: git push origin`
  const marked = part === undefined ? "" : `: ${colours.yellow(shown(part.text, MAX_PART_CHARS))}`
  const where = place === undefined && part === undefined ? [] : [`${shown(place ?? "This part")}${marked}`]
  return [shown(reason), ...where, ...(change === undefined ? [] : [shown(change)])]
}

/** An agent wrote parts of it. */
function shown(text: string, chars = MAX_CHARS): string {
  return cutCells(onOneLine(text, "decision"), chars)
}
