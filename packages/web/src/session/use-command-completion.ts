import type { Session } from "@signalbox/client"
import { type KeyboardEvent, useId, useMemo, useState } from "react"
import { commandPart, matchingCommands, type Offer } from "./agent-catalog.ts"
import { commandOptionId } from "./command-list.tsx"
import type { SessionFeed } from "./session-feed.ts"
import { useAgentCatalog } from "./use-agent-catalog.ts"

interface Typed {
  readonly session: Session
  readonly feed: SessionFeed
  readonly text: string
  readonly caret: number
  readonly onText: (text: string) => void
}

/** Commands for a message that begins with a slash: arrows choose, Enter and Tab take, Escape lets it be. */
export function useCommandCompletion({ session, feed, text, caret, onText }: Typed) {
  const id = useId()
  const part = commandPart(text, caret)
  const { commands } = useAgentCatalog(session, feed, part !== undefined)
  const matching = useMemo(() => (part === undefined ? [] : matchingCommands(commands, part)), [commands, part])
  /** For which text the choice was moved, or the list was sent away: another text begins anew. */
  const [choice, setChoice] = useState<{ readonly text: string; readonly active: number | "dismissed" }>()
  const chosen = choice?.text === text ? choice.active : 0
  const isWhole = matching.length === 1 && matching[0]?.name === part
  const isOpen = matching.length > 0 && chosen !== "dismissed" && !isWhole
  const active = chosen === "dismissed" ? 0 : Math.min(chosen, matching.length - 1)

  function choose({ name }: Offer): void {
    onText(`/${name} ${text.slice(caret).trimStart()}`)
  }

  /** True when the key was for the list. */
  function onKey(event: KeyboardEvent): boolean {
    if (!isOpen || event.nativeEvent.isComposing) return false
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0
    const offer = matching[active]
    if (step !== 0) setChoice({ text, active: (active + step + matching.length) % matching.length })
    else if (event.key === "Escape") setChoice({ text, active: "dismissed" })
    else if ((event.key === "Enter" || event.key === "Tab") && !event.shiftKey && offer !== undefined) choose(offer)
    else return false
    event.preventDefault()
    event.stopPropagation()
    return true
  }

  const field = {
    "aria-autocomplete": "list",
    "aria-controls": isOpen ? id : undefined,
    "aria-activedescendant": isOpen ? commandOptionId(id, active) : undefined,
  } as const
  return { list: isOpen ? { id, commands: matching, active, onChoose: choose } : undefined, field, onKey }
}
