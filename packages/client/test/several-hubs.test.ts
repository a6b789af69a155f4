import { describe, expect, it, onTestFinished } from "vitest"
import { FakeHub, refused } from "./fake-hub.ts"
import { isEvent, readUntil, seqsOf, setUp } from "./setup.ts"

const setup = setUp()

/** The hub of the set-up first, then another one. */
async function two() {
  const first = setup.fake
  const second = new FakeHub()
  await second.start()
  onTestFinished(() => second.stop())
  return { first, second, hub: setup.connect({ url: [first.url, second.url] }) }
}

const count = ({ calls }: FakeHub) => calls.length

describe("a client that knows several hubs", () => {
  it("[HC26] asks the next one at once when one is gone or says 503, and stays there", async () => {
    const { first, second, hub } = await two()
    first.route("GET /api/me", () => refused(503, "hub/busy", "later", { retryAfterSeconds: 10 }))
    second.route("GET /api/me", () => ({ body: { role: "viewer", name: "second" } }))
    expect([await hub.me(), await hub.me()]).toMatchObject([{ name: "second" }, { name: "second" }])
    expect([count(first), count(second)]).toEqual([1, 2])
    await second.stop()
    first.route("GET /api/me", () => ({ body: { role: "viewer", name: "first" } }))
    expect(await hub.me()).toMatchObject({ name: "first" })
  })

  it("[HC26] does nothing twice: a call that may not be repeated goes on only if nobody heard of it", async () => {
    const { first, second, hub } = await two()
    const session = hub.session("s")
    first.route("POST /api/sessions/s/interrupt", () => undefined)
    second.route("POST /api/sessions/s/interrupt", () => ({ body: {} }))
    await expect(session.interrupt()).rejects.toMatchObject({ code: "client/unreachable" })
    expect(count(second)).toBe(0)
    // The connection was cut, so the second hub is in use now. Nobody listens there: it cannot have been done there.
    await second.stop()
    first.route("POST /api/sessions/s/interrupt", () => ({ body: {} }))
    await session.interrupt()
    expect(count(first)).toBe(2)
  })

  it("[HC26] does nothing twice: messages and answers carry the same id to the next hub", async () => {
    const { first, second, hub } = await two()
    for (const fake of [first, second]) {
      fake.route("POST /api/sessions/s/messages", ({ body }) =>
        fake === first ? undefined : { status: 202, body: { uuid: body["uuid"], seq: 1 } },
      )
    }
    await hub.session("s").send("hi")
    expect(second.calls[0]?.body["uuid"]).toBe(first.calls[0]?.body["uuid"])
    expect([count(first), count(second)]).toEqual([1, 1])
  })

  it("[HC26] follows on at the next hub from its cursor", async () => {
    const { first, second, hub } = await two()
    first.append("s", 2)
    second.append("s", 3)
    const items = hub.session("s").follow({ after: 0 })
    const before = await readUntil(items, isEvent(2))
    await first.stop()
    const after = await readUntil(items, isEvent(3))
    expect(seqsOf([...before, ...after])).toEqual([1, 2, 3])
  })

  it.each(["hub/unreachable", "hub/moved", "store/failed"])(
    "[HC29] goes to the next hub when one says %s",
    async (code) => {
      const { first, second, hub } = await two()
      first.faults.push({ refusesWith: code })
      second.append("s", 2)
      expect(seqsOf(await readUntil(hub.session("s").follow({ after: 0 }), isEvent(2)))).toEqual([1, 2])
    },
  )

  it("[HC28] a proxy whose hub is away is a hub that is away", async () => {
    const { fake } = setup
    const away = [502, 504]
    fake.route("GET /api/me", () => {
      const status = away.shift()
      return status === undefined ? { body: { role: "viewer", name: "n" } } : { status, body: "<html>Bad Gateway" }
    })
    expect(await setup.connect().me()).toMatchObject({ name: "n" })
    fake.route("POST /api/sessions/s/control", () => refused(502, "control/refused", "no"))
    await expect(setup.connect().session("s").control({ subtype: "x" })).rejects.toMatchObject({
      code: "control/refused",
    })
  })
})
