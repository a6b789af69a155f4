import type { Session } from "@signalbox/client"
import { isObject, textOf } from "@signalbox/protocol/envelope"
import { type KeyboardEvent, useEffect, useId, useMemo, useState } from "react"
import { commandPart, matchingCommands, useAgentCatalog } from "../../agent/agent-catalog.ts"
import { isReachable, refusalWords } from "../../agent/agent-question.ts"
import { useHub } from "../../app/hub-context.ts"
import { whileOpen } from "../../app/value-store.ts"
import { classes } from "../../design/classes.ts"
import { oneLine } from "../../design/visible-text.tsx"
import type { SessionFeed } from "../../transcript/window/session-feed.ts"

interface Typed {
  readonly session: Session
  readonly feed: SessionFeed
  readonly text: string
  readonly caret: number
  readonly onText: (text: string, caret: number) => void
}

interface Offered {
  readonly label: string
  readonly options: readonly Completion[]
  /** Why nothing is offered. */
  readonly note?: string
  readonly choose: (index: number) => void
}

/** Commands for a message that begins with a slash. */
function useCommands({ session, feed, text, caret, onText }: Typed): Offered | undefined {
  const part = commandPart(text, caret)
  const { commands } = useAgentCatalog(session, feed, part !== undefined)
  const matching = useMemo(() => (part === undefined ? [] : matchingCommands(commands, part)), [commands, part])
  const isWhole = matching.length === 1 && matching[0]?.name === part
  if (part === undefined || matching.length === 0 || isWhole) return undefined
  return {
    label: "Commands",
    options: matching.map(({ name, hint, description }) => ({ key: name, label: `/${name}`, hint, description })),
    choose(index) {
      const begun = `/${matching[index]?.name ?? part} `
      onText(begun + text.slice(caret).trimStart(), begun.length)
    },
  }
}

/** The agent's files after an `@`. */
function useFiles({ session, text, caret, onText }: Typed): Offered | undefined {
  const part = filePart(text, caret)
  const offers = useFileSuggestions(session, part?.query)
  if (part === undefined || offers.name === "none") return undefined
  if (offers.name === "refused") return { label: "Files", options: [], note: offers.why, choose: () => undefined }
  const { paths } = offers
  if (paths.length === 0) return undefined
  return {
    label: "Files",
    options: paths.map((path) => ({ key: path, label: oneLine(path, 200), hint: "", description: "" })),
    choose(index) {
      const next = withFile(text, part, paths[index] ?? part.query)
      onText(next.text, next.caret)
    },
  }
}

/** Completions of the text being typed: arrows choose, Enter and Tab take, Escape lets it be. */
export function useCompletion(typed: Typed) {
  const id = useId()
  const [commands, files] = [useCommands(typed), useFiles(typed)]
  const offered = commands ?? files
  const { text } = typed
  /** For which text the choice was moved, or the list was sent away: another text begins anew. */
  const [choice, setChoice] = useState<{ readonly text: string; readonly active: number | "dismissed" }>()
  const chosen = choice?.text === text ? choice.active : 0
  const isOpen = offered !== undefined && chosen !== "dismissed"
  const count = offered?.options.length ?? 0
  const active = chosen === "dismissed" ? 0 : Math.min(chosen, Math.max(0, count - 1))

  /** True when the key was for the list. */
  function onKey(event: KeyboardEvent): boolean {
    if (!isOpen || event.nativeEvent.isComposing) return false
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0
    const isTaken = (event.key === "Enter" || event.key === "Tab") && !event.shiftKey
    if (event.key === "Escape") setChoice({ text, active: "dismissed" })
    else if (count === 0) return false
    else if (step !== 0) setChoice({ text, active: (active + step + count) % count })
    else if (isTaken) offered.choose(active)
    else return false
    event.preventDefault()
    event.stopPropagation()
    return true
  }

  const hasList = isOpen && count > 0
  const field = {
    "aria-autocomplete": "list",
    "aria-controls": hasList ? id : undefined,
    "aria-activedescendant": hasList ? completionId(id, active) : undefined,
  } as const
  return { list: isOpen ? { ...offered, id, active } : undefined, field, onKey }
}

/** Something that can stand in the place of what is being typed. */
interface Completion {
  readonly key: string
  readonly label: string
  readonly hint: string
  readonly description: string
}

interface CompletionListProps extends Offered {
  readonly id: string
  readonly active: number
}

function completionId(list: string, index: number): string {
  return `${list}-${index}`
}

const POPUP =
  "absolute inset-x-0 bottom-full z-10 mb-1 max-h-[40vh] overflow-y-auto rounded-control border border-line bg-raised py-1 shadow-popover"

