import { parseJson } from "@signalbox/protocol/envelope"
import { useEffect, useRef, useState } from "react"
import { createValueStore } from "../../app/value-store.ts"

/**
 * Drafts of messages, per session. Each tab has its own, which survives a reload. The last that any of them wrote is
 * kept beside it, for a tab that is new, or comes after the browser was closed.
 */
const PREFIX = "signalbox:draft:"
const ORDER = "signalbox:drafts"
const MAX_CHARS = 200_000
/** Those written to longest ago go first. */
const MAX_DRAFTS = 50

/** Drafts are kept in a browser's `Storage`, or nowhere if it has none to give. */
type Place = Pick<Storage, "getItem" | "setItem" | "removeItem">
export interface DraftPlaces {
  readonly tab: Place
  readonly browser: Place
}

/** May throw: a browser can be told to keep nothing. */
const here: DraftPlaces = {
  get tab() {
    return sessionStorage
  },
  get browser() {
    return localStorage
  },
}

export function readDraft(session: string, places: DraftPlaces = here): string {
  try {
    return places.tab.getItem(PREFIX + session) ?? places.browser.getItem(PREFIX + session) ?? ""
  } catch {
    return ""
  }
}

/** The text that it `was` tells whose the browser's draft is: another tab's stays when this one's is sent. */
export function keepDraft(
  session: string,
  { was, is }: { readonly was: string; readonly is: string },
  places: DraftPlaces = here,
): void {
  try {
    // Also nothing is this tab's own word: it does not take up another's after a reload.
    put(places.tab, session, is)
    if (is !== "") put(places.browser, session, is)
    else if (places.browser.getItem(PREFIX + session) === clipped(was)) places.browser.removeItem(PREFIX + session)
  } catch {
    // It stays in the field as long as the page lives.
  }
}

function clipped(text: string): string {
  return text.slice(0, MAX_CHARS)
}

function put(place: Place, session: string, text: string): void {
  const known = orderIn(place)
  if (known.at(-1) !== session) {
    const others = known.filter((other) => other !== session)
    for (const oldest of others.splice(0, others.length - MAX_DRAFTS + 1)) place.removeItem(PREFIX + oldest)
    place.setItem(ORDER, JSON.stringify([...others, session]))
  }
  place.setItem(PREFIX + session, clipped(text))
}

/** Sessions with a draft, the one last written to at the end. */
function orderIn(place: Place): readonly string[] {
  const kept = parseJson(place.getItem(ORDER) ?? "[]")
  return Array.isArray(kept) ? kept.filter((each) => typeof each === "string") : []
}

/** The words last put into a draft from elsewhere on the page. */
const added = createValueStore<{ readonly session: string; readonly text: string } | undefined>(undefined)

/** Puts words below what a session's message field holds. Nothing is sent, and nothing takes the focus. */
export function addToDraft(session: string, text: string): void {
  added.set({ session, text })
}

export function joined(draft: string, text: string): string {
  return draft.trim() === "" ? `${text}\n` : `${draft.trimEnd()}\n\n${text}\n`
}

/** The text of a session's message field. One that was only looked at is not this tab's: it is kept once it is changed. */
export function useDraft(session: string): readonly [string, (text: string) => void] {
  const [text, setText] = useState(() => readDraft(session))
  const kept = useRef(text)
  useEffect(() => {
    if (text === kept.current) return
    keepDraft(session, { was: kept.current, is: text })
    kept.current = text
  }, [session, text])
  useEffect(
    () =>
      added.subscribe(() => {
        const news = added.get()
        if (news?.session === session) setText((draft) => joined(draft, news.text))
      }),
    [session],
  )
  return [text, setText]
}
