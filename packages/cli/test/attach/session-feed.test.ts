import { connectHub, type Hub } from "@signalbox/client"
import { describe, expect, it } from "vitest"
import { SessionFeed } from "../../src/attach/session-feed.ts"
import { exitCodeOf } from "../../src/base/failure.ts"
import { whereHubIs } from "../../src/hub/connect.ts"
import { atEnd, exitOf, startHub, type TestHub } from "../signalbox-process.ts"

const POLL = { timeout: 60_000, interval: 50 }

/** As `attach` has it, without the screen. */
async function watching(hub: Hub, id: string): Promise<{ feed: SessionFeed; following: Promise<void> }> {
  atEnd(() => hub.close())
  const feed = new SessionFeed(hub, await hub.session(id).get(), (words) => `signalbox ${words}`)
  atEnd(() => feed.close())
  const following = feed.run()
  await expect.poll(() => feed.state().isLoading, POLL).toBe(false)
  return { feed, following }
}

async function newSession(hub: TestHub): Promise<string> {
  return (await hub.call("POST", "/api/sessions", { agent: "external" })).id
}

const RECONNECT = { baseDelayMs: 50, maxDelayMs: 200 }

describe("what a view of a session is fed", () => {
  it("[AT9] what was told goes with the next thing that is done, and when the connection is back", async () => {
    const started = await startHub("no-runner")
    const id = await newSession(started)
    const { stdin, stdout, stderr } = process
    const context = { env: {}, stdin, stdout, stderr }
    const where = whereHubIs({ data: started.data }, context)
    const { feed } = await watching(connectHub({ ...where, reconnect: RECONNECT }), id)
    feed.tell("Mode: acceptEdits")
    expect(feed.state().notice).toBe("Mode: acceptEdits")
    expect(await feed.send("hello")).toBe(true)
    expect(feed.state().notice).toBeUndefined()
    started.process.child.kill("SIGKILL")
    await exitOf(started.process)
    await expect.poll(() => feed.state().lostAt, POLL).toBeDefined()
    expect(await feed.send("are you there?")).toBe(false)
    expect(feed.state().notice).toMatch(/./)
    await startHub("no-runner", { data: started.data })
    await expect.poll(() => feed.state().lostAt, POLL).toBeUndefined()
    expect(feed.state().notice).toBeUndefined()
  })

  it("[AT9] [CL11] one whose token is revoked is cut off as not allowed", async () => {
    const started = await startHub("no-runner")
    const id = await newSession(started)
    const { id: tokenId, token } = await started.json("token", "create", "--role", "operator")
    const { feed, following } = await watching(connectHub({ url: started.url, token, reconnect: RECONNECT }), id)
    expect((await started.run(["token", "revoke", tokenId])).code).toBe(0)
    await following
    expect(feed.state().ending).toMatch(/./)
    expect(exitCodeOf(feed.failure)).toBe(4)
  })
})
