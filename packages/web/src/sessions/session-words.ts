import type { Session } from "@signalbox/client"
import { oneLine } from "../design/visible-characters.ts"
import { shortPath } from "../design/words.ts"

/** A session by a name, also when nobody gave it one. */
export function titleOf({ title, cwd, id }: Pick<Session, "title" | "cwd" | "id">): string {
  const named = title === null ? "" : oneLine(title, 200)
  if (named !== "") return named
  return cwd === null ? `Session ${id.slice(0, 8)}` : `Session in ${shortPath(cwd, 1)}`
}
