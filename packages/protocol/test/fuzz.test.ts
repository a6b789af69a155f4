import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { describe, expect, it } from "vitest"
import { fuzzCases } from "../../../test/gate.ts"
import { normaliseAgentMessage, normaliseFrontendMessage } from "../src/decode.ts"
import { createLineSplitter, decode, encode, idleAgent, stepAgent } from "../src/index.ts"

/** Small and fast (mulberry32); a failure prints the seed of its case, which repeats it. */
function random(seed: number): {
  below(limit: number): number
  chance(one: number): boolean
  pick<T>(from: readonly T[]): T
} {
  let state = seed >>> 0
  function below(limit: number): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }
  return {
    below,
    chance: (one) => below(one) === 0,
    pick(from) {
      const found = from[below(from.length)]
      if (found === undefined) throw new Error("nothing to pick from")
      return found
    },
  }
}
type Random = ReturnType<typeof random>

const fixtures = join(dirname(fileURLToPath(import.meta.url)), "fixtures")
const recorded = readdirSync(fixtures, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ndjson"))
  .flatMap((file) => readFileSync(join(fixtures, file), "utf8").split("\n"))
  // Short ones: millions of cases are cut from them.
  .filter((line) => line !== "" && line.length < 300)
const corpus = [
  '{"type":"keep_alive"}',
  '{"type":"user","message":{"role":"user","content":"é€😀\\n"},"parent_tool_use_id":null,"session_id":""}',
  '{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash","tool_input":{"a":1}}}',
  '{"type":"control_response","request_id":"r","permission":{"allow":true}}',
  '{"type":"stream_event","event":"content_block_delta","data":{"index":0}}',
  '{"type":"result","is_error":false,"cost_usd":0.1}',
  '{"type":"status","text":"claude code connected"}',
  '{"type":"interrupt"}',
  ...recorded,
]

const encoder = new TextEncoder()
const HOSTILE = [
  "{",
  "}",
  "[",
  "]",
  '"',
  "\\",
  ":",
  ",",
  "\\u0000",
  "\\ud800",
  "null",
  "-",
  "1e999",
  '"type"',
  '"subtype"',
  "é",
]

/** A line that was good once: cut, doubled, filled with hostile pieces. Never holds a newline. */
function mutate(line: string, rnd: Random): string {
  let text = line
  for (let edits = 1 + rnd.below(4); edits > 0; edits--) {
    const at = rnd.below(text.length + 1)
    const to = Math.min(text.length, at + rnd.below(12))
    if (rnd.chance(3)) text = text.slice(0, at) + text.slice(to)
    else if (rnd.chance(2)) text = text.slice(0, at) + rnd.pick(HOSTILE) + text.slice(at)
    else text = text.slice(0, to) + text.slice(at)
  }
  return text
}

/** Rarely, since each costs as much as thousands of ordinary cases. */
function monstrous(rnd: Random): string {
  const depth = 1000 + rnd.below(20_000)
  const shapes = [
    () => `${'{"type":"system","subtype":'.repeat(depth)}1${"}".repeat(depth)}`,
    () => "[".repeat(depth),
    () => `{"type":"result","subtype":"success","result":"${"x".repeat(depth * 20)}"}`,
    () => `{"type":"assistant","message":${'{"content":['.repeat(depth)}`,
    () => `session${'"'.repeat(depth)}`,
  ]
  return rnd.pick(shapes)()
}

/** Cuts the bytes anywhere, also inside a character, and checks that what is held stays within the bound. */
function feed(bytes: Uint8Array, maxLineBytes: number, rnd: Random): { lines: string[]; dropped: number } {
  let dropped = 0
  const splitter = createLineSplitter({ maxLineBytes, onDropped: () => dropped++ })
  const lines: string[] = []
  const asFrames = rnd.chance(2)
  const widest = rnd.pick([1, 3, 17, 200, 5000])
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + rnd.below(widest)
    const chunk = bytes.subarray(at, at + size)
    for (const line of asFrames ? splitter.pushFrame(chunk) : splitter.push(chunk)) lines.push(line)
    if (splitter.heldBytes > maxLineBytes) throw new Error(`${splitter.heldBytes} bytes held`)
    at += size
  }
  for (const line of splitter.end()) lines.push(line)
  return { lines, dropped }
}

