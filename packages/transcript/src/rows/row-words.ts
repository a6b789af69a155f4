import { costWords, counted } from "@signalbox/protocol"
import { textOf } from "@signalbox/protocol/envelope"
import { type ModelUses, type TokenCount, totalTokens } from "@signalbox/protocol/usage"
import { modeName } from "./agent-words.ts"
import type { AskFacts, AskOutcome, RowOf } from "./row.ts"

/** "40 ms", "0.4 s", "42 s", "3 min 5 s", "2 h 10 min" */
export function durationWords(ms: number): string {
  if (ms < 100) return `${Math.round(ms)} ms`
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** "950", "22k", "1.4M" */
export function countWords(count: number): string {
  if (count < 1000) return String(count)
  return count < 1_000_000 ? `${Math.round(count / 1000)}k` : `${(count / 1_000_000).toFixed(1)}M`
}

/** `folder`: the working directory as its reader knows it. */
export function startedWords(row: RowOf<"started">, folder = row.cwd): string {
  if (row.changes !== undefined) {
    return row.changes
      .map(({ what, before, after }) => `${what}: ${valueWords(what, before)} → ${valueWords(what, after)}`)
      .join(" · ")
  }
  const facts = [row.model, row.mode && `mode ${modeName(row.mode)}`, folder, row.version && `CLI ${row.version}`]
  return ["Started", ...facts.filter((fact) => fact !== undefined && fact !== "")].join(" · ")
}

function valueWords(what: string, value: string | undefined): string {
  if (value === undefined) return "none"
  return what === "mode" ? modeName(value) : value
}

export function compactionWords({ preTokens, postTokens, trigger }: RowOf<"compaction">): string {
  const sizes = preTokens === undefined ? "" : `, ${countWords(preTokens)}`
  const shrunk = postTokens === undefined ? "" : ` → ${countWords(postTokens)}`
  return `Context compacted${sizes}${shrunk}${sizes === "" ? "" : " tokens"}, ${trigger === "manual" ? "manual" : "automatic"}`
}

export function thinkingWords(row: RowOf<"thinking">): string {
  if (row.isRedacted) return "Thinking, hidden by the model"
  if (row.durationMs !== undefined) return `Thinking · ${durationWords(row.durationMs)}`
  return row.tokens === undefined ? "Thinking" : `Thinking · ${countWords(row.tokens)} tokens`
}

/** A shorter time is not worth telling. */
const SHORTEST_MS = 100

export function hookWords({ name, event, state, elapsedMs = 0 }: RowOf<"hook">): string {
  const elapsed = elapsedMs < SHORTEST_MS ? "" : ` ${durationWords(elapsedMs)}`
  return `Hook ${name === "" ? event : name} ${state === "done" ? "ok" : state}${elapsed}`
}

export function retryWords(row: RowOf<"retry">): string {
  if (row.state === "recovered") return `Recovered after ${counted(row.attempt, "retry", "retries")}`
  const status = row.status === undefined ? row.error : String(row.status)
  if (row.state === "failed") return `API busy (${status}): gave up after ${counted(row.attempt, "try", "tries")}`
  const of = row.maxRetries === undefined ? "" : ` of ${row.maxRetries}`
  const wait = row.delayMs === undefined ? "" : ` in ${durationWords(row.delayMs)}`
  return `API busy (${status}), retry ${row.attempt}${of}${wait}`
}

const RESULTS: Readonly<Record<string, string>> = {
  error_max_turns: "Stopped at the limit of turns",
  error_max_budget_usd: "Stopped at the limit of cost",
  error_max_structured_output_retries: "Stopped: no answer fitted the schema",
  error_during_execution: "Failed",
}

export function resultWords(row: RowOf<"result">): string {
  const facts = [
    headOf(row),
    row.durationMs === undefined ? undefined : durationWords(row.durationMs),
    row.turns === undefined || row.turns < 2 ? undefined : `${row.turns} steps`,
    row.costUsd === undefined ? undefined : costWords(row.costUsd),
    totalTokens(row.tokens) === 0 ? undefined : tokenWords(row.tokens),
  ]
  return facts.filter((fact) => fact !== undefined).join(" · ")
}

/** Tokens and cost by model, a line each. None for a single model: the result's own line has them. */
export function modelWords(models: ModelUses = {}): readonly string[] {
  const uses = Object.entries(models)
  if (uses.length < 2) return []
  return uses.map(([name, use]) =>
    [name, ...(use.costUsd > 0 ? [costWords(use.costUsd)] : []), tokenWords(use)].join(" · "),
  )
}

/** "23k tokens: 9k in, 16 out, 4k cache read, 9k cache write" */
export function tokenWords(tokens: TokenCount): string {
  const parts = TOKEN_KINDS.flatMap(([kind, words]) =>
    tokens[kind] === 0 ? [] : [`${countWords(tokens[kind])} ${words}`],
  )
  return `${countWords(totalTokens(tokens))} tokens${parts.length === 0 ? "" : `: ${parts.join(", ")}`}`
}

/** The kinds of tokens, as people read them. */
export const TOKEN_KINDS = [
  ["input", "in"],
  ["output", "out"],
  ["cacheRead", "cache read"],
  ["cacheCreation", "cache write"],
] as const

function headOf(row: RowOf<"result">): string {
  if (row.state === "done") return "Done"
  if (row.state === "interrupted") return row.interruptedBy ? `Interrupted by ${row.interruptedBy}` : "Interrupted"
  return RESULTS[row.subtype] ?? "Failed"
}

/** How an ask ended, as a sentence; undefined while it is open. */
export function askWords(ask: AskFacts): string | undefined {
  // A request that a rule sent to a person has that rule too: whoever answered is named first.
  const who = ask.by ?? (ask.rule === undefined ? "somebody" : `rule ${ask.rule}`)
  const reason = textOf(ask.answer, "message")
  const words: Readonly<Record<AskOutcome, string | undefined>> = {
    pending: undefined,
    allowed: `Allowed by ${who}${ask.isEdited ? ", changed" : ""}`,
    denied: `Denied by ${who}${reason === undefined || reason === "" ? "" : `: ${reason}`}`,
    expired: "Nobody answered in time; the agent was told so",
    cancelled: "The agent withdrew this question",
    superseded: "Replaced by a newer question",
    orphaned: "The agent's process ended before an answer",
    settled: "Answered",
  }
  return words[ask.outcome]
}

/** How much a model may think, in tokens: no more than this; `null` is the agent's own default, 0 is not at all. */
const LEVELS: readonly (number | null)[] = [null, 0, 4_000, 10_000, 31_999]

/** "Default thinking", "No thinking", "Thinking up to 10k" */
export function thinkingLevelWords(tokens: number | null | undefined): string {
  if (tokens === null || tokens === undefined) return "Default thinking"
  return tokens === 0 ? "No thinking" : `Thinking up to ${countWords(tokens)}`
}

/** The levels there are, and the one it is set to, also when it is another. */
export function thinkingLevels(current: number | null | undefined): readonly (number | null)[] {
  const set = current ?? null
  return LEVELS.includes(set) ? LEVELS : [...LEVELS, set]
}

export function thinkingRequest(tokens: number | null): {
  readonly subtype: string
  readonly max_thinking_tokens: number | null
} {
  return { subtype: "set_max_thinking_tokens", max_thinking_tokens: tokens }
}
