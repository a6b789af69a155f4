import type { ReactNode } from "react"
import type { Loaded } from "../app/loaded.ts"
import { Button } from "./button.tsx"
import { classes } from "./classes.ts"
import { Logo } from "./icons.tsx"

type Tone = "danger" | "caution" | "info" | "neutral"

const TONES: Readonly<Record<Tone, string>> = {
  danger: "border-danger/30 bg-danger-soft text-danger",
  caution: "border-caution/30 bg-caution-soft text-caution",
  info: "border-info/30 bg-info-soft text-info",
  neutral: "border-line bg-sunken text-text-2",
}

/** `alert` is said at once, to somebody who cannot see it too. */
export function Notice({
  tone,
  children,
  alert = false,
}: {
  readonly tone: Tone
  readonly children: ReactNode
  readonly alert?: boolean
}) {
  return (
    <div
      role={alert ? "alert" : undefined}
      className={classes("flex flex-wrap items-center gap-2 rounded-control border px-3 py-2 text-ui", TONES[tone])}
    >
      {children}
    </div>
  )
}

interface TroubleProps {
  readonly children: ReactNode
  readonly onRetry?: () => void
  readonly onDismiss?: () => void
}

/** A problem, said at once; nothing while there is none. */
export function Trouble({ children, onRetry, onDismiss }: TroubleProps) {
  if (children === undefined || children === false) return null
  return (
    <Notice tone="danger" alert>
      {children}
      {onRetry !== undefined && <Button onClick={onRetry}>Retry</Button>}
      {onDismiss !== undefined && (
        <Button look="quiet" className="ms-auto" onClick={onDismiss}>
          Dismiss
        </Button>
      )}
    </Notice>
  )
}

/** One sentence and one action, where a list has nothing to show. */
export function Empty({ children, action }: { readonly children: ReactNode; readonly action?: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-4 px-4 py-16 text-center">
      <span className="flex size-12 items-center justify-center rounded-card border border-line bg-surface text-text-3 shadow-control">
        <Logo size={24} />
      </span>
      <p className="max-w-md text-prose text-balance text-text-2">{children}</p>
      {action}
    </div>
  )
}

/** Rows to come. Still: what moves would ask to be looked at. */
export function Skeleton({ rows = 6 }: { readonly rows?: number }) {
  return (
    <div role="status" aria-label="Loading" className="flex flex-col gap-2 p-3">
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} className="h-[calc(var(--row-height)-8px)] rounded-control bg-sunken" />
      ))}
    </div>
  )
}

interface WhenReadyProps<T> {
  readonly of: { readonly state: Loaded<T>; readonly again: () => void }
  /** Names the thing that could not be loaded, for the sentence that says so. */
  readonly what: string
  readonly children: (value: T) => ReactNode
}

export function WhenReady<T>({ of: { state, again }, what, children }: WhenReadyProps<T>) {
  switch (state.name) {
    case "loading":
      return <Skeleton rows={4} />
    case "failed":
      return (
        <Trouble onRetry={again}>
          Couldn't load {what}: {state.why}
        </Trouble>
      )
    case "ready":
      return children(state.value)
  }
}
