import { readFileSync } from "node:fs"
import { join } from "node:path"
import { connectHub, openDirect } from "@signalbox/client"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { WebSocket } from "ws"
import { refused, TOKEN } from "./fake-hub.ts"
import { messagesIn } from "./fake-viewer.ts"
import { isEvent, readUntil, seqsOf, setUp } from "./setup.ts"

// What a bundler for browsers takes: the export condition, which Node does not let go of, chosen by hand.
vi.mock("#websocket", () => import("../src/websocket-browser.ts"))

/** A browser's socket: no headers of ours, but the cookie that its page got. */
let cookie = ""
class PageSocket extends WebSocket {
  constructor(url: string) {
    super(url, { headers: cookie === "" ? {} : { Cookie: cookie } })
    // A browser's does not end the process either.
    this.on("error", () => undefined)
  }
}

const setup = setUp()
beforeEach(() => {
  cookie = ""
  vi.stubGlobal("WebSocket", PageSocket)
})
afterEach(() => {
  vi.unstubAllGlobals()
})

describe("in a browser", () => {
  it("[HC21] nothing of Node's and no socket library is loaded", () => {
    const source = join(import.meta.dirname, "..", "src")
    const seen = new Set<string>()
    const visit = (file: string) => {
      if (seen.has(file)) return
      seen.add(file)
      const text = readFileSync(join(source, file), "utf8")
      for (const [, isType, from] of text.matchAll(/^(?:import|export) (type )?[^"]*from "([^"]+)"/gms)) {
        if (isType !== undefined || from === undefined) continue
        if (from === "#websocket") visit("websocket-browser.ts")
        else if (from.startsWith("./")) visit(from.slice(2))
        else seen.add(from)
      }
    }
    visit("index.ts")
    expect(seen.size).toBeGreaterThan(10)
    expect([...seen].filter((name) => !name.endsWith(".ts")).toSorted()).toEqual([
      "@signalbox/protocol",
      "@signalbox/protocol/hub-addresses",
      "@signalbox/protocol/hub-api",
      "@signalbox/protocol/item-queue",
      "@signalbox/protocol/timing",
    ])
  })

  it("[HC21] a token is exchanged for a cookie before the stream is opened", async () => {
    setup.fake.append("s", 2)
    setup.fake.route("POST /api/login", ({ body }) => {
      if (body["token"] !== TOKEN) return refused(401, "auth/required", "who?")
      cookie = `login=${TOKEN}`
      return { body: {} }
    })
    const items = setup.connect().session("s").follow({ after: 0 })
    expect(seqsOf(await readUntil(items, isEvent(2)))).toEqual([1, 2])
    setup.fake.cut()
    setup.fake.append("s", 1)
    expect(seqsOf(await readUntil(items, isEvent(3)))).toEqual([3])
    await items.return?.()
    const wrong = setup.connect({ token: "wrong" }).session("s").follow()
    await expect(wrong.next()).rejects.toMatchObject({ code: "auth/required" })
  })

  it("[HC21] a page that is signed in needs no token", async () => {
    setup.fake.append("s", 1)
    cookie = `login=${TOKEN}`
    const hub = connectHub({ url: setup.fake.url })
    const items = hub.session("s").follow({ after: 0 })
    expect(seqsOf(await readUntil(items, isEvent(1)))).toEqual([1])
    hub.close()
    expect(setup.fake.calls).toEqual([])
  })

  it("[HC21] a direct connection says who it is in its first line", async () => {
    setup.fake.takesAnonymousSockets = true
    const first = new Promise<unknown>((resolve) => {
      setup.fake.onDirect = (_, socket) => socket.once("message", (data) => resolve(messagesIn(data)[0]))
    })
    const direct = await openDirect({ url: setup.fake.url, session: "s", token: TOKEN })
    expect(await first).toEqual({ type: "auth", credential: { type: "oauth", token: TOKEN } })
    direct.disconnect()
  })
})
