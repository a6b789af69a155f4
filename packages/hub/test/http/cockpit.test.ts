import { mkdirSync, writeFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Hono } from "hono"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { addCockpit, addCockpitElsewhere } from "../../src/http/cockpit.ts"
import type { HttpEnv } from "../../src/http/read-request.ts"

describe("the cockpit's files", () => {
  let directory: string
  let hono: Hono<HttpEnv>
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "signalbox-cockpit-"))
    mkdirSync(join(directory, "assets"))
    writeFileSync(join(directory, "index.html"), "<!doctype html><title>cockpit</title>")
    writeFileSync(join(directory, "icon.svg"), "<svg/>")
    writeFileSync(join(directory, "assets", "index-abc123.js"), "export {}\n".repeat(40))
    writeFileSync(join(directory, "assets", "geist-abc123.woff2"), "wOF2 as it is")
    writeFileSync(join(directory, "secret.txt"), "secret")
    hono = new Hono<HttpEnv>()
    addCockpit(hono, directory)
    hono.get("/metrics", (context) => context.text("of a program"))
    addCockpitElsewhere(hono, directory)
    hono.all("*", (context) => context.text("elsewhere", 404))
    hono.onError((error, context) => context.text(error.message, 404))
  })
  afterAll(async () => {
    await rm(directory, { recursive: true })
  })
  const ask = (path: string, init: RequestInit = {}) => hono.request(path, init)

  it("[HA41] its page stands at its own addresses, never cached, with a policy that allows nothing inline", async () => {
    for (const path of ["/", "/login", "/sessions", "/s/abc", "/requests/1", "/approvals/1", "/settings/keyboard"]) {
      const reply = await ask(path)
      expect(reply.status, path).toBe(200)
      expect(reply.headers.get("content-security-policy")).not.toContain("unsafe")
      expect(reply.headers.get("cache-control")).toBeNull()
      expect(await reply.text()).toContain("cockpit")
    }
  })

  it("[HA41] it stands at no other address and answers no other method: the API is not in its shadow", async () => {
    for (const path of ["/api", "/api/sessions", "/ws", "/s/a/b", "/sessions/x", "/made-up"]) {
      expect(await (await ask(path)).text(), path).toBe("elsewhere")
    }
    expect(await (await ask("/sessions", { method: "POST" })).text()).toBe("elsewhere")
  })

  it("[HA42] somebody who looks at an address where nothing is gets the page, as not found; a program does not", async () => {
    const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    const looked = await ask("/made-up/by-hand", { headers: { accept } })
    expect([looked.status, await looked.text()]).toEqual([404, expect.stringContaining("cockpit")])
    expect(looked.headers.get("content-type")).toContain("text/html")
    expect(looked.headers.get("content-security-policy")).not.toContain("unsafe")
    for (const path of ["/api", "/api/made-up", "/v1/made-up", "/ws/made-up"]) {
      expect(await (await ask(path, { headers: { accept } })).text(), path).toBe("elsewhere")
    }
    expect(await (await ask("/assets/made-up.js", { headers: { accept } })).text()).not.toContain("<title>")
    expect(await (await ask("/metrics", { headers: { accept } })).text()).toBe("of a program")
    expect(await (await ask("/made-up", { headers: { accept: "*/*" } })).text()).toBe("elsewhere")
    expect(await (await ask("/made-up", { method: "POST", headers: { accept } })).text()).toBe("elsewhere")
  })

  it("[HA41] files with a hash in their name may be kept for ever, and come compressed to those who take that", async () => {
    const reply = await ask("/assets/index-abc123.js", { headers: { "accept-encoding": "gzip" } })
    expect(reply.headers.get("cache-control")).toContain("immutable")
    expect(reply.headers.get("content-encoding")).toBe("gzip")
    expect(reply.headers.get("content-type")).toContain("javascript")
    const plain = await ask("/assets/index-abc123.js")
    expect(await plain.text()).toContain("export {}")
  })

  it("[HA41] fonts may be kept for ever too, with their type, and are not compressed twice", async () => {
    const reply = await ask("/assets/geist-abc123.woff2", { headers: { "accept-encoding": "gzip" } })
    expect(reply.headers.get("content-type")).toBe("font/woff2")
    expect(reply.headers.get("cache-control")).toContain("immutable")
    expect(reply.headers.get("content-encoding")).toBeNull()
    expect(await reply.text()).toBe("wOF2 as it is")
    expect((await ask("/")).headers.get("content-security-policy")).toContain("font-src 'self'")
  })

  it("[HA41] nothing outside of its folder is served, however the name is written", async () => {
    for (const name of ["..%2fsecret.txt", "%2e%2e/secret.txt", "x.js%00", "missing-1.js"]) {
      const reply = await ask(`/assets/${name}`)
      expect(await reply.text(), name).not.toContain("secret")
      expect(reply.status, name).toBe(404)
    }
  })
})
