import { afterEach, describe, expect, it, vi } from "vitest"
import { createPendingRequests } from "../src/index.ts"

describe("correlation", () => {
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })

  it("[C1] a request settles with its own answer", async () => {
    const pending = createPendingRequests<string>()
    const [a, b] = [pending.wait("a"), pending.wait("b")]
    expect(pending.answer("b", "for b")).toBe("settled")
    expect(pending.answer("a", "for a")).toBe("settled")
    expect(await Promise.all([a, b])).toEqual(["for a", "for b"])
    for (const id of ["a", "b"]) expect(pending.answer(id, "again")).toBe("ignored")
  })

  it("[C2] the first answer wins and later ones are ignored", async () => {
    const pending = createPendingRequests<string>()
    const waiting = pending.wait("a")
    expect(pending.answer("a", "first")).toBe("settled")
    expect(pending.answer("a", "second")).toBe("ignored")
    expect(await waiting).toBe("first")
  })

  it("[C3] an answer that comes before anyone waits is kept, once", async () => {
    const pending = createPendingRequests<string>()
    expect(pending.answer("a", "early")).toBe("kept")
    expect(pending.answer("a", "again")).toBe("ignored")
    expect(await pending.wait("a")).toBe("early")
    expect(pending.answer("a", "late")).toBe("ignored")
  })

  it("[C3] early answers are bounded: the oldest is forgotten", async () => {
    const pending = createPendingRequests<number>({ memory: 3 })
    for (let n = 0; n < 1000; n++) pending.answer(`id-${n}`, n)
    expect(await pending.wait("id-999")).toBe(999)
    const forgotten = pending.wait("id-0")
    pending.close("test over")
    await expect(forgotten).rejects.toMatchObject({ code: "request/closed" })
  })

  it("[C4] a time-out rejects with request/timeout, and the late answer is ignored", async () => {
    vi.useFakeTimers()
    const pending = createPendingRequests<string>()
    const waiting = pending.wait("a", { timeoutMs: 5000 })
    vi.advanceTimersByTime(5000)
    await expect(waiting).rejects.toMatchObject({ code: "request/timeout", details: { timeoutMs: 5000 } })
    expect(pending.answer("a", "late")).toBe("ignored")
  })

  it("[C4] there is no time-out unless one is given, and its timer goes when the answer comes", async () => {
    vi.useFakeTimers()
    const pending = createPendingRequests<string>()
    const patient = pending.wait("patient")
    expect(vi.getTimerCount()).toBe(0)
    const timed = pending.wait("timed", { timeoutMs: 1 })
    pending.answer("timed", "ok")
    pending.answer("patient", "ok")
    await Promise.all([patient, timed])
    expect(vi.getTimerCount()).toBe(0)
  })

  it("[C4] a time-out longer than a timer can run does not fire at once, and an endless one never does", async () => {
    const set = vi.spyOn(globalThis, "setTimeout")
    const pending = createPendingRequests<string>()
    const waits = [
      pending.wait("long", { timeoutMs: 30 * 86_400_000 }),
      pending.wait("endless", { timeoutMs: Infinity }),
    ]
    expect(set.mock.calls.map(([, ms]) => ms)).toEqual([2 ** 31 - 1])
    for (const id of ["long", "endless"]) pending.answer(id, "ok")
    await Promise.all(waits)
  })

  it("[C3] an answer without a value is an answer too", async () => {
    const pending = createPendingRequests<undefined>()
    pending.answer("a", undefined)
    expect(await pending.wait("a")).toBeUndefined()
  })

  it("[C5] an abort rejects with request/aborted and takes its listener away", async () => {
    const pending = createPendingRequests<string>()
    const controller = new AbortController()
    const removed = vi.spyOn(controller.signal, "removeEventListener")
    const waiting = pending.wait("a", { signal: controller.signal })
    controller.abort(new Error("no longer needed"))
    await expect(waiting).rejects.toMatchObject({ code: "request/aborted", cause: new Error("no longer needed") })
    expect(removed).toHaveBeenCalled()
    await expect(pending.wait("b", { signal: controller.signal })).rejects.toMatchObject({ code: "request/aborted" })
  })

  it("[C6] the end of the connection settles everything, now and later", async () => {
    const pending = createPendingRequests<string>()
    const waiting = [pending.wait("a"), pending.wait("b")]
    pending.answer("kept", "still here")
    pending.close("the agent exited", new Error("exit 1"))
    for (const request of waiting) await expect(request).rejects.toMatchObject({ code: "request/closed" })
    await expect(pending.wait("later")).rejects.toMatchObject({ code: "request/closed" })
    expect(await pending.wait("kept")).toBe("still here")
    expect(pending.answer("x", "y")).toBe("ignored")
  })

  it("[C7] an id is waited for once at a time", async () => {
    const pending = createPendingRequests<string>()
    const first = pending.wait("a")
    await expect(pending.wait("a")).rejects.toMatchObject({ code: "request/duplicate" })
    pending.answer("a", "ok")
    expect(await first).toBe("ok")
  })
})
