import type { Session } from "@signalbox/client"
import { oneLine } from "../design/visible-characters.ts"
import { shortPath } from "../design/words.ts"
import { useMachineHome } from "./machine-store.tsx"

interface FolderNameProps {
  readonly session: Pick<Session, "runner" | "cwd">
  /** So many parts of the path, counted from its end. */
  readonly parts: number
}

/** The folder that a session's agent works in, as people write it on that machine. */
export function FolderName({ session: { runner, cwd }, parts }: FolderNameProps) {
  const home = useMachineHome(runner)
  return <bdi dir="ltr">{cwd === null ? "" : oneLine(shortPath(abbreviateHome(cwd, home), parts), 60)}</bdi>
}

export function abbreviateHome(path: string, home: string | undefined): string {
  const base = home?.replace(/\/$/, "") ?? ""
  if (base === "") return path
  if (path === base) return "~"
  return path.startsWith(`${base}/`) ? `~${path.slice(base.length)}` : path
}
