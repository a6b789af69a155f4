import { describe, expect, it } from "vitest"
import type { EventQuery, HubSession } from "../src/index.ts"
import { readEvents } from "../src/index.ts"

/** A log that grows while it is read. */
function sessionOf(count: number, asked: EventQuery[]): HubSession {
  const events = async (query: EventQuery = {}) => {
    asked.push(query)
    const { after = 0, limit = 0 } = query
    const size = Math.max(0, Math.min(limit, count - after))
    return { events: Array.from({ length: size }, (_, index) => ({ seq: after + index + 1 })), more: false }
  }
  return { events } as unknown as HubSession // nothing else of it is used
}

describe("reading all of a session", () => {
  it("goes page by page up to the event that was the last, and no further", async () => {
    const asked: EventQuery[] = []
    const told: number[] = []
    const seqs: number[] = []
    for await (const { seq } of readEvents(sessionOf(2600, asked), 2500, (seq) => told.push(seq))) seqs.push(seq)
    expect(seqs).toEqual(Array.from({ length: 2500 }, (_, index) => index + 1))
    expect(asked.map(({ after }) => after)).toEqual([0, 1000, 2000])
    expect(told).toEqual([1000, 2000, 2500])
  })

  it("ends where a log ends before that", async () => {
    const seqs: number[] = []
    for await (const { seq } of readEvents(sessionOf(3, []), 10)) seqs.push(seq)
    expect(seqs).toEqual([1, 2, 3])
  })
})
