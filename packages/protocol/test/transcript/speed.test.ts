import { describe, expect, it } from "vitest"
import { Transcript, type TranscriptEvent } from "../../src/transcript/index.ts"
import { SessionLog } from "./session-log.ts"

const EVENTS = 100_000

function longLog(): readonly TranscriptEvent[] {
  const log = new SessionLog()
  while (log.events.length < EVENTS) {
    const n = log.events.length
    log.prompt("do it").init()
    for (let step = 0; step < 5; step++) {
      const id = `t${n}.${step}`
      log.text(`m${n}.${step}`, "hello world")
      log
        .call(`m${n}.${step}`, { id, name: step % 2 === 0 ? "Bash" : "Read", input: { file_path: "x" } })
        .result(id, "ok")
    }
    log.ends({ result: "hello world" })
  }
  return log.events
}

function timeOf(work: () => void): number {
  const start = performance.now()
  work()
  return performance.now() - start
}

function best(times: number, work: () => void): number {
  return Math.min(...Array.from({ length: times }, () => timeOf(work)))
}

describe("the speed of the transcript", { timeout: 300_000 }, () => {
  const events = longLog()

  it("[TR16] folding 100,000 events takes no more than 6 times as long as reading them", () => {
    const lines = events.map((event) => JSON.stringify(event))
    const reading = best(3, () => lines.forEach((line) => JSON.parse(line)))
    const folding = best(3, () => {
      const transcript = new Transcript()
      transcript.fold(events)
      transcript.rows()
    })
    expect(folding / reading).toBeLessThan(6)
  })

  it("[TR16] one more event costs next to nothing of what the log before it cost", () => {
    const transcript = new Transcript()
    const folding = timeOf(() => {
      transcript.fold(events)
      transcript.rows()
    })
    let seq = events.length
    const adding = best(20, () => {
      const message = { type: "assistant", message: { id: `x${seq}`, content: [{ type: "text", text: "more" }] } }
      transcript.fold([{ seq: ++seq, at: "2026-01-01T00:00:00.000Z", from: "agent", message }])
      transcript.rows()
    })
    expect(adding / folding).toBeLessThan(1 / 50)
  })
})