/** The list of completions. The focus stays in the message. */
export function CompletionList({ id, label, options, active, note, choose }: CompletionListProps) {
  if (note !== undefined) {
    return (
      <p role="status" className={classes(POPUP, "px-3 text-dense text-text-2")}>
        {label}: {note}
      </p>
    )
  }
  return (
    <div id={id} role="listbox" aria-label={label} className={POPUP}>
      {options.map((option, index) => (
        <div
          key={option.key}
          id={completionId(id, index)}
          role="option"
          aria-selected={index === active}
          // Before the message loses the focus.
          onPointerDown={(event) => {
            event.preventDefault()
            choose(index)
          }}
          className={classes(
            "flex min-h-8 cursor-pointer items-baseline gap-3 px-3 py-1 coarse:min-h-11 coarse:items-center",
            index === active ? "bg-accent-soft" : "hover:bg-sunken",
          )}
        >
          <span
            className={classes("truncate font-mono text-dense", option.description !== "" && "max-w-[65%] shrink-0")}
          >
            <bdi>{option.label}</bdi>
            {option.hint !== "" && <span className="text-text-3"> {option.hint}</span>}
          </span>
          {option.description !== "" && (
            <bdi className="min-w-0 truncate text-dense text-text-2">{option.description}</bdi>
          )}
        </div>
      ))}
    </div>
  )
}

const MAX_SHOWN = 12

/** A path after an `@`, while it is being typed: where the `@` stands, and what follows it. */
interface FilePart {
  readonly start: number
  readonly query: string
}

/** An address such as `a@b` is no file: the `@` begins a word. */
export function filePart(text: string, caret: number): FilePart | undefined {
  const query = /(?:^|\s)@([^\s@]*)$/.exec(text.slice(0, caret))?.[1]
  return query === undefined ? undefined : { start: caret - query.length - 1, query }
}

/** The paths that an agent offers, whether it names them or tells more of each. */
export function readSuggestions(reply: unknown): readonly string[] {
  const list: readonly unknown[] = isObject(reply) && Array.isArray(reply["suggestions"]) ? reply["suggestions"] : []
  const paths = list.flatMap((each) => pathOf(each) ?? [])
  return [...new Set(paths)].slice(0, MAX_SHOWN)
}

const NAMES = ["path", "file", "displayText", "value", "label", "name", "id"]

function pathOf(value: unknown): string | undefined {
  if (typeof value === "string") return value
  return NAMES.map((name) => textOf(value, name)).find((text) => text !== undefined && text !== "")
}

/** The text with the path in its place, and where the caret goes. */
export function withFile(
  text: string,
  { start, query }: FilePart,
  path: string,
): { readonly text: string; readonly caret: number } {
  const before = `${text.slice(0, start)}@${path} `
  return { text: before + text.slice(start + 1 + query.length).trimStart(), caret: before.length }
}

/** The outcome of asking for files. */
type FileOffers =
  | { readonly name: "none" }
  | { readonly name: "offered"; readonly paths: readonly string[] }
  | { readonly name: "refused"; readonly why: string }

const NONE: FileOffers = { name: "none" }
/** Somebody who types is not asked about every letter. */
const PAUSE_MS = 120
/** The oldest CLIs say nothing at all to what they do not know. */
const TIMEOUT_MS = 5000

/** The agent's own files that go on from `query`; undefined: none are wanted. */
function useFileSuggestions(session: Session, query: string | undefined): FileOffers {
  const hub = useHub()
  const { id, cliVersion } = session
  const isHere = isReachable(session)
  const [told, setTold] = useState<{ readonly query: string; readonly offers: FileOffers }>()
  const isWanted = query !== undefined
  const isRefused = told?.offers.name === "refused"
  useEffect(() => {
    // Another time it may be another process, which knows more.
    if (!isWanted) setTold(undefined)
  }, [isWanted])
  useEffect(() => {
    if (query === undefined || isRefused) return undefined
    if (!isHere) return setTold({ query, offers: { name: "refused", why: "The agent isn't connected." } })
    let stop: (() => void) | undefined
    const timer = setTimeout(() => {
      stop = whileOpen(
        hub.session(id).control({ subtype: "file_suggestions", query }, { timeoutMs: TIMEOUT_MS }),
        (reply) => setTold({ query, offers: { name: "offered", paths: readSuggestions(reply) } }),
        (error) => setTold({ query, offers: { name: "refused", why: refusalWords(error, { cliVersion }) } }),
      )
    }, PAUSE_MS)
    return () => {
      stop?.()
      clearTimeout(timer)
    }
  }, [hub, id, cliVersion, query, isRefused, isHere])
  // The offers for the letters before are shown until the new ones are answered: a list that blinks cannot be read.
  return !isWanted || told === undefined ? NONE : told.offers
}
