import { Waker } from "@signalbox/transport/pacing"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { MessageQueue } from "../src/engine/message-queue.ts"
import { ReadAhead } from "../src/engine/read-ahead.ts"
import type { SDKMessage } from "../src/index.ts"
import { system } from "./fake-agent.ts"

const MEBI = 1024 * 1024

// Some message: what it is does not matter here.
function message(): SDKMessage
function message(): unknown {
  return system("init")
}

function set({ chars, mustReadOn = () => false }: { chars: number; mustReadOn?: () => boolean }) {
  const change = new Waker()
  const messages = new MessageQueue(() => change.wake())
  const ahead = new ReadAhead({ messages, change, mustReadOn })
  // One is with the reader, the next one waits.
  messages.push([message(), message()], 1)
  void messages.next()
  messages.push([message(), message()], chars)
  const isRoom = { now: false }
  const waiting = (async () => {
    await ahead.room()
    isRoom.now = true
  })()
  return { messages, ahead, isRoom, waiting }
}

describe("reading ahead of the program", () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it("[Q31] waits for a program that reads, however slowly", async () => {
    const { messages, ahead, isRoom, waiting } = set({ chars: MEBI })
    await vi.advanceTimersByTimeAsync(90)
    // Between two looks at it the program has taken one: it does not stand still.
    void messages.next()
    await vi.advanceTimersByTimeAsync(90)
    expect(isRoom.now).toBe(false)
    // The next one is out of what made it full.
    void messages.next()
    await waiting
    expect(ahead.mustWait).toBe(false)
  })

  it("[Q34] reads on for a program that has asked for nothing in a while, until it reads again", async () => {
    const { messages, ahead, isRoom, waiting } = set({ chars: MEBI })
    expect(isRoom.now).toBe(false)
    await vi.advanceTimersByTimeAsync(110)
    await waiting
    messages.push([message()], 30 * MEBI)
    expect(ahead.mustWait).toBe(false)
    void messages.next()
    expect(ahead.mustWait).toBe(true)
  })

  it("[Q34] past 64 Mi characters waits for the program, whatever that waits for", async () => {
    const { messages, isRoom, waiting } = set({ chars: 65 * MEBI })
    await vi.advanceTimersByTimeAsync(60_000)
    expect(isRoom.now).toBe(false)
    expect(vi.getTimerCount()).toBeLessThanOrEqual(1)
    void messages.next()
    void messages.next()
    await waiting
    expect(isRoom.now).toBe(true)
  })

  it("[Q32] never waits where the answer to a call of ours is further on", () => {
    const { ahead } = set({ chars: 65 * MEBI, mustReadOn: () => true })
    expect(ahead.mustWait).toBe(false)
  })
})
