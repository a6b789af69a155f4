import {
  type HarnessRow,
  type PromptRow,
  type ResultRow,
  type TextRow,
  type ThinkingRow,
  totalTokens,
} from "@signalbox/transcript"
import { useMe, useWho } from "../../app/hub-context.ts"
import { classes } from "../../design/classes.ts"
import { lazyPart, PartBoundary } from "../../design/lazy-part.tsx"
import { Notice } from "../../design/notice.tsx"
import { oneLine, VisibleText } from "../../design/visible-text.tsx"
import { duration, money, plural, tokens } from "../../design/words.ts"
import { Markdown } from "../content/markdown.tsx"
import { dataUrl, Picture } from "../content/pictures.tsx"
import { Divider } from "./small-rows.tsx"
import { Disclosure, useDisclosure } from "./transcript-context.tsx"

const DELIVERY: Readonly<Record<PromptRow["delivery"], string>> = {
  // The composer shows what is on its way; here it has arrived.
  sent: "",
  queued: "Queued",
  started: "Started",
  completed: "Done",
  delivered: "",
  cancelled: "Cancelled",
  discarded: "Discarded",
  refused: "Refused",
  unknown: "The agent ended before confirming this message; it may not have been read",
}

export function PromptRowView({ row }: { readonly row: PromptRow }) {
  const state = DELIVERY[row.delivery]
  const me = useMe()
  const author = row.author === me.name ? undefined : row.author
  const isOff = row.delivery === "cancelled" || row.delivery === "discarded"
  return (
    <div className="my-2 rounded-control border-s-4 border-accent bg-accent-soft py-2 ps-3 pe-3">
      <p className="flex flex-wrap gap-x-3 text-meta font-medium text-text-2">
        <bdi className="font-bold text-accent">{author ?? "You"}</bdi>
        {state !== "" && (
          <span className={["unknown", "refused"].includes(row.delivery) ? "text-caution" : "text-text-3"}>
            {state}
          </span>
        )}
      </p>
      <div className={classes("prose whitespace-pre-wrap", isOff && "text-text-3 line-through")}>
        <VisibleText text={row.text} />
      </div>
      {row.pictures.map((picture) => {
        const source = dataUrl(picture)
        return source === undefined ? (
          <p key={picture.url ?? ""} className="text-dense text-text-3">
            Image not included
          </p>
        ) : (
          <Picture key={source.slice(-60)} source={source} alt="Image in this message" />
        )
      })}
    </div>
  )
}

/** The end of the turn says it, and who did. */
const INTERRUPTED = "[Request interrupted"

export function HarnessRowView({ row }: { readonly row: HarnessRow }) {
  return (
    <Disclosure
      name={row.key}
      heading={(open) => (
        <>
          <span className="shrink-0 text-meta text-text-3">Added automatically</span>
          {!open && !row.text.startsWith(INTERRUPTED) && (
            <bdi className="min-w-0 truncate text-meta text-text-3">{oneLine(row.text, 160)}</bdi>
          )}
        </>
      )}
    >
      <div className="text-dense whitespace-pre-wrap text-text-2">
        <VisibleText text={row.text} />
      </div>
    </Disclosure>
  )
}

export function TextRowView({ row: { key, state, text } }: { readonly row: TextRow }) {
  if (state === "stale") {
    // Half a sentence, as far as it was heard before the connection was lost.
    return (
      <div data-stale title="Reconnecting. Answer incomplete." className="text-text-3">
        <Markdown text={text} live />
      </div>
    )
  }
  if (state !== "retracted") return <Markdown text={text} live={state === "live"} hasCaret={state === "live"} />
  return (
    <Disclosure
      name={key}
      heading={(open) => (
        <>
          <span className="shrink-0 text-text-3">Retracted by the model</span>
          {!open && <del className="min-w-0 truncate text-text-3">{oneLine(text, 160)}</del>}
        </>
      )}
    >
      <div className="text-text-3 line-through">
        <Markdown text={text} live={false} />
      </div>
    </Disclosure>
  )
}

export function ThinkingRowView({ row }: { readonly row: ThinkingRow }) {
  const facts = [
    row.state === "live" ? "Thinking…" : "Thinking",
    row.durationMs !== undefined && row.durationMs > 0 && duration(row.durationMs),
    row.state === "live" && row.tokens !== undefined && `${row.tokens.toLocaleString("en")} tokens`,
    row.isRedacted && "hidden by the model",
  ].filter((fact) => fact !== false)
  return (
    <Disclosure
      name={row.key}
      heading={<span className="text-text-3">{facts.join(" · ")}</span>}
      hasBody={row.text !== ""}
    >
      <div className={classes("prose whitespace-pre-wrap text-text-2", row.state === "retracted" && "line-through")}>
        <VisibleText text={row.text} />
      </div>
    </Disclosure>
  )
}

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
