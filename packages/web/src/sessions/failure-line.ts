import { failureAdvice, type Session } from "@signalbox/client"
import { textOf } from "@signalbox/protocol/envelope"
import { oneLine } from "../design/visible-characters.ts"
import { exitWords } from "../fleet/exit-words.ts"
import { plainLine } from "./plain-line.ts"

const RESULTS: ReadonlyMap<string, string> = new Map([
  ["error_max_turns", "It reached its limit of turns"],
  ["error_max_budget_usd", "It reached its budget"],
  ["error_max_structured_output_retries", "Its answer did not come in the wanted form"],
])

/** Why a session failed, in one line. */
export function failureLine(session: Session): string {
  const { exit, lastResult, lastLine, state } = session
  const advice = failureAdvice(session)
  if (advice !== undefined) return advice
  const code = exit?.["code"]
  if (state === "ended" && typeof code === "number" && code !== 0) return exitWords(exit)
  const known = RESULTS.get(textOf(lastResult, "subtype") ?? "")
  // What went wrong is what it said last.
  return known ?? oneLine(plainLine(lastLine ?? "") || "The turn failed", 200)
}
