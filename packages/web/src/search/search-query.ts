import type { Hub, SearchHit, SearchQuery, SearchReply } from "@signalbox/client"
import { useEffect, useMemo, useState } from "react"
import { useHub } from "../app/hub-context.ts"

/** A place to look in, and the hub's names of it. */
export const SCOPES = [
  { value: "messages", label: "Messages", fields: ["text", "thinking"] },
  { value: "inputs", label: "Tool inputs", fields: ["input"] },
  { value: "results", label: "Results", fields: ["result"] },
  { value: "titles", label: "Titles", fields: ["title"] },
] as const

export type Scope = (typeof SCOPES)[number]["value"]

/** The query, as the address has it. */
export interface SearchWish {
  readonly text: string
  /** None means everywhere. */
  readonly scopes: readonly Scope[]
  readonly machine: string
  readonly session: string
  /** Days of the reader's own calendar, `2031-05-20`; empty for no bound. The last one counts whole. */
  readonly from: string
  readonly to: string
}

export function wishOf(query: URLSearchParams): SearchWish {
  const named = (query.get("in") ?? "").split(",")
  return {
    text: query.get("q") ?? "",
    scopes: SCOPES.filter(({ value }) => named.includes(value)).map(({ value }) => value),
    machine: query.get("machine") ?? "",
    session: query.get("session") ?? "",
    from: dayOf(query.get("from")),
    to: dayOf(query.get("to")),
  }
}

export function isNarrowed({ scopes, machine, session, from, to }: SearchWish): boolean {
  return scopes.length > 0 || [machine, session, from, to].some((part) => part !== "")
}

const MAX_HITS = 100

/** As the hub wants it. */
export function requestOf(wish: SearchWish): SearchQuery {
  const fields = SCOPES.filter(({ value }) => wish.scopes.includes(value)).flatMap((scope) => scope.fields)
  return {
    q: wish.text.slice(0, 500),
    ...(wish.session === "" ? {} : { session: wish.session }),
    ...(wish.machine === "" ? {} : { runner: wish.machine }),
    ...(fields.length === 0 ? {} : { in: fields }),
    ...(wish.from === "" ? {} : { from: startOf(wish.from, 0) }),
    ...(wish.to === "" ? {} : { to: startOf(wish.to, 1) }),
    limit: MAX_HITS,
  }
}

export async function askSearch(hub: Hub, query: SearchQuery, signal?: AbortSignal): Promise<SearchReply> {
  const reply = await hub.search(query, { signal })
  return { ...reply, hits: withoutEchoes(reply.hits) }
}

function dayOf(value: string | null): string {
  return value !== null && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value)) ? value : ""
}

/** When a day begins where the reader is; `later` days on. */
function startOf(day: string, later: number): string {
  const [year = 1970, month = 1, date = 1] = day.split("-").map(Number)
  return new Date(year, month - 1, date + later).toISOString()
}

/** A turn's result repeats its last words: one place to go to is enough. */
export function withoutEchoes(hits: readonly SearchHit[]): readonly SearchHit[] {
  const said = new Set(
    hits.filter(({ field }) => field === "text").map(({ session, snippet }) => `${session} ${snippet}`),
  )
  return hits.filter(({ field, session, snippet }) => field !== "result" || !said.has(`${session} ${snippet}`))
}

export interface HitGroup {
  readonly session: string
  readonly hits: readonly SearchHit[]
}

/** By session, the one with the newest hit first. */
export function groupHits(hits: readonly SearchHit[]): readonly HitGroup[] {
  const groups = new Map<string, SearchHit[]>()
  for (const hit of hits) {
    const group = groups.get(hit.session)
    if (group === undefined) groups.set(hit.session, [hit])
    else group.push(hit)
  }
  return [...groups].map(([session, own]) => ({ session, hits: own }))
}

interface SnippetPiece {
  readonly text: string
  readonly isFound: boolean
}

/** A snippet's words, and which of them were looked for. */
export function snippetPieces(snippet: string): readonly SnippetPiece[] {
  return snippet
    .split(/«([^«»]*)»/u)
    .map((text, index) => ({ text, isFound: index % 2 === 1 }))
    .filter(({ text }) => text !== "")
}

/** Where a hit is looked at. */
export function hitAddress({ session, seq }: SearchHit, text: string): string {
  const path = `/s/${encodeURIComponent(session)}`
  return seq === 0 ? path : `${path}?${new URLSearchParams({ seq: String(seq), find: text }).toString()}`
}

type SearchState =
  | { readonly name: "nothing" }
  /** `before`: what was found for what was typed before, until there is something newer. */
  | { readonly name: "searching"; readonly before: SearchReply | undefined }
  | { readonly name: "found"; readonly reply: SearchReply }
  | { readonly name: "failed"; readonly why: string }

/** Who types does not want an answer to every letter. */
const QUIET_MS = 150

export function useSearch(wish: SearchWish): { readonly state: SearchState; readonly retry: () => void } {
  const hub = useHub()
  const [state, setState] = useState<SearchState>({ name: "nothing" })
  const [tries, setTries] = useState(0)
  const isAsked = wish.text.trim() !== ""
  const key = JSON.stringify(requestOf(wish))
  const request = useMemo(() => ({ key, tries }), [key, tries])

  useEffect(() => {
    if (!isAsked) {
      setState({ name: "nothing" })
      return undefined
    }
    const ending = new AbortController()
    setState((now) => ({ name: "searching", before: now.name === "found" ? now.reply : beforeOf(now) }))
    const timer = setTimeout(() => {
      askSearch(hub, JSON.parse(request.key), ending.signal).then(
        (reply) => setState({ name: "found", reply }),
        (error: unknown) => {
          if (ending.signal.aborted) return
          setState({ name: "failed", why: error instanceof Error ? error.message : String(error) })
        },
      )
    }, QUIET_MS)
    return () => {
      clearTimeout(timer)
      ending.abort()
    }
  }, [hub, isAsked, request])

  return { state, retry: () => setTries(tries + 1) }
}

function beforeOf(state: SearchState): SearchReply | undefined {
  return state.name === "searching" ? state.before : undefined
}
