import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import fc from "fast-check"
import { describe, expect, it, vi } from "vitest"
import { createLineParser } from "../src/framing.ts"
import { createDecoder, decode, fieldOf } from "../src/index.ts"

const fixtures = join(import.meta.dirname, "fixtures")
const recorded = readdirSync(fixtures, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ndjson"))
  .flatMap((file) => readFileSync(join(fixtures, file), "utf8").split("\n"))

const delta = (fields: object, words: object = { type: "text_delta", text: "some words" }) => ({
  type: "stream_event",
  event: { type: "content_block_delta", index: 0, delta: words },
  ...fields,
})

/** What a parser makes of a line, in a form that also tells the order of the keys. */
function outcome(parse: (line: string) => unknown, line: string): string {
  try {
    return JSON.stringify(parse(line))
  } catch {
    return "throws"
  }
}

function expectSameAsJson(lines: readonly string[]): void {
  const parse = createLineParser()
  for (const line of lines) expect(outcome(parse, line), line).toBe(outcome(JSON.parse, line))
}

describe("a line parser", () => {
  it("[M13] makes of every recorded line what JSON.parse makes of it, also when all come from one peer", () => {
    expect(recorded.length).toBeGreaterThan(1000)
    expectSameAsJson(recorded)
  })

  it("[M13] a connection's decoder makes of every recorded line what decode makes of it", () => {
    const decoder = createDecoder("agent")
    for (const line of recorded) expect(JSON.stringify(decoder(line))).toBe(JSON.stringify(decode(line, "agent")))
  })

  it("[M13] makes of deltas in any order of fields, with any words, what JSON.parse makes of them", () => {
    const words = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc.string({ unit: "grapheme", maxLength: 40 }),
      fc.constant('a"b\\'),
    )
    const line = fc
      .record({
        words,
        uuid: fc.oneof(fc.uuid(), words),
        kind: fc.constantFrom("text", "thinking", "partial_json"),
        isUuidFirst: fc.boolean(),
        extra: fc.constantFrom({}, { api_message_id: "msg_1" }, { nested: { a: 1 } }, { text: "outer" }),
        cut: fc.integer({ min: 0, max: 40 }),
      })
      .map(({ words, uuid, kind, isUuidFirst, extra, cut }) => {
        const said = { type: `${kind}_delta`, [kind]: words }
        const whole = isUuidFirst ? { uuid, ...delta(extra, said) } : delta({ ...extra, uuid }, said)
        const text = JSON.stringify(whole)
        return cut === 1 ? text.slice(0, -2) : text
      })
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), (lines) => expectSameAsJson(lines)),
      { numRuns: 300 },
    )
  })

  it("[M13] is not deceived by lines made to look alike", () => {
    const head = '{"type":"stream_event","event":{"type":"content_block_delta","delta":{"text":"'
    expectSameAsJson([
      `${head}a"}},"uuid":"1"}`,
      `${head}b"}},"uuid":"2"}`,
      `${head}b\t"}},"uuid":"2"}`,
      `${head}b"}},"uuid":"2","uuid":"3"}`,
      `${head}b\\"}},"uuid":"2"}`,
      `${head}b\\"}},"uuid":"2"}"}},"uuid":"2"}`,
      `${head}"}},"uuid":""}`,
      `${head}"}},"uuid":"}`,
      `${head}a"}},"uuid":"1"} `,
      `${head}b","text":"a"}},"uuid":"1"}`,
      `${head}c","text":"a"}},"uuid":"1"}`,
      `${head}a"},"__proto__":{"x":1}},"uuid":"1"}`,
    ])
    // Twice the same name: the last one counts, and the first is what a hasty reader finds.
    const twice = (first: string) => `${head}${first}","text":"last"}},"uuid":"1"}`
    expectSameAsJson(Array.from({ length: 20 }, (_, n) => twice(`first ${n}`)))
    const proto = (said: string) =>
      `{"type":"stream_event","__proto__":1,"event":{"type":"content_block_delta","delta":{"text":"${said}"}},"uuid":"1"}`
    expectSameAsJson(["a", "b", "c"].map(proto))
  })

  it("[M13] gives each message its own parts: what a program does to one shows in no other", () => {
    const parse = createLineParser()
    const line = JSON.stringify(delta({ uuid: "1" }))
    const seen = Array.from({ length: 5 }, () => parse(line))
    for (const message of seen) {
      for (const part of [message, fieldOf(message, "event"), fieldOf(fieldOf(message, "event"), "delta")])
        Object.assign(part ?? {}, { type: "changed", text: "changed", uuid: "changed" })
    }
    expect(JSON.stringify(seen)).not.toContain("some words")
    expect(JSON.stringify(parse(line))).toBe(line)
  })

  it("[M13] asks JSON.parse only where a line differs in more than its words and its uuid", () => {
    const lines = Array.from({ length: 100 }, (_, n) =>
      JSON.stringify(delta({ uuid: `id ${n}` }, { type: "text_delta", text: `word ${n}` })),
    )
    const parse = createLineParser()
    const spy = vi.spyOn(JSON, "parse")
    for (const line of lines) parse(line)
    const calls = spy.mock.calls.length
    spy.mockRestore()
    // One to read it, one to prove what was learned.
    expect(calls).toBe(2)
  })

  it("[M13] learns a new form when the old one is over, and goes on after lines that are no JSON", () => {
    const lines = [1, 2, 3].flatMap((index) =>
      Array.from({ length: 30 }, (_, n) => JSON.stringify({ ...delta({ uuid: `${n}` }), index })),
    )
    expectSameAsJson(lines.flatMap((line) => [line, "no JSON", "5", "null"]))
  })

  it("[M13] what is kept of a message keeps nothing of the chunk it came in", () => {
    setFlagsFromString("--expose-gc")
    const collect: () => void = runInNewContext("gc")
    const parse = createLineParser()
    const kept: unknown[] = []
    const line = JSON.stringify(delta({ uuid: "5da190ec-1131-4fb1-b329-0b0f248ba63b" }))
    collect()
    const before = process.memoryUsage().heapUsed
    for (let n = 0; n < 200; n++) {
      const chunk = Buffer.from(`${line}\n${"x".repeat(256 * 1024)}`).toString()
      kept.push(parse(chunk.slice(0, chunk.indexOf("\n"))))
    }
    collect()
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(10 * 1024 * 1024)
    expect(kept).toHaveLength(200)
  })
})
