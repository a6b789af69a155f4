import { beforeAll, describe, expect, it, vi } from "vitest"
import type { HubStore } from "../../src/app/hub-store.ts"
import { askOf } from "../asks/ask-fixture.ts"

let makeStore: () => HubStore
const page = Object.assign(new EventTarget(), { visibilityState: "hidden" })

beforeAll(async () => {
  vi.stubGlobal("document", page)
  vi.stubGlobal("requestAnimationFrame", () => 0)
  vi.stubGlobal("addEventListener", page.addEventListener.bind(page))
  const { HubStore: Store } = await import("../../src/app/hub-store.ts")
  makeStore = () => new Store("http://hub.invalid")
  return () => vi.unstubAllGlobals()
})

const pending = askOf({ state: "pending", expiresAt: "2031-01-01T12:05:00Z" })
const settled = askOf({ state: "allowed" })

const stateIn = (store: HubStore) => store.fleet.get().asks.get(pending.id)?.state

async function shown(store: HubStore, state: string): Promise<void> {
  await expect.poll(() => stateIn(store)).toBe(state)
}

describe("what is known of an ask", () => {
  it("is its outcome, whatever reply comes in after that", async () => {
    const store = makeStore()
    store.takeAsk(pending)
    await shown(store, "pending")
    store.takeAsk(settled)
    await shown(store, "allowed")
    store.takeAsk(pending)
    store.takeAsk(askOf({ id: "a2" }))
    await expect.poll(() => store.fleet.get().asks.has("a2")).toBe(true)
    expect(stateIn(store)).toBe("allowed")
  })

  it("… also when both come in at once", async () => {
    const store = makeStore()
    for (const ask of [pending, settled, pending]) store.takeAsk(ask)
    await shown(store, "allowed")
  })

  it("includes its input, which the stream tells once when it is long", async () => {
    const store = makeStore()
    const input = { content: "long" }
    store.takeAsk({ ...pending, input, request: { tool_name: "Write", input } })
    const { input: _told, ...brief } = settled
    store.takeAsk({ ...brief, request: { tool_name: "Write" } })
    await shown(store, "allowed")
    const known = store.fleet.get().asks.get(pending.id)
    expect([known?.input, known?.request]).toEqual([input, { tool_name: "Write", input }])
  })

  it("[K-13] … also when the tab is hidden before the next frame, which no browser draws then", () => {
    page.visibilityState = "visible"
    const store = makeStore()
    store.takeAsk(pending)
    expect(stateIn(store)).toBeUndefined()
    page.visibilityState = "hidden"
    page.dispatchEvent(new Event("visibilitychange"))
    expect(stateIn(store)).toBe("pending")
  })
})
