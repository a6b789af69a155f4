import type { Row } from "@signalbox/transcript"
import { createContext, type ReactNode, useContext, useId } from "react"
import type { Preferences } from "../../app/preferences.ts"
import { createValueStore, useSelected, type ValueStore } from "../../app/value-store.ts"
import { classes } from "../../design/classes.ts"
import { NextIcon } from "../../design/icons.tsx"
import type { SessionFeed } from "../window/session-feed.ts"

/** Rows that somebody opened or closed, by key: rows come and go with scrolling, this stays. */
export type Disclosures = ValueStore<ReadonlyMap<string, boolean>>

export function createDisclosures(): Disclosures {
  return createValueStore<ReadonlyMap<string, boolean>>(new Map())
}

interface TranscriptContextValue {
  readonly sessionId: string
  readonly feed: SessionFeed
  /** The session that an event belongs to: a fork shows history of the one before it. */
  readonly addressOf: (seq: number) => { readonly session: string; readonly seq: number }
  readonly disclosures: Disclosures
  readonly detail: Preferences["detail"]
  /** Shows the event behind a row in the Raw panel. */
  readonly onRaw: (seq: number) => void
  /** Opens a sub-agent's lane by itself. */
  readonly onLane: (lane: string) => void
  /** Rows may hold rows: a sub-agent's lane. */
  readonly renderRow: (row: Row) => ReactNode
  /** The reader acts on what stands here: the view must not run on. */
  readonly onHold: () => void
}

export const TranscriptContext = createContext<TranscriptContextValue | undefined>(undefined)

export function useTranscript(): TranscriptContextValue {
  const value = useContext(TranscriptContext)
  if (value === undefined) throw new Error("a row stands outside of a transcript")
  return value
}

/** So that what somebody was led to can be seen. */
export function openAll(disclosures: Disclosures, keys: readonly string[]): void {
  if (keys.length > 0) disclosures.set(new Map([...disclosures.get(), ...keys.map((key) => [key, true] as const)]))
}

/** Whether a row's part is open, and how to change that. Nothing but the reader changes it once they have. */
export function useDisclosure(key: string, byDefault: boolean): readonly [boolean, () => void] {
  const { disclosures, onHold } = useTranscript()
  const isOpen = useSelected(disclosures, (all) => all.get(key)) ?? byDefault
  const toggle = () => {
    onHold()
    disclosures.set(new Map([...disclosures.get(), [key, !isOpen]]))
  }
  return [isOpen, toggle]
}

interface DisclosureProps {
  /** The row's key, by which it is remembered whether the row is open. */
  readonly name: string
  readonly heading: ReactNode | ((open: boolean) => ReactNode)
  readonly children: ReactNode
  readonly startsOpen?: boolean
  /** Open whatever somebody chose. */
  readonly staysOpen?: boolean
  /** Without anything inside there is nothing to open. */
  readonly hasBody?: boolean
  /** Shown whether open or not. */
  readonly below?: ReactNode | ((open: boolean) => ReactNode)
}

/** A line that opens. The whole line is the button. */
export function Disclosure({ name, children, startsOpen = false, hasBody = true, ...props }: DisclosureProps) {
  const [isChosen, toggle] = useDisclosure(name, startsOpen)
  const open = isChosen || props.staysOpen === true
  const shown = (part: DisclosureProps["heading"]) => (typeof part === "function" ? part(open) : part)
  const heading = shown(props.heading)
  const id = useId()
  return (
    <div>
      {hasBody ? (
        <button
          type="button"
          aria-expanded={open}
          aria-controls={open ? id : undefined}
          onClick={toggle}
          className="-mx-2 flex min-h-7 w-[calc(100%+1rem)] items-center gap-2 rounded-control px-2 text-start text-dense text-text-2 hover:bg-sunken coarse:min-h-11"
        >
          <span className="flex min-w-0 flex-1 items-center gap-2">{heading}</span>
          <NextIcon size={13} className={classes("shrink-0 text-text-3", open && "rotate-90")} />
        </button>
      ) : (
        <div className="flex min-h-7 items-center gap-2 text-dense text-text-2 coarse:min-h-11">{heading}</div>
      )}
      <div className={classes("empty:hidden", open && hasBody && "pb-1")}>{shown(props.below)}</div>
      {open && hasBody && (
        <div id={id} className="flex flex-col gap-2 pt-1 pb-2">
          {children}
        </div>
      )}
    </div>
  )
}
