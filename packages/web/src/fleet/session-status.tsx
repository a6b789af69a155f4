import { hasFailed, type Session } from "@signalbox/client"
import type { ReactNode } from "react"
import { useCanOperate, useConnection } from "../app/hub-context.ts"
import { classes } from "../design/classes.ts"
import { CheckIcon, NextIcon } from "../design/icons.tsx"

export type SessionStatus = "needs-you" | "lost" | "failed" | "starting" | "running" | "ready" | "idle" | "ended"

export const STATUS_WORDS: Readonly<Record<SessionStatus, string>> = {
  "needs-you": "Needs you",
  lost: "Lost",
  failed: "Failed",
  starting: "Starting",
  running: "Running",
  ready: "Finished",
  idle: "Idle",
  ended: "Ended",
}

/** Viewers cannot answer: a request that waits does not wait for them. */
export const WAITS_FOR_SOMEONE = "Waiting for someone"
const VIEWER_WORDS: typeof STATUS_WORDS = { ...STATUS_WORDS, "needs-you": WAITS_FOR_SOMEONE }

/** The words for whoever reads them. */
export function useStatusWords(): typeof STATUS_WORDS {
  return useCanOperate() ? STATUS_WORDS : VIEWER_WORDS
}

/** The order of the sections on the screen. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the record has these keys and no other
export const STATUS_ORDER = Object.keys(STATUS_WORDS) as readonly SessionStatus[]

interface StatusContext {
  readonly now: number
  /** The last event of it that this person has read; undefined when they never did. */
  readonly seenSeq: number | undefined
}

const SILENT_AFTER_MS = 30_000

/** The first that holds. Read from what the hub says, never guessed. */
export function statusOf(session: Session, { now, seenSeq }: StatusContext): SessionStatus {
  if (session.pendingAsks > 0) return "needs-you"
  if (isSilent(session, now)) return "lost"
  if (hasFailed(session)) return "failed"
  if (session.state === "starting") return "starting"
  // Its process was given its first message, and has said nothing yet: its CLI is still starting.
  const isUnheard = session.turns === 0 && session.agentSessionId === null
  if (session.state === "running" && isUnheard) return "starting"
  if (session.state === "running" || session.state === "waiting") return "running"
  // Its machine is gone for a moment: the turn goes on there.
  if (session.state === "disconnected" && session.turnStartedAt !== undefined) return "running"
  if (session.state === "idle" && (session.backgroundTasks ?? 0) > 0) return "running"
  if (session.state === "ended") return "ended"
  // Events after its result, such as that its agent is connected again, are no turn that ended.
  const { lastResult, lastSeq } = session
  return lastResult !== undefined && (seenSeq ?? 0) < (lastResult.seq ?? lastSeq) ? "ready" : "idle"
}

/**
 * A process that may live, on a machine that does not answer; or an agent that dialled in and went away. A machine may be
 * back in a moment: `runnerSeenAt` is when it came or went.
 */
export function isSilent({ state, runner, runnerSeenAt }: Session, now: number): boolean {
  if (state !== "disconnected") return false
  return runner === null || runnerSeenAt === undefined || now - Date.parse(runnerSeenAt) > SILENT_AFTER_MS
}

const SHAPES: Readonly<Record<SessionStatus, ReactNode>> = {
  // A semaphore's arm: level means stop, raised means the way is clear.
  "needs-you": <path d="M4 3v10M4 6h9" strokeWidth="2.4" />,
  lost: <path d="M12.3 5.5A5 5 0 0 0 5 4M3.7 10.5A5 5 0 0 0 11 12" />,
  failed: <path d="m4 4 8 8M12 4l-8 8" strokeWidth="2.2" />,
  starting: <circle cx="8" cy="8" r="5" strokeDasharray="0.1 3.82" strokeWidth="2.2" />,
  running: <path d="M4 3v10M4 9l8-6" strokeWidth="2.4" />,
  ready: <circle cx="8" cy="8" r="4.5" fill="currentColor" stroke="none" />,
  idle: <circle cx="8" cy="8" r="4.5" />,
  ended: <rect x="4" y="4" width="8" height="8" rx="1" />,
}

const COLOURS: Readonly<Record<SessionStatus, string>> = {
  "needs-you": "text-caution",
  lost: "text-danger",
  failed: "text-danger",
  starting: "text-info",
  running: "text-clear",
  ready: "text-info",
  idle: "text-text-3",
  ended: "text-text-3",
}

interface StatusGlyphProps {
  readonly status: SessionStatus
  /** With the word beside it the picture says nothing more. */
  readonly withWord?: boolean
}

export function StatusGlyph({ status, withWord = false }: StatusGlyphProps) {
  const word = useStatusWords()[status]
  // While the hub is away nobody knows whether it still works.
  const isKnown = useConnection().name !== "lost"
  return (
    <span className={classes("inline-flex shrink-0 items-center gap-1.5", COLOURS[status])}>
      <svg
        width="16"
        height="16"
        viewBox="0 0 16 16"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.8"
        strokeLinecap="round"
        className={classes(status === "running" && isKnown && "animate-pulse-slow")}
        {...(withWord ? { "aria-hidden": true } : { role: "img", "aria-label": word })}
      >
        {SHAPES[status]}
      </svg>
      {withWord && <span className="text-dense font-medium">{word}</span>}
    </span>
  )
}

const STEPS = [
  { name: "queued", words: "Queued" },
  { name: "starting", words: "Starting CLI" },
  { name: "ready", words: "Ready" },
] as const

/** The steps of a launch, and the one it is at. */
export function LaunchSteps({ at }: { readonly at: "queued" | "starting" }) {
  const now = STEPS.findIndex(({ name }) => name === at)
  return (
    <ol aria-label="Launch" className="flex flex-wrap items-center gap-x-2 text-dense">
      {STEPS.map(({ name, words }, index) => (
        <li
          key={name}
          aria-current={index === now ? "step" : undefined}
          className={classes("flex items-center gap-2", index === now ? "font-medium text-info" : "text-text-3")}
        >
          {index > 0 && <NextIcon size={12} />}
          {words}
          {index < now && <CheckIcon size={12} />}
          {index < now && <span className="sr-only">, done</span>}
        </li>
      ))}
    </ol>
  )
}
