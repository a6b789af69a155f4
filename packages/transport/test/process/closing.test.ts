import { spawn } from "node:child_process"
import { describe, expect, it } from "vitest"
import { openChildProcess } from "../../src/process/child-process.ts"
import type { SpawnRequest } from "../../src/process/spawned-process.ts"
import { isGone, openScene, watchedSpawn } from "./processes.ts"

describe("closing a process", () => {
  it("[P16] close ends its input first: with grace it ends by itself, and its last lines are read", async () => {
    const { transport, next, rest } = await openScene("finish-after-input", { graceMs: 30_000 })
    await next()
    await transport.close("enough")
    expect(await transport.closed).toEqual({ by: "us", reason: "enough" })
    expect(await rest()).toEqual(['{"last":1}', '{"last":2}'])
    expect(isGone(transport.pid)).toBe(true)
  })

  it("[P16] without grace TERM follows at once, and close resolves when the process is gone", async () => {
    const { transport, next } = await openScene("stay")
    await next()
    await transport.close()
    expect(isGone(transport.pid)).toBe(true)
    expect(await transport.closed).toEqual({ by: "us", reason: "closed" })
  })

  it("[P16] a process that ignores TERM is killed", async () => {
    const { transport, next, rest } = await openScene("ignore-term", { killAfterMs: 50 })
    await next()
    await transport.close("stop")
    expect(isGone(transport.pid)).toBe(true)
    // On a busy machine it may be killed before it came to write this.
    expect([[], ['{"term":1}']]).toContainEqual(await rest())
    expect(await transport.closed).toEqual({ by: "us", reason: "stop" })
  })

  it("[P17] what the process started dies with it", async () => {
    const { transport, next } = await openScene("grandchild")
    const grandchild = (await next())?.["grandchild"]
    expect(isGone(grandchild)).toBe(false)
    await transport.close()
    expect([isGone(transport.pid), isGone(grandchild)]).toEqual([true, true])
  })

  it("[P17] a grandchild that ignores TERM is killed although the process itself went at once", async () => {
    const { transport, next } = await openScene("stubborn-grandchild", { killAfterMs: 100 })
    const grandchild = (await next())?.["grandchild"]
    await transport.close()
    expect([isGone(transport.pid), isGone(grandchild)]).toEqual([true, true])
  })

  it("[P18] close settles when nobody reads and the process is blocked in its output", async () => {
    const { spawn, spawned } = watchedSpawn()
    const { transport } = await openScene("many-lines", { args: ["1000000"], highWaterChars: 1000, spawn })
    await expect.poll(() => spawned()?.stdout.isPaused()).toBe(true)
    await transport.close("unread")
    expect(await transport.closed).toEqual({ by: "us", reason: "unread" })
    expect(isGone(transport.pid)).toBe(true)
  })

  it("[P19] an abort is a close, and after the end it is nothing", async () => {
    const aborting = new AbortController()
    const { transport, next } = await openScene("stay", { signal: aborting.signal })
    await next()
    aborting.abort()
    expect(await transport.closed).toEqual({ by: "us", reason: "aborted" })
    expect(isGone(transport.pid)).toBe(true)
  })

  it("[P19] what is aborted beforehand is not started", async () => {
    const spawned: SpawnRequest[] = []
    const spawnNothing = (request: SpawnRequest) => {
      spawned.push(request)
      throw new Error("must not be reached")
    }
    const opening = openChildProcess({ command: "claude", signal: AbortSignal.abort("why"), spawn: spawnNothing })
    await expect(opening).rejects.toMatchObject({ code: "transport/closed", cause: "why" })
    expect(spawned).toEqual([])
  })

  it("[P20] a process of another maker is driven through its own methods, and its abort is ours", async () => {
    const aborting = new AbortController()
    const requests: SpawnRequest[] = []
    const transport = await openChildProcess({
      command: process.execPath,
      args: ["-e", 'console.log("{}"); setTimeout(() => undefined, 120_000)'],
      env: { A: "1" },
      signal: aborting.signal,
      spawn: (request) => {
        requests.push(request)
        return spawn(request.command, request.args, { env: request.env, signal: request.signal })
      },
    })
    expect(requests).toMatchObject([{ command: process.execPath, env: { A: "1" } }])
    for await (const line of transport.lines) {
      expect(line).toBe("{}")
      break
    }
    aborting.abort()
    expect(await transport.closed).toEqual({ by: "us", reason: "aborted" })
    await expect.poll(() => isGone(transport.pid)).toBe(true)
  })

  it("[P22] a standard output that fails ends the connection with its cause, and the process", async () => {
    const { spawn: start, spawned } = watchedSpawn()
    const { transport, next } = await openScene("stay", { spawn: start })
    await next()
    spawned()?.stdout.destroy(new Error("the wire was cut"))
    const { by, error } = await transport.closed
    expect(by).toBe("peer")
    expect(error).toMatchObject({ code: "transport/broken", details: { kind: "unreadable" } })
    expect(error?.message).toMatch(/^the output of the process could not be read: the wire was cut/)
    await expect.poll(() => isGone(transport.pid)).toBe(true)
  })
})
