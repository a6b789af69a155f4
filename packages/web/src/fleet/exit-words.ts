import { textOf } from "@signalbox/protocol/envelope"
import { oneLine } from "../design/visible-characters.ts"

/** How a process ended: the reason, and its code or its signal where the reason does not tell it. */
export function exitWords(exit: Readonly<Record<string, unknown>> | undefined): string {
  const reason = oneLine(textOf(exit, "reason") ?? "its process ended", 200)
  const code = exit?.["code"]
  const signal = textOf(exit, "signal")
  const how = typeof code === "number" ? `code ${code}` : signal === undefined ? "" : oneLine(signal, 20)
  return reason.includes(how) ? reason : `${reason} (${how})`
}
