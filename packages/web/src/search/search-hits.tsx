import type { SearchHit } from "@signalbox/client"
import type { KeyboardEvent } from "react"
import { useNow } from "../app/clock.ts"
import { useSession } from "../app/hub-context.ts"
import { Link } from "../app/router.tsx"
import { useRoving } from "../app/roving.ts"
import { keepStored, readTexts } from "../app/stored.ts"
import { createValueStore } from "../app/value-store.ts"
import { VisibleText } from "../design/visible-text.tsx"
import { moment, plural } from "../design/words.ts"
import { useMachineName } from "../fleet/machine-store.tsx"
import { titleOf } from "../fleet/session-words.ts"
import { groupHits, type HitGroup, hitAddress, snippetPieces } from "./search-query.ts"

const FIELD_WORDS: Readonly<Record<string, string>> = {
  text: "Message",
  thinking: "Thinking",
  input: "Tool input",
  result: "Result",
  title: "Title",
}

export function SearchHits({ hits, text }: { readonly hits: readonly SearchHit[]; readonly text: string }) {
  const list = useRoving("[data-hit]")
  return (
    <div ref={list.ref} onKeyDownCapture={onKey} className="flex flex-col gap-4">
      {groupHits(hits).map((group) => (
        <Group key={group.session} group={group} text={text} />
      ))}
    </div>
  )
}

function Group({ group, text }: { readonly group: HitGroup; readonly text: string }) {
  const session = useSession(group.session)
  const machine = useMachineName(session?.runner ?? null)
  const title = session === undefined ? `Session ${group.session.slice(0, 8)}` : titleOf(session)
  return (
    <section aria-label={title}>
      <div className="flex items-baseline gap-3 pb-1">
        <h2 className="min-w-0 truncate font-medium">
          <bdi>{title}</bdi>
        </h2>
        <span className="shrink-0 text-meta text-text-3 tabular-nums">
          {session !== undefined && `${machine} · `}
          {plural(group.hits.length, "match", "matches")}
        </span>
      </div>
      <ul className="overflow-hidden rounded-card border border-line bg-surface shadow-control">
        {group.hits.map((hit) => (
          <Hit key={`${hit.seq}:${hit.field}`} hit={hit} text={text} />
        ))}
      </ul>
    </section>
  )
}

function Hit({ hit, text }: { readonly hit: SearchHit; readonly text: string }) {
  const now = useNow()
  return (
    <li className="border-line not-first:border-t">
      <Link
        data-hit=""
        href={hitAddress(hit, text)}
        onClick={() => rememberQuery(text)}
        className="flex flex-col gap-0.5 px-3 py-2 -outline-offset-2! hover:bg-sunken"
      >
        <span className="flex justify-between gap-3 text-meta text-text-3 tabular-nums">
          <span>{FIELD_WORDS[hit.field] ?? hit.field}</span>
          <span>{moment(Date.parse(hit.at), now)}</span>
        </span>
        <span className="line-clamp-3 text-dense">
          <Snippet text={hit.snippet} />
        </span>
      </Link>
    </li>
  )
}

/** Somebody else's words: shown as they are, never taken as markup. */
function Snippet({ text }: { readonly text: string }) {
  return snippetPieces(text).map((piece, index) =>
    // Pieces have no identity but their place.
    piece.isFound ? (
      <mark key={index} className="rounded-mark bg-caution-soft font-medium text-text">
        <VisibleText text={piece.text} />
      </mark>
    ) : (
      <VisibleText key={index} text={piece.text} />
    ),
  )
}

/** From the first match, Up leads back to the field. */
function onKey(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== "ArrowUp" || document.querySelector("[data-hit]") !== document.activeElement) return
  document.querySelector<HTMLElement>('input[type="search"]')?.focus()
  event.preventDefault()
  event.stopPropagation()
}

const KEY = "signalbox:searches"
const MAX_KEPT = 8

/** Earlier searches that led somewhere, on this browser, the last first. */
export const recentQueries = createValueStore<readonly string[]>(readTexts(KEY).slice(0, MAX_KEPT))

export function rememberQuery(text: string): void {
  const trimmed = text.trim()
  if (trimmed === "") return
  keep([trimmed, ...recentQueries.get().filter((one) => one !== trimmed)].slice(0, MAX_KEPT))
}

export function forgetQueries(): void {
  keep([])
}

function keep(texts: readonly string[]): void {
  recentQueries.set(texts)
  keepStored(KEY, texts)
}
