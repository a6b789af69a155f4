import type { Session } from "@signalbox/client"
import { useSession } from "../app/hub-context.ts"
import { Link } from "../app/link.tsx"
import { titleOf } from "../fleet/session-words.ts"

interface Origin {
  readonly id: string
  readonly title: string
  readonly name: "Continues" | "Fork of" | "Comes from"
}

/** The session that this one is a fork of, or that went on in this one. */
export function useOrigin({ id, parent }: Session): Origin | undefined {
  const origin = useSession(parent ?? "")
  if (parent === undefined) return undefined
  // Older than the list reaches: which of the two it is is not known.
  if (origin === undefined) return { id: parent, title: `Session ${parent.slice(0, 8)}`, name: "Comes from" }
  return { id: parent, title: titleOf(origin), name: origin.next === id ? "Continues" : "Fork of" }
}

export function OriginLink({ origin }: { readonly origin: Origin }) {
  return (
    <Link href={`/s/${origin.id}`} title={origin.title} className="min-w-0 truncate text-accent underline">
      <bdi>{origin.title}</bdi>
    </Link>
  )
}
