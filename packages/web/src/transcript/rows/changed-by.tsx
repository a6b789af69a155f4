import { useWho } from "../../app/use-who.ts"

/** Beside what ran: that it is not what was asked for, and whose doing that is. */
export function ChangedBy({ by }: { readonly by: string | undefined }) {
  const who = useWho()
  return (
    <span className="shrink-0 text-meta text-text-3">
      changed by <bdi>{by === undefined ? "somebody" : who(by)}</bdi>
    </span>
  )
}
