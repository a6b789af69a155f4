import { type ResultRow, totalTokens } from "@signalbox/transcript"
import { useWho } from "../../app/hub-context.ts"
import { lazyPart, PartBoundary } from "../../design/lazy-part.tsx"
import { Notice } from "../../design/notice.tsx"
import { duration, money, plural, tokens } from "../../design/words.ts"
import { Markdown } from "../content/markdown.tsx"
import { Divider } from "./small-rows.tsx"
import { useDisclosure } from "./transcript-context.tsx"

const TokenTable = lazyPart(async () => (await import("../../design/token-table.tsx")).TokenTable)

const FAILED: Readonly<Record<string, string>> = {
  error_max_turns: "Stopped: turn limit reached.",
  error_max_budget_usd: "Stopped: budget used up.",
  error_max_structured_output_retries: "Stopped: no valid structured output.",
  error_during_execution: "The turn failed.",
}

/** Why it ended, where the CLI says more than that it failed. */
const REASONS: Readonly<Record<string, string>> = {
  prompt_too_long: "The conversation is too long for the model. Compact it, or start a new session.",
  image_error: "An image couldn't be used.",
  model_error: "The model failed.",
  api_error: "The API failed. Try again later.",
  blocking_limit: "Usage limit reached.",
  rapid_refill_breaker: "The context filled up again right after it was compacted.",
  malformed_tool_use_exhausted: "The model kept making malformed tool calls.",
  stop_hook_prevented: "A hook stopped the turn.",
  hook_stopped: "A hook stopped the turn.",
  turn_setup_failed: "The turn couldn't start.",
}

function failedWords({ subtype, terminalReason = "" }: ResultRow): string {
  return REASONS[terminalReason] ?? FAILED[subtype] ?? "The turn failed."
}

/** True if the failed request right above says why: a second, vaguer reason would contradict it. */
function isToldAbove({ state, subtype, text, errors, terminalReason = "" }: ResultRow): boolean {
  const repeats = subtype === "success" && text === undefined && errors.length === 0
  return state === "failed" && repeats && (terminalReason === "api_error" || REASONS[terminalReason] === undefined)
}

/** The end of a turn: thin when it went well, in words when it did not. */
export function ResultRowView({ row }: { readonly row: ResultRow }) {
  const who = useWho()
  const by = row.interruptedBy === undefined ? "" : ` by ${who(row.interruptedBy)}`
  const total = totalTokens(row.tokens)
  const [isOpen, toggle] = useDisclosure(`${row.key}:tokens`, false)
  const isTold = isToldAbove(row)
  const end = row.state === "interrupted" ? [`Interrupted${by}`] : isTold ? ["Failed"] : []
  const facts = [...end, ...factsOf(row)]
  return (
    <div className="flex flex-col gap-2">
      {row.text !== undefined && row.state === "done" && <Markdown text={row.text} live={false} />}
      {row.state === "failed" && !isTold && (
        <Notice tone="danger">
          <div>
            <p className="font-medium">{failedWords(row)}</p>
            {row.text !== undefined && <p className="whitespace-pre-wrap">{row.text}</p>}
            {row.errors.map((error) => (
              <p key={error} className="whitespace-pre-wrap">
                {error}
              </p>
            ))}
          </div>
        </Notice>
      )}
      <Divider>
        {facts.join(" · ")}
        {total > 0 && (
          <>
            {facts.length > 0 && " · "}
            <button type="button" aria-expanded={isOpen} onClick={toggle} className="min-h-6 underline coarse:min-h-11">
              {tokens(total)} tokens
            </button>
          </>
        )}
      </Divider>
      {isOpen && total > 0 && (
        <div className="mx-auto max-w-full">
          <PartBoundary waiting={null}>
            <TokenTable name="This turn" tokens={row.tokens} models={row.models} />
          </PartBoundary>
        </div>
      )}
    </div>
  )
}

function factsOf({ durationMs, turns, costUsd }: ResultRow): readonly string[] {
  return [
    durationMs === undefined ? "" : duration(durationMs),
    turns === undefined || turns < 2 ? "" : plural(turns, "step"),
    costUsd === undefined || costUsd === 0 ? "" : money(costUsd),
  ].filter((fact) => fact !== "")
}
