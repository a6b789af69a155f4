import { spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, existsSync, openSync } from "node:fs"
import { Writable } from "node:stream"
import { describe, expect, it } from "vitest"
import { mintSecret } from "../../src/auth/tokens.ts"
import { createLogger, plainLines } from "../../src/operations/logger.ts"
import { setUpHttp } from "../http/http-setup.ts"

function capture() {
  const lines: string[] = []
  const stream = new Writable({ write: (chunk, _encoding, done) => done(void lines.push(String(chunk))) })
  return { logger: createLogger({ stream }), text: () => lines.join("") }
}

describe("the log", () => {
  it("[HA59] at a terminal is one plain line: time, words and cause, no stack, nothing that steers it", () => {
    const lines: string[] = []
    const logger = createLogger({ stream: plainLines({ write: (line) => void lines.push(line) }) })
    logger.error({ err: new Error("database or disk\nis full\u001b[2J"), session: "s" }, "the store cannot be written")
    logger.warn({ token: "t" }, "odd \u202e words")
    logger.info("fine")
    expect(lines.map((line) => line.replace(/^\d\d:\d\d:\d\d /, ""))).toEqual([
      "error: the store cannot be written: database or disk is full [2J\n",
      "warning: odd   words\n",
      "fine\n",
    ])
  })

  it("[HA39] has no secret in it, wherever it stood", () => {
    const { logger, text } = capture()
    const secrets = [mintSecret("token"), mintSecret("login"), mintSecret("code")]
    for (const secret of secrets) {
      logger.info({ token: secret, headers: { authorization: `Bearer ${secret}`, cookie: `signalbox_1=${secret}` } })
      logger.info({
        request: { headers: { "set-cookie": "s=opaque-value-1", authorization: "Basic b3BhcXVlLXZhbHVl" } },
      })
      logger.warn(`somebody sent ${secret} in a message, and ?token=${secret}`)
      logger.error({ err: new Error(`it failed with ${secret}`) }, "failed")
      logger.child({ url: `/x?code=${secret}` }).info("child")
    }
    logger.info("Authorization: Bearer some-other-secret")
    for (const secret of [...secrets, "opaque-value-1", "b3BhcXVlLXZhbHVl", "some-other-secret"]) {
      expect(text()).not.toContain(secret)
    }
    expect(
      text()
        .split("\n")
        .filter(Boolean)
        .every((line) => JSON.parse(line).time),
    ).toBe(true)
    expect(text().match(/\[redacted\]/g)?.length).toBeGreaterThan(10)
  })

  it("[HA39] lines about a session carry its id, and none has a query in it", async () => {
    const hub = await setUpHttp()
    await hub.ask("/api/sessions/s1/events?after=1", { as: "viewer" })
    await hub.ask("/api/search?q=something-private", { as: "viewer" })
    await hub.ask("/api/login", { method: "POST", body: { token: hub.tokens.admin } })
    const lines = hub
      .log()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(lines[0]).toMatchObject({ session: "s1", path: "/api/sessions/s1/events", status: 200, by: "the viewer" })
    expect(hub.log()).not.toMatch(/something-private|after=1|sb[xlc]_/)
    expect(lines).toHaveLength(3)
  })

  it("[RU45] harms nobody when it cannot be written, as on a full disk", async () => {
    const program = `
      import { createLogger, plainLines } from "@signalbox/hub/logger"
      const log = createLogger()
      for (let n = 0; n < 20_000; n++) log.error({ err: new Error("no room") }, "the disk does not take it")
      process.stdout.write("alive")
    `
    const full = existsSync("/dev/full") ? openSync("/dev/full", "w") : openSync("/dev/null", "r")
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
      cwd: import.meta.dirname,
      stdio: ["ignore", "pipe", full],
    })
    closeSync(full)
    let said = ""
    child.stdout?.on("data", (chunk) => {
      said += String(chunk)
    })
    const [code] = (await once(child, "close")) as [number | null]
    expect({ code, said }).toEqual({ code: 0, said: "alive" })
  })
})
