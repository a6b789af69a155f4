import { describe, expect, it } from "vitest"
import { isGone, openScene, settleEvents, waitUntilGone, watchedSpawn } from "./processes.ts"

describe("a process that ends by itself", () => {
  it("[P10] exit code 0 is an orderly end, and all it wrote is read, the last line without its newline too", async () => {
    const { transport, rest } = await openScene("exit-with", { args: ["0"] })
    expect(await rest()).toEqual(['{"n":1}', '{"n":2}', '{"unterminated":1}'])
    expect(await transport.closed).toEqual({ by: "peer", reason: "exit code 0" })
  })

  it("[P10] another code is an error with the code and the end of its standard error", async () => {
    const long = `${"x".repeat(5000)} the reason é`
    const { transport, rest } = await openScene("exit-with", { args: ["3", long] })
    expect(await rest()).toHaveLength(3)
    const { by, reason, error } = await transport.closed
    expect({ by, reason }).toEqual({ by: "peer", reason: "exit code 3" })
    expect(error).toMatchObject({ code: "process/exit", details: { exitCode: 3, stderr: long } })
    expect(error?.message).toMatch(/^the process ended with exit code 3; .*the reason é$/s)
    expect(error?.message.length).toBeLessThan(2200)
    expect(transport.stderrTail()).toBe(long)
  })

  it("[P10] a signal is an error that names it", async () => {
    const { transport } = await openScene("die-by", { args: ["SIGKILL"] })
    const { by, reason, error } = await transport.closed
    expect({ by, reason }).toEqual({ by: "peer", reason: "signal SIGKILL" })
    expect(error).toMatchObject({ code: "process/signal", details: { signal: "SIGKILL", stderr: "about to die\n" } })
  })

  it("[P10] kill sends a signal and is not a close: the end is reported as the process's own", async () => {
    const { transport, next } = await openScene("stay")
    await next()
    transport.kill("SIGINT")
    expect(await transport.closed).toMatchObject({ by: "peer", reason: "signal SIGINT" })
    transport.kill("SIGINT")
  })

  it("[P11] endInput leaves the process to finish: what it writes afterwards is read", async () => {
    const { transport, next, rest } = await openScene("finish-after-input")
    await next()
    transport.endInput()
    transport.endInput()
    await expect(transport.send("{}")).rejects.toMatchObject({ code: "transport/closed" })
    expect(await rest()).toEqual(['{"last":1}', '{"last":2}'])
    expect(await transport.closed).toEqual({ by: "peer", reason: "exit code 0" })
  })

  it("[P12] a send to a process that reads no more is refused, and breaks nothing", async () => {
    const { transport, next } = await openScene("close-input")
    await next()
    for (const n of [1, 2]) {
      const refused: unknown = await transport.send(`{"n":${n}}`).catch((error: unknown) => error)
      expect(refused).toMatchObject({ code: "transport/closed", cause: { code: "EPIPE" } })
    }
    expect(isGone(transport.pid)).toBe(false)
    await transport.close("done")
    expect(await transport.closed).toEqual({ by: "us", reason: "done" })
  })

  it("[P12] sends that wait when the process dies are refused, and later ones are told why it died", async () => {
    const { transport, next } = await openScene("stay")
    await next()
    const line = JSON.stringify({ fill: "x".repeat(512 * 1024) })
    const sends = [1, 2, 3].map(() => transport.send(line).catch((error: unknown) => error))
    await settleEvents()
    transport.kill("SIGKILL")
    for (const refused of await Promise.all(sends)) expect(refused).toMatchObject({ code: "transport/closed" })
    await transport.closed
    const late = transport.send("{}")
    await expect(late).rejects.toMatchObject({ code: "transport/closed", cause: { code: "process/signal" } })
  })

  it("[P13] a grandchild that holds the output open holds up the end for a bounded time, and loses no line", async () => {
    const { transport, next, rest } = await openScene("leave-output-open", { drainMs: 50 })
    const grandchild = (await next())?.["grandchild"] ?? 0
    await transport.send('{"go":1}')
    expect(await transport.closed).toEqual({ by: "peer", reason: "exit code 0" })
    expect(await rest()).toEqual([])
    expect(isGone(grandchild)).toBe(false)
    process.kill(grandchild, "SIGKILL")
    await waitUntilGone(grandchild)
  })

  it("[P13] a grandchild that floods the output is cut off, however slow the reader", async () => {
    const { transport, next, rest } = await openScene("leave-flood", { drainMs: 60_000, highWaterChars: 1000 })
    const grandchild = (await next())?.["grandchild"] ?? 0
    await transport.send('{"go":1}')
    expect(await transport.closed).toEqual({ by: "peer", reason: "exit code 0" })
    const chars = (await rest()).reduce((sum, line) => sum + line.length, 0)
    expect(chars).toBeLessThan(9 * 1024 * 1024)
    await waitUntilGone(grandchild)
  })

  it("[P14] [T11] standard error is read to the end, a bounded tail kept, and a throwing callback harms nothing", async () => {
    const seen: string[] = []
    const stderr = (text: string) => {
      seen.push(text)
      throw new Error("a callback's own problem")
    }
    const { transport, next } = await openScene("write-stderr", { stderr })
    await next()
    const whole = Array.from({ length: 200 }, (_, n) => `${n} ${"é".repeat(1000)}\n`).join("")
    await expect.poll(() => seen.join("").length).toBe(whole.length)
    expect(seen.join("")).toBe(whole)
    expect(transport.stderrTail()).toBe(whole.slice(-64 * 1024))
    await transport.close()
  })

  it("[P15] the output is not read on while nobody takes the lines, and nothing is lost", async () => {
    const count = 100_000
    const { spawn, spawned } = watchedSpawn()
    const { transport, rest } = await openScene("many-lines", { args: [String(count)], highWaterChars: 10_000, spawn })
    await expect.poll(() => spawned()?.stdout.isPaused()).toBe(true)
    await settleEvents()
    expect(spawned()).toMatchObject({ exitCode: null })
    const lines = await rest()
    expect(lines).toHaveLength(count)
    expect(lines.at(-1)).toBe(`{"n":${count - 1},"type":"stream_event"}`)
    expect((await transport.closed).by).toBe("peer")
  })

  it("[P15] what a process left in the pipe is kept for a reader that comes after its end", async () => {
    const { transport, rest } = await openScene("many-lines", { args: ["3000"], highWaterChars: 1000 })
    expect(await transport.closed).toEqual({ by: "peer", reason: "exit code 0" })
    expect(await rest()).toHaveLength(3000)
  })
})
