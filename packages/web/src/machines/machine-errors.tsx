import { Link } from "../app/link.tsx"
import { moment } from "../design/moment.ts"
import { exitWords } from "../fleet/exit-words.ts"
import { titleOf } from "../fleet/session-words.ts"
import type { SessionEntry } from "../sessions/session-sections.ts"

const MAX_SHOWN = 10

/** Why agents of a machine ended that should not have. */
export function MachineErrors({ entries, now }: { readonly entries: readonly SessionEntry[]; readonly now: number }) {
  const failed = entries.filter(({ status, session }) => status === "failed" && session.exit !== undefined)
  if (failed.length === 0) return null
  return (
    <section aria-labelledby="machine-errors">
      <h2 id="machine-errors" className="mb-1 text-title font-bold">
        Errors
      </h2>
      <ul className="flex flex-col gap-1 text-dense">
        {failed.slice(0, MAX_SHOWN).map(({ session }) => (
          <li key={session.id} className="flex flex-wrap items-baseline gap-x-3">
            <Link href={`/s/${session.id}`} className="font-medium underline">
              <bdi>{titleOf(session)}</bdi>
            </Link>
            <bdi className="text-danger">{exitWords(session.exit)}</bdi>
            <span className="text-meta text-text-3 tabular-nums">{moment(Date.parse(session.updatedAt), now)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
