import { expect, it } from "vitest"
import { Transcript, waitedForPeople } from "../src/index.ts"
import { SessionLog } from "./session-log.ts"

const START = Date.UTC(2026, 0, 1)

function asking(log: SessionLog, id: string): SessionLog {
  const request = { subtype: "can_use_tool", tool_name: "Bash", input: {}, tool_use_id: id }
  return log.add({ type: "control_request", request_id: `r-${id}`, request })
}

function answering(log: SessionLog, id: string): SessionLog {
  const response = { subtype: "success", request_id: `r-${id}`, response: { behavior: "allow" } }
  return log.add({ type: "control_response", response }, { from: "client", by: "ann" })
}

it("[TR28] [X-123] the time of a turn is the agent's: the time that people took to answer is not part of it", () => {
  // An event is said each second.
  const log = new SessionLog()
    .prompt("go")
    .init()
    .call("m", { id: "t1", name: "Bash" })
    .call("m", { id: "t2", name: "Bash" })
  asking(log, "t1") // 5
  asking(log, "t2") // 6
  answering(log, "t1") // 7
  answering(log, "t2") // 8
  log.result("t1", "ok").result("t2", "ok")
  log.add({ type: "result", subtype: "success", is_error: false, duration_ms: 10_000 })
  const transcript = new Transcript()
  transcript.fold(log.events)
  const rows = transcript.rows()
  // From the first question to the last answer: what was open at once counts once.
  expect(waitedForPeople(rows, { from: START, to: START + 60_000 })).toBe(3_000)
  expect(rows.at(-1)).toMatchObject({ kind: "result", durationMs: 7_000 })
})

it("[TR28] a request that is open counts until now, and nothing before the turn counts", () => {
  const log = asking(new SessionLog().prompt("go").init().call("m", { id: "t1", name: "Bash" }), "t1")
  const transcript = new Transcript()
  transcript.fold(log.events)
  expect(waitedForPeople(transcript.rows(), { from: START, to: START + 10_000 })).toBe(6_000)
  expect(waitedForPeople(transcript.rows(), { from: START + 8_000, to: START + 10_000 })).toBe(2_000)
})
