import { expect, it } from "vitest"
import { MessageRing } from "../../src/websocket/outgoing-lines.ts"

const message = (n: number) => JSON.stringify({ type: "assistant", n, uuid: `u${n}` })

it("[D6] the ring keeps the last 1,000 messages that have a uuid", () => {
  const ring = new MessageRing()
  for (let n = 0; n < 1500; n++) {
    ring.push(message(n))
    ring.push(`{"type":"control_request","request_id":"r${n}"}`)
  }
  expect(ring.all()).toEqual(Array.from({ length: 1000 }, (_, n) => message(n + 500)))
  expect(ring.lastUuid).toBe("u1499")
})

it("[D6] a uuid counts only at the top of a message, wherever it stands, and if it is a string", () => {
  const ring = new MessageRing()
  for (const line of ['{"a":{"uuid":"x"}}', '{"uuid":7}', '{"uuid":""}', '"uuid"', 'not json "uuid"', "null"])
    ring.push(line)
  expect(ring.all()).toEqual([])
  expect(ring.lastUuid).toBeUndefined()
  ring.push('{"z":1,"uuid":"last"}')
  expect(ring.lastUuid).toBe("last")
})

it("[D6] after a known uuid comes what was written after it; after an unknown one, everything", () => {
  const ring = new MessageRing()
  for (let n = 0; n < 5; n++) ring.push(message(n))
  expect(ring.after("u2")).toEqual([message(3), message(4)])
  expect(ring.after("u4")).toEqual([])
  expect(ring.after("other")).toHaveLength(5)
  expect(ring.after(undefined)).toHaveLength(5)
})

it("[D6] the ring is bounded in bytes too, and always keeps the newest", () => {
  const ring = new MessageRing({ maxBytes: 100 })
  for (let n = 0; n < 10; n++) ring.push(message(n))
  expect(ring.all().join("").length).toBeLessThanOrEqual(100)
  ring.push(JSON.stringify({ uuid: "big", fill: "x".repeat(500) }))
  expect(ring.all()).toHaveLength(1)
})
