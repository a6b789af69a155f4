import type { Ask } from "@signalbox/client"
import { isObject } from "@signalbox/protocol/envelope"
import { useEffect, useRef } from "react"
import { announce } from "../app/announcer.tsx"
import { useFleet } from "../app/hub-context.ts"
import type { Fleet } from "../app/hub-store.ts"
import { preferences } from "../app/preferences.ts"
import { matchPath, navigate } from "../app/router.tsx"
import { keepStored, readStored } from "../app/stored.ts"
import { headingOf, summaryOf } from "../fleet/ask-words.ts"
import { titleOf } from "../fleet/session-words.ts"
import { forgetSettledDrafts } from "./answer/ask-drafts.ts"

type ArrivalListener = (arrived: readonly Ask[], fleet: Fleet) => void

function tellListeners(arrived: readonly Ask[], { sessions }: Fleet): void {
  const [first] = arrived
  if (first === undefined) return
  const session = sessions.get(first.sessionId)
  const title = session === undefined ? "A session" : titleOf(session)
  announce(
    arrived.length > 1 ? `${arrived.length} new requests` : `${title} needs you: ${inSentence(headingOf(first))}`,
  )
}

/** "Run a command" as it stands inside a sentence; names stay as they are. */
function inSentence(heading: string): string {
  return /^[A-Z][a-z]+ /.test(heading) && !heading.startsWith("Claude ")
    ? heading.charAt(0).toLowerCase() + heading.slice(1)
    : heading
}

export const ARRIVALS: readonly ArrivalListener[] = [tellListeners, notifyOf, soundOf]

/** Tells of asks that opened while this page was there. What waited already when it came is no news. */
export function useAskArrivals(listeners: readonly ArrivalListener[]): void {
  const fleet = useFleet()
  const known = useRef<Set<string> | undefined>(undefined)
  useEffect(tellLooking, [])
  useEffect(() => forgetSettledDrafts(fleet.asks), [fleet.asks])
  useEffect(() => {
    if (fleet.load.name !== "ready") return
    const ids = [...fleet.asks.values()].filter(({ state }) => state === "pending")
    const before = known.current
    known.current = new Set(ids.map(({ id }) => id))
    closeSettled(fleet)
    if (before === undefined) return
    const arrived = ids.filter(({ id }) => !before.has(id))
    if (arrived.length > 0) for (const listener of listeners) listener(arrived, fleet)
  }, [fleet, listeners])
}

interface Shown {
  readonly note: Notification
  readonly ask: string
}

/** One per session; whatever tab shows it, the system replaces it by its tag. */
const shown = new Map<string, Shown>()

/** By the system, while nobody looks at that session. What is asked only if that was chosen; no way to answer. */
function notifyOf(arrived: readonly Ask[], { sessions }: Fleet): void {
  const { notify, notifyDetails } = preferences.get()
  if (!notify || !("Notification" in globalThis) || Notification.permission !== "granted") return
  const latest = new Map(arrived.map((ask) => [ask.sessionId, ask]))
  for (const [id, ask] of latest) {
    if (wasLookedAt(id)) continue
    const session = sessions.get(id)
    const title = `Needs a decision: ${session === undefined ? "a session" : titleOf(session)}`
    const note = new Notification(title, { tag: `signalbox:${id}`, ...(notifyDetails ? { body: summaryOf(ask) } : {}) })
    shown.set(id, { note, ask: ask.id })
    note.addEventListener("click", () => {
      focus()
      navigate(`/requests/${encodeURIComponent(ask.id)}`)
      note.close()
    })
  }
}

/** A request that was decided meanwhile needs no notification any more. */
function closeSettled({ asks }: Fleet): void {
  for (const [session, { note, ask }] of shown) {
    if (asks.get(ask)?.state === "pending") continue
    note.close()
    shown.delete(session)
  }
}

const KEY = "signalbox:looking"
const FRESH_MS = 15_000
const BEAT_MS = 5000

/** The session that a page on top, with the focus, shows; the inbox shows them all. */
function lookedAt(): string | undefined {
  if (document.visibilityState !== "visible" || !document.hasFocus()) return undefined
  if (location.pathname.startsWith("/requests")) return "*"
  return matchPath("/s/:id", location.pathname)?.["id"]
}

/** Tells this browser's other tabs, again and again, for as long as somebody looks. */
function tellLooking(): () => void {
  const beat = () => {
    const what = lookedAt()
    if (what !== undefined) keepStored(KEY, { what, at: Date.now() })
  }
  beat()
  const timer = setInterval(beat, BEAT_MS)
  const events = ["focus", "blur", "popstate"] as const
  for (const event of events) addEventListener(event, beat)
  return () => {
    clearInterval(timer)
    for (const event of events) removeEventListener(event, beat)
  }
}

/** Whether somebody at this browser had a session before their eyes in the last 15 s, in whatever tab. */
function wasLookedAt(session: string): boolean {
  const here = lookedAt()
  if (here === session || here === "*") return true
  const kept = readStored(KEY)
  if (!isObject(kept) || typeof kept["at"] !== "number") return false
  return Date.now() - kept["at"] < FRESH_MS && (kept["what"] === session || kept["what"] === "*")
}

const LENGTH_S = 0.18
const PITCH_HZ = 660
let audio: AudioContext | undefined

/** Play a sound, for those who chose it. */
function soundOf(): void {
  if (preferences.get().notifySound) playTone()
}

/** A browser lets a page sound only after somebody touched it; before that it is silent. */
export function playTone(): void {
  audio ??= new AudioContext()
  void audio.resume().catch(() => undefined)
  const start = audio.currentTime
  const tone = audio.createOscillator()
  const volume = audio.createGain()
  tone.frequency.value = PITCH_HZ
  volume.gain.setValueAtTime(0.08, start)
  volume.gain.exponentialRampToValueAtTime(0.0001, start + LENGTH_S)
  tone.connect(volume).connect(audio.destination)
  tone.start(start)
  tone.stop(start + LENGTH_S)
}
