import type { PolicySuggestion } from "@signalbox/client"
import { useNow } from "../app/clock.ts"
import { useMe } from "../app/hub-context.ts"
import { Link } from "../app/router.tsx"
import { oneLine } from "../design/visible-text.tsx"
import { age, plural } from "../design/words.ts"
import { Sentence } from "./policy-frame.tsx"
import { nameOf, sentenceOf } from "./rule-words.ts"

/** Rules for what people always allow. None is applied by itself. */
export function Suggestions({ suggestions }: { readonly suggestions: readonly PolicySuggestion[] }) {
  if (suggestions.length === 0) return null
  return (
    <section className="flex flex-col gap-2">
      <h2 className="text-dense font-bold text-text-2">Suggested</h2>
      <ul aria-label="Suggested" className="flex flex-col gap-2">
        {suggestions.map((suggestion) => (
          <Suggestion key={nameOf(suggestion.rule)} suggestion={suggestion} />
        ))}
      </ul>
    </section>
  )
}

function Suggestion({ suggestion }: { readonly suggestion: PolicySuggestion }) {
  const now = useNow()
  const isAdmin = useMe().role === "admin"
  const { rule, allowed, sessions, people, lastAt } = suggestion
  const draft = new URLSearchParams({ draft: JSON.stringify(rule) }).toString()
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-2 rounded-card border border-dashed border-edge px-4 py-3">
      <div className="flex min-w-0 flex-1 basis-80 flex-col gap-1">
        <p>
          <Sentence phrases={sentenceOf(rule)} />
        </p>
        <p className="text-meta text-text-3">
          Allowed {plural(allowed, "time")} in {plural(sessions, "session")} by{" "}
          {people.map((person) => oneLine(person, 40)).join(", ")}, never denied. Last {age(Date.parse(lastAt), now)}{" "}
          ago.
        </p>
      </div>
      {isAdmin && (
        <Link
          href={`/policy/edit?${draft}`}
          className="inline-flex min-h-8 items-center rounded-control border border-edge bg-surface px-3 font-medium hover:bg-sunken coarse:min-h-11"
        >
          Review…
        </Link>
      )}
    </li>
  )
}
