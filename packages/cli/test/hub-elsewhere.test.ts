import { describe, expect, it } from "vitest"
import { exitOf, folder, start, startHub } from "./signalbox-process.ts"

const POLL = { timeout: 60_000, interval: 100 }

describe("what goes on while a hub comes back at another port", () => {
  it("[CL35] asks --watch and log --follow find it, and tell nothing twice", async () => {
    const hub = await startHub("runner")
    const { id } = await hub.json("new", "--agent", "simulator", "--cwd", folder(), "--prompt", "permission please")
    await expect.poll(async () => (await hub.json("asks")).asks.length, POLL).toBe(1)
    const watcher = start(["asks", "--watch", "--json", "--data", hub.data])
    const follower = start(["log", id, "--follow", "--json", "--data", hub.data])
    const asks = () => watcher.lines.map((line) => JSON.parse(line).state)
    await expect.poll(asks, POLL).toEqual(["pending"])
    await expect.poll(() => follower.lines.length, POLL).toBeGreaterThan(1)
    hub.process.child.kill("SIGKILL")
    await exitOf(hub.process)
    const next = await startHub("runner", { data: hub.data })
    expect(next.url).not.toBe(hub.url)
    const { asks: open } = await next.json("asks")
    await next.json("answer", open[0].id, "allow")
    await expect.poll(asks, POLL).toEqual(["pending", "allowed"])
    const events = () => follower.lines.map((line) => JSON.parse(line))
    await expect.poll(() => events().at(-1)?.message.type, POLL).toBe("result")
    expect(events().map(({ seq }) => seq)).toEqual(events().map((_, index) => index + 1))
    for (const each of [watcher, follower]) each.child.kill("SIGINT")
    expect([await exitOf(watcher), await exitOf(follower)]).toEqual([0, 0])
    expect([watcher.said(), follower.said()]).toEqual(["", ""])
  })
})
