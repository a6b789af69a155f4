import { useMe } from "../app/hub-context.ts"

/** Beside what ran: that it is not what was asked for, and whose doing that is. */
export function ChangedBy({ by }: { readonly by: string | undefined }) {
  const { name } = useMe()
  const who = by === undefined ? "somebody" : by === name ? "you" : by
  return (
    <span className="shrink-0 text-meta text-text-3">
      changed by <bdi>{who}</bdi>
    </span>
  )
}
