import type { SearchReply } from "@signalbox/client"
import { type KeyboardEvent, useEffect, useRef } from "react"
import { useFleet } from "../app/hub-context.ts"
import { takeTypedAhead, useKeys } from "../app/keyboard.ts"
import { setQuery, usePlace } from "../app/router.tsx"
import { ConnectionPlace, useScreenTitle } from "../app/screen.tsx"
import { useValue } from "../app/value-store.ts"
import { Button } from "../design/button.tsx"
import { INPUT } from "../design/field.tsx"
import { Empty, Skeleton, Trouble } from "../design/notice.tsx"
import { clockTime, plural } from "../design/words.ts"
import { SearchFilters } from "./search-filters.tsx"
import { forgetQueries, recentQueries, rememberQuery, SearchHits } from "./search-hits.tsx"
import { isNarrowed, type SearchWish, useSearch, wishOf } from "./search-query.ts"

const NO_FILTERS = { in: null, machine: null, session: null, from: null, to: null }

export function SearchScreen() {
  useScreenTitle("Search")
  const { query } = usePlace()
  const wish = wishOf(query)
  const { state, retry } = useSearch(wish)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    field.current?.focus()
    const typed = takeTypedAhead()
    if (typed !== "") setQuery({ q: typed })
  }, [])
  useKeys({ "/": () => field.current?.select() })
  const label = wish.session === "" ? "Search all sessions" : "Search this session"
  const reply = state.name === "found" ? state.reply : state.name === "searching" ? state.before : undefined
  return (
    <>
      <header className="shrink-0 border-b border-line">
        <div className="mx-auto flex max-w-5xl flex-col gap-2 px-4 py-2 tablet:px-6">
          <h1 className="flex min-h-8 items-center text-page font-bold">Search</h1>
          <input
            ref={field}
            type="search"
            aria-label={label}
            placeholder={label}
            value={wish.text}
            autoComplete="off"
            spellCheck={false}
            maxLength={500}
            onChange={(event) => setQuery({ q: event.target.value })}
            onKeyDown={(event) => onFieldKey(event, wish.text)}
            className={`${INPUT} min-h-10 text-prose`}
          />
          <SearchFilters wish={wish} />
        </div>
      </header>
      <ConnectionPlace />
      <div data-region="content" className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto max-w-5xl px-4 pb-6 tablet:px-6">
          <StatusLine state={state.name} reply={reply} />
          {state.name === "nothing" && <Recent />}
          {state.name === "searching" && reply === undefined && <Skeleton rows={4} />}
          {state.name === "failed" && <Trouble onRetry={retry}>Search failed: {state.why}</Trouble>}
          {state.name === "found" && state.reply.hits.length === 0 && <NoMatch wish={wish} />}
          {reply !== undefined && reply.hits.length > 0 && <SearchHits hits={reply.hits} text={wish.text} />}
          {reply?.more === true && (
            <p className="pt-3 text-dense text-text-2">
              Showing the newest {plural(reply.hits.length, "match", "matches")}. Add a word to narrow the search.
            </p>
          )}
        </div>
      </div>
    </>
  )
}

function onFieldKey(event: KeyboardEvent<HTMLInputElement>, text: string): void {
  if (event.key === "Enter") rememberQuery(text)
  if (event.key !== "ArrowDown" && event.key !== "Enter") return
  event.preventDefault()
  document.querySelector<HTMLElement>("[data-hit]")?.focus()
}

/** The search's progress, said and shown in one place of one height. */
function StatusLine({ state, reply }: { readonly state: string; readonly reply: SearchReply | undefined }) {
  const count = reply === undefined ? "" : plural(reply.hits.length, "match", "matches")
  const words = state === "searching" ? "Searching…" : state === "found" && reply !== undefined ? count : ""
  return (
    <p className="flex min-h-9 items-center justify-between gap-3 text-meta text-text-3 tabular-nums">
      <span role="status" aria-label="Search">
        {reply?.more === true && state === "found" ? `More than ${count}` : words}
      </span>
      {reply !== undefined && <span>Indexed up to {clockTime(Date.parse(reply.indexedAt))}</span>}
    </p>
  )
}

function NoMatch({ wish }: { readonly wish: SearchWish }) {
  const { sessions, more } = useFleet()
  const where = `${more ? "more than " : ""}${plural(sessions.size, "session")}`
  if (!isNarrowed(wish))
    return (
      <Empty action={<Button onClick={() => setQuery({ q: null })}>Clear search</Button>}>No matches in {where}.</Empty>
    )
  return (
    <Empty action={<Button onClick={() => setQuery(NO_FILTERS)}>Search everywhere</Button>}>
      No matches with these filters.
    </Empty>
  )
}

function Recent() {
  const recent = useValue(recentQueries)
  if (recent.length === 0)
    return <Empty>Searches messages, tool inputs, results and titles. Use “quotes” for exact phrases.</Empty>
  return (
    <section aria-labelledby="recent-searches">
      <div className="flex items-center justify-between">
        <h2 id="recent-searches" className="text-meta font-medium text-text-3">
          Recent
        </h2>
        <Button look="quiet" onClick={forgetQueries}>
          Clear
        </Button>
      </div>
      <ul className="flex flex-col">
        {recent.map((text) => (
          <li key={text}>
            <button
              type="button"
              onClick={() => setQuery({ q: text })}
              className="flex min-h-9 w-full items-center rounded-control px-2 text-start hover:bg-sunken coarse:min-h-11"
            >
              <bdi className="truncate">{text}</bdi>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
