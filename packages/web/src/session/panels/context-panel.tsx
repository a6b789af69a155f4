import { isObject, textOf } from "@signalbox/protocol/envelope"
import { useAgentQuestion } from "../../agent/agent-question.ts"
import { Button } from "../../design/button.tsx"
import { Empty, Notice, Skeleton } from "../../design/notice.tsx"
import { oneLine } from "../../design/visible-text.tsx"
import { clockTime, tokens } from "../../design/words.ts"
import type { PanelProps } from "./session-panels.tsx"

interface Category {
  readonly name: string
  readonly tokens: number
  readonly isFree: boolean
}

interface ContextUsage {
  readonly used: number
  readonly max: number
  readonly categories: readonly Category[]
}

function readUsage(reply: unknown): ContextUsage {
  const facts = isObject(reply) ? reply : {}
  const number = (field: string) => (typeof facts[field] === "number" ? facts[field] : 0)
  const categories: readonly unknown[] = Array.isArray(facts["categories"]) ? facts["categories"] : []
  return {
    used: number("totalTokens"),
    max: number("maxTokens"),
    categories: categories.filter(isObject).map((category) => ({
      name: oneLine(textOf(category, "name") ?? "Other", 80),
      tokens: typeof category["tokens"] === "number" ? category["tokens"] : 0,
      isFree: category["kind"] === "free" || textOf(category, "name") === "Free space",
    })),
  }
}

/** The agent's context by category, as the agent tells it. */
export function ContextPanel({ session }: PanelProps) {
  const [reply, askAgain] = useAgentQuestion({ session, subtype: "get_context_usage", read: readUsage })
  switch (reply.name) {
    case "asking":
      return <Skeleton rows={4} />
    case "unavailable":
      return <Empty>{reply.why}</Empty>
    case "refused":
      return (
        <Notice tone="neutral">
          {reply.why}
          <Button onClick={askAgain}>Retry</Button>
        </Notice>
      )
    case "told":
      return <Usage usage={reply.value} at={reply.at} onRefresh={askAgain} />
  }
}

interface UsageProps {
  readonly usage: ContextUsage
  readonly at: number
  readonly onRefresh: () => void
}

function Usage({ usage: { used, max, categories }, at, onRefresh }: UsageProps) {
  const share = (count: number) => (max === 0 ? 0 : Math.min(100, (count / max) * 100))
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-col gap-1">
        <p className="flex items-baseline justify-between gap-2">
          <span className="text-title font-bold tabular-nums">{percent(share(used))}</span>
          <span className="text-dense text-text-2 tabular-nums">
            {tokens(used)} of {tokens(max)} tokens
          </span>
        </p>
        <Bar label="Context used" value={share(used)} />
      </div>
      <ul aria-label="What fills the context" className="flex flex-col gap-2">
        {categories.map((category) => (
          <li key={category.name} className="flex flex-col gap-1 text-dense">
            <span className="flex justify-between gap-2">
              <bdi className={category.isFree ? "text-text-3" : undefined}>{category.name}</bdi>
              <span className="shrink-0 text-text-2 tabular-nums">
                {tokens(category.tokens)} · {percent(share(category.tokens))}
              </span>
            </span>
            {!category.isFree && <Bar label={category.name} value={share(category.tokens)} />}
          </li>
        ))}
      </ul>
      <p className="flex items-center justify-between text-meta text-text-3">
        As of {clockTime(at, { seconds: true })}
        <Button onClick={onRefresh}>Refresh</Button>
      </p>
    </div>
  )
}

function percent(share: number): string {
  return share > 0 && share < 1 ? "<1 %" : `${Math.round(share)} %`
}

function Bar({ label, value }: { readonly label: string; readonly value: number }) {
  return (
    <div
      role="meter"
      aria-label={label}
      aria-valuenow={Math.round(value)}
      aria-valuemin={0}
      aria-valuemax={100}
      className="h-1.5 overflow-hidden rounded-mark bg-sunken"
    >
      <div
        ref={(element) => element?.style.setProperty("width", `${value}%`)}
        className="h-full min-w-px rounded-mark bg-accent"
      />
    </div>
  )
}
