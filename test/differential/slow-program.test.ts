import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { beforeAll, describe, expect, it } from "vitest"
import { streamedMessages } from "../gate.ts"
import { buildRooms } from "./packages.ts"

const reader = fileURLToPath(new URL("../../bench/stream-reader.mjs", import.meta.url))
const MEGABYTE = 1024 * 1024

// The benchmark's own reader runs what is built.
beforeAll(buildRooms, 300_000)

describe("a program that is slower than its agent", () => {
  it(`[Q31] reads ${streamedMessages} messages, and memory stays where it was`, { timeout: 300_000 }, async () => {
    const entry = import.meta.resolve("../../packages/sdk/dist/index.js")
    const { stdout } = await promisify(execFile)(process.execPath, [reader, entry, String(streamedMessages), "slow"])
    // It fails by itself when a message is missing; these are the sizes of its process, in bytes, on the way.
    const { memory }: { memory: number[] } = JSON.parse(stdout)
    expect(memory.length).toBeGreaterThanOrEqual(streamedMessages / 10_000)
    const early = Math.max(...memory.slice(0, memory.length / 10))
    // All of them unread would be over 250 bytes each: more than 200 MB of a million.
    expect(Math.max(...memory) - early).toBeLessThan(60 * MEGABYTE)
  })
})
