import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { NewEvent } from "../../src/model/event.ts"

const FIXTURE = new URL("../../../protocol/test/fixtures/2.1.325/three-turns.stdio.ndjson", import.meta.url)
const ID = /"uuid":"[^"]+"/g

/** Three turns as the real CLI said them, again and again: each message has an id of its own, as it had then. */
export function recordedTurns(repetitions: number): NewEvent[] {
  const lines = readFileSync(fileURLToPath(FIXTURE), "utf8").trim().split("\n")
  const events = lines.filter((line) => !line.startsWith('{"type":"control_response"'))
  return Array.from({ length: repetitions }, (_, round) =>
    events.map((line, index): NewEvent => {
      const key = randomUUID()
      const at = 1_700_000_000_000 + round * 10_000 + index
      return { at, from: "agent", key, line: line.replace(ID, `"uuid":"${key}"`) }
    }),
  ).flat()
}
