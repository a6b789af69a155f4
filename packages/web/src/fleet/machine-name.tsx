import type { Session } from "@signalbox/client"
import { useMachineName } from "./machine-store.tsx"

/** The machine that a session's agent is on, as people call it. */
export function MachineName({ session }: { readonly session: Pick<Session, "runner"> }) {
  return <bdi>{useMachineName(session.runner)}</bdi>
}
