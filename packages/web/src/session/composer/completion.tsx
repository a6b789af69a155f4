import type { Session } from "@signalbox/client"
import { type KeyboardEvent, useId, useMemo, useState } from "react"
import { commandPart, matchingCommands } from "../../agent/agent-catalog.ts"
import { useAgentCatalog } from "../../agent/use-agent-catalog.ts"
import { oneLine } from "../../design/visible-characters.ts"
import type { SessionFeed } from "../../transcript/window/session-feed.ts"
import { type Completion, completionId } from "./completion-list.tsx"
import { filePart, withFile } from "./file-suggestions.ts"
import { useFileSuggestions } from "./use-file-suggestions.ts"

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

/** What is offered for what is being typed: arrows choose, Enter and Tab take, Escape lets it be. */
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
  const list = isOpen
    ? { id, label: offered.label, options: offered.options, note: offered.note, active, onChoose: offered.choose }
    : undefined
  return { list, field, onKey }
}
