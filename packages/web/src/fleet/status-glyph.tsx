import type { ReactNode } from "react"
import { useConnection } from "../app/hub-context.ts"
import { classes } from "../design/classes.ts"
import { type SessionStatus, STATUS_WORDS } from "./session-status.tsx"

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
  const word = STATUS_WORDS[status]
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