/** Everything a peer's line goes through before anyone trusts it. */
function readTolerantly(line: string): void {
  const decoded = decode(line)
  if (decoded.line !== line) throw new Error("the line was changed")
  if (decoded.kind === "malformed") return
  const message = { ...decoded.message }
  const agentSide = normaliseAgentMessage(message)
  normaliseFrontendMessage(message, { newRequestId: () => "id" })
  stepAgent(stepAgent(idleAgent, { from: "agent", message: agentSide }), { from: "host", message })
}

function forEachCase(run: (rnd: Random, seed: number) => void): void {
  const base = Number(process.env["SIGNALBOX_FUZZ_SEED"] ?? 20_260_101)
  for (let index = 0; index < fuzzCases; index++) {
    const seed = base + index
    try {
      run(random(seed), seed)
    } catch (error) {
      throw new Error(`case ${index} failed; SIGNALBOX_FUZZ_SEED=${seed} makes it the first`, { cause: error })
    }
  }
}

function heapAfterCollection(): number {
  setFlagsFromString("--expose-gc")
  runInNewContext("gc")()
  return process.memoryUsage().heapUsed
}

const TIMEOUT_MS = 60 * 60_000

describe("fuzz", () => {
  it("[F1] [F5] whatever the chunks and the rubbish between them, no good line is lost and memory is bounded", {
    timeout: TIMEOUT_MS,
  }, () => {
    const before = heapAfterCollection()
    forEachCase((rnd) => {
      const good = Array.from({ length: 1 + rnd.below(4) }, () => rnd.pick(corpus))
      // One more for a carriage return, which counts.
      const limit = 1 + Math.max(...good.map((line) => encoder.encode(line).length))
      const parts = good.flatMap((line) => {
        const rubbish = rnd.chance(3) ? [mutate(rnd.pick(corpus), rnd)] : []
        const tooLong = rnd.chance(8) ? ["x".repeat(limit + 1 + rnd.below(50))] : []
        return [...rubbish, ...tooLong, line]
      })
      const text = parts.map((part) => part + (rnd.chance(4) ? "\r\n" : "\n")).join("")
      const { lines } = feed(encoder.encode(text), limit, rnd)
      let from = 0
      for (const line of good) {
        const found = lines.indexOf(line, from)
        if (found === -1) throw new Error(`lost: ${line.slice(0, 100)}`)
        from = found + 1
      }
    })
    expect(heapAfterCollection() - before).toBeLessThan(64 * 1024 * 1024)
  })

  it("[M6] [L10] no line, however mutated, makes a reader throw; what parses survives decode and encode", {
    timeout: TIMEOUT_MS,
  }, () => {
    const kinds = { known: 0, unknown: 0, malformed: 0 }
    forEachCase((rnd) => {
      const line = rnd.chance(5000) ? monstrous(rnd) : mutate(rnd.pick(corpus), rnd)
      readTolerantly(line)
      const decoded = decode(line)
      kinds[decoded.kind]++
      if (decoded.kind === "malformed" || line.length > 10_000) return
      // Spelling may differ (escapes, spaces, doubled keys); the meaning may not.
      const again = decode(encode({ ...decoded.message }))
      if (again.kind !== decoded.kind) throw new Error(`${decoded.kind} became ${again.kind}: ${line}`)
    })
    // A fuzzer that only ever makes rubbish tests nothing else.
    expect(Math.min(kinds.known, kinds.unknown, kinds.malformed)).toBeGreaterThan(fuzzCases / 200)
  })
})
