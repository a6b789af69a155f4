import { textOf } from "@signalbox/protocol/envelope"
import { oneLine } from "../design/visible-characters.ts"

/** How a process ended: the reason, and its code where the reason does not tell it. */
export function exitWords(exit: Readonly<Record<string, unknown>> | undefined): string {
  const reason = oneLine(textOf(exit, "reason") ?? "its process ended", 200)
  const code = exit?.["code"]
  return typeof code !== "number" || reason.includes(`code ${code}`) ? reason : `${reason} (code ${code})`
}
