import { type ConnectOptions, connectHub, type FollowItem, type Hub } from "@signalbox/client"
import { afterEach, beforeEach } from "vitest"
import { FakeHub, TOKEN } from "./fake-hub.ts"

export interface Setup {
  readonly fake: FakeHub
  connect(options?: Partial<ConnectOptions>): Hub
}

/** A fresh hub for each test, and clients that are closed after it. */
export function setUp(): Setup {
  let fake = new FakeHub()
  let hubs: Hub[] = []
  beforeEach(async () => {
    fake = new FakeHub()
    hubs = []
    await fake.start()
  })
  afterEach(async () => {
    for (const hub of hubs) hub.close()
    await fake.stop()
  })
  return {
    get fake() {
      return fake
    },
    connect(options = {}) {
      const reconnect = { baseDelayMs: 1, maxDelayMs: 5 }
      const hub = connectHub({ url: fake.url, token: TOKEN, reconnect, ...options })
      hubs.push(hub)
      return hub
    },
  }
}

type Items = AsyncIterableIterator<FollowItem, undefined>

/** Reads until the item that fits, and returns all of them. */
export async function readUntil(items: Items, isLast: (item: FollowItem) => boolean): Promise<FollowItem[]> {
  const read: FollowItem[] = []
  for (let next = await items.next(); next.done !== true; next = await items.next()) {
    read.push(next.value)
    if (isLast(next.value)) return read
  }
  throw new Error(`ended after ${JSON.stringify(read)}`)
}

export const isEvent = (seq: number) => (item: FollowItem) => item.type === "event" && item.seq === seq
export const isType = (type: FollowItem["type"]) => (item: FollowItem) => item.type === type
export const seqsOf = (items: readonly FollowItem[]) => items.flatMap((item) => (item.type === "event" ? item.seq : []))
export const oneTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)
