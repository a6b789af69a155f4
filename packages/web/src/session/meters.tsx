import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import type { Row } from "@signalbox/transcript"

/** How full the agent's context is, in tokens. */
export interface ContextFill {
  readonly used: number
  readonly max: number
}

type MessageAt = (seq: number) => Readonly<Record<string, unknown>> | undefined

/**
 * As the log itself tells it: what the last request took, of what its model has room for. Nobody is asked for it, so a viewer
 * sees it too. Undefined until both were told: a size that was never told is not guessed.
 */
export function contextFillOf(rows: readonly Row[], messageAt: MessageAt): ContextFill | undefined {
  const last = lastUse(rows, messageAt)
  if (last === undefined) return undefined
  for (let index = rows.length - 1; index >= 0; index--) {
    const row = rows[index]
    const max = row?.kind === "result" ? roomIn(messageAt(row.headSeq)?.["modelUsage"], last.model) : undefined
    if (max !== undefined) return { used: last.used, max }
  }
  return undefined
}

function lastUse(
  rows: readonly Row[],
  messageAt: MessageAt,
): { readonly used: number; readonly model: string | undefined } | undefined {
  for (let index = rows.length - 1; index >= 0; index--) {
    const row = rows[index]
    if (row?.kind === "compaction")
      return row.postTokens === undefined ? undefined : { used: row.postTokens, model: undefined }
    if (row === undefined || !SPOKEN.has(row.kind)) continue
    const said = fieldOf(messageAt(row.headSeq), "message")
    const used = tokensIn(said?.["usage"])
    if (used > 0) return { used, model: textOf(said, "model") }
  }
  return undefined
}

/** Rows that stand at a message of the model. */
const SPOKEN: ReadonlySet<Row["kind"]> = new Set(["text", "thinking", "tool", "activity"])
/** What a request holds: all that went in, and the answer, which goes into the next one. */
const COUNTED = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"]

function tokensIn(usage: unknown): number {
  return COUNTED.reduce((sum, name) => sum + countOf(usage, name), 0)
}

/** Context window of the model that spoke; when it is listed under another name, the largest one listed. */
function roomIn(usage: unknown, model: string | undefined): number | undefined {
  if (!isObject(usage)) return undefined
  const own = model === undefined ? 0 : countOf(usage[model], "contextWindow")
  const most = Math.max(0, ...Object.values(usage).map((each) => countOf(each, "contextWindow")))
  return own || most || undefined
}

function countOf(value: unknown, name: string): number {
  const count = isObject(value) ? value[name] : undefined
  return typeof count === "number" && count > 0 ? count : 0
}
