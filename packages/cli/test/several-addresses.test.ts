import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { connectHub, type FollowItem, openDirect } from "@signalbox/client"
import { query } from "@signalbox/sdk"
import { describe, expect, it } from "vitest"
import { quietPort } from "../../../test/quiet-port.ts"
import { atEnd, deadAddress, exitOf, folder, ready, run, start, startHub } from "./signalbox-process.ts"

const POLL = { timeout: 60_000, interval: 100 }

const seqsOf = (items: readonly FollowItem[]) => items.flatMap((item) => (item.type === "event" ? item.seq : []))

describe("several addresses of one hub's data", () => {
  it("[HC26] [RU120] [CL120] the one that answers is used: runner, stream, calls, commands, raw connections and the SDK find the hub that took over", async () => {
    const port = await quietPort()
    const hub = await startHub("no-runner")
    const addresses = [await deadAddress(), hub.url, `http://127.0.0.1:${port}`]
    const url = addresses.join(",")
    const { token: runnerToken } = await hub.json("token", "create", "--role", "runner")
    const runner = start(["runner", "--hub", url, "--json", "--data", folder()], { SIGNALBOX_TOKEN: runnerToken })
    await ready(runner)
    const at = { url, token: hub.token }
    const client = connectHub({ ...at, reconnect: { baseDelayMs: 10, maxDelayMs: 100 } })
    atEnd(() => client.close())
    const { id } = await client.launch({ agent: "simulator", prompt: "permission please" })
    const items: FollowItem[] = []
    const following = (async () => {
      for await (const item of client.session(id).follow({ after: 0 })) items.push(item)
    })()
    const asks = () => client.asks({ state: "pending" })
    await expect.poll(async () => (await asks()).length, POLL).toBe(1)
    expect(client.address()).toBe(hub.url)

    hub.process.child.kill("SIGKILL")
    await exitOf(hub.process)
    await startHub("no-runner", { data: hub.data, port })
    const [ask] = await asks()
    expect(await client.answer(ask?.id ?? "", { behavior: "allow" })).toMatchObject({ state: "allowed" })
    expect(client.address()).toBe(addresses[2])
    const isDone = () => items.some((item) => item.type === "event" && item.message.type === "result")
    await expect.poll(isDone, POLL).toBe(true)
    expect(seqsOf(items)).toEqual(seqsOf(items).map((_, index) => index + 1))

    const env = { SIGNALBOX_URL: url, SIGNALBOX_TOKEN: hub.token }
    const listed = await run(["ls", "--json"], { env })
    expect(JSON.parse(listed.stdout).sessions[0]).toMatchObject({ id, state: "idle" })
    // Not repeatable, and all the same not lost on the address that nobody listens at.
    await connectHub(at).session(id).interrupt()
    const direct = await openDirect({ ...at, url: addresses, session: id })
    expect(direct.isConnected).toBe(true)
    direct.disconnect()
    const said: string[] = []
    const running = query({ prompt: "again", options: { hub: { ...at, url: addresses, session: id } } })
    for await (const message of running) said.push(message.type)
    expect(said.at(-1)).toBe("result")
    client.close()
    await following
  })

  it("[CL120] an address that cannot be one is named", async () => {
    const env = { SIGNALBOX_URL: "http://127.0.0.1:1,elsewhere", SIGNALBOX_TOKEN: "t" }
    const command = await run(["ls"], { env })
    expect(command.code).toBe(2)
    expect(command.stderr).toMatch(
      /^signalbox: SIGNALBOX_URL is http:\S+,elsewhere, and "elsewhere" in it is no address: set it [^\n]+\n$/,
    )
    const tokenFile = join(folder(), "token")
    writeFileSync(tokenFile, "t")
    const runner = await run(["runner", "--hub", "http://127.0.0.1:1,,http://h", "--token-file", tokenFile])
    expect(runner.code).toBe(2)
    expect(runner.stderr).toMatch(/^signalbox: --hub http:\S+,,http:\/\/h: "" must be an address such as [^\n]+\n$/)
  })
})
