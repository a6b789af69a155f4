import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { RunnerLog as LoggedLines } from "@signalbox/protocol/runner-wire"
import { describe, expect, it } from "vitest"
import { LogTail, type RunnerLog } from "../src/log-tail.ts"
import { Scene } from "./runner-scene.ts"

function recorder(): { readonly log: RunnerLog; readonly said: string[] } {
  const said: string[] = []
  const say = (_: object, words: string) => void said.push(words)
  return { said, log: { debug: say, info: say, warn: say, error: say } }
}

describe("the runner's log", () => {
  it("[RU48] is kept to its last 500 lines of 500 characters, and goes where it went", () => {
    const { log, said } = recorder()
    const tail = new LogTail({ now: () => 0 })
    const both = tail.beside(log)
    both.debug({}, "for the curious")
    for (let index = 0; index < 600; index++) both.info({}, `line ${index}`)
    both.error({ err: new Error("x".repeat(1000)), session: "s1", text: "a secret" }, "it failed")
    expect(said).toHaveLength(602)
    const { lines, more } = tail.last()
    expect([lines.length, lines[0]?.text, more]).toEqual([500, "line 101", true])
    const last = lines.at(-1)
    expect(last).toMatchObject({ at: "1970-01-01T00:00:00.000Z", level: "error", session: "s1" })
    expect(last?.text).toMatch(/^it failed: x+$/)
    expect(last?.text).toHaveLength(500)
    expect(tail.last(2)).toMatchObject({ lines: [{ text: "line 599" }, { level: "error" }], more: true })
  })

  it("[RU48] says that there was more only where there was", () => {
    const tail = new LogTail({ now: () => 0 })
    const log = tail.beside(recorder().log)
    for (let index = 0; index < 500; index++) log.info({}, `line ${index}`)
    expect([tail.last().more, tail.last(500).more, tail.last(499).more]).toEqual([false, false, true])
    log.info({}, "one more")
    expect(tail.last(500)).toMatchObject({ more: true })
  })

  it("[RU48] has no address with who goes there", () => {
    const tail = new LogTail({ now: () => 0 })
    const log = tail.beside(recorder().log)
    log.warn({ err: new Error("no way to https://u:p@ss@host/a@b, nor http://u@other") }, "it failed")
    expect(tail.last().lines[0]?.text).toBe("it failed: no way to https://host/a@b, nor http://other")
  })

  it("[RU48] has our own words on a worktree that git did not make, not those of a repository's hook", async () => {
    const scene = await Scene.open()
    try {
      const repo = join(scene.base, "repo")
      const env = { PATH: process.env["PATH"], HOME: scene.base, GIT_CONFIG_GLOBAL: "/dev/null" }
      const git = (...args: string[]) => execFileSync("git", args, { cwd: repo, env })
      mkdirSync(repo)
      git("init", "--quiet")
      git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "--quiet", "--allow-empty", "-m", "x")
      const hook = join(repo, ".git", "hooks", "post-checkout")
      mkdirSync(dirname(hook), { recursive: true })
      writeFileSync(hook, "#!/bin/sh\necho words-of-a-hook >&2\nexit 1\n", { mode: 0o755 })
      const spec = scene.spec({ cwd: repo, worktree: { branch: "mine" } })
      const refused = await scene.hub.request({ kind: "launch", spec })
      expect(refused).toMatchObject({ op: "refused", message: expect.stringContaining("words-of-a-hook") })
      const { lines } = (await scene.hub.ask({ kind: "log" })) as LoggedLines
      expect(lines.at(-1)).toMatchObject({
        level: "warn",
        text: "Launch refused: git made no worktree on branch mine",
      })
    } finally {
      await scene.dispose()
    }
  })

  it("[RU48] is told on request: what was done and why something was not, no token, no environment, nothing that was said", async () => {
    const scene = await Scene.open()
    try {
      const spawn = await scene.launch({ env: { API_KEY: "key-of-somebody" } })
      scene.hub.say(spawn, "words-of-somebody")
      await scene.hub.request({ kind: "launch", spec: scene.spec({ cwd: join(scene.base, "gone") }) })
      await scene.hub.ask({ kind: "stop", spawn, reason: "somebody stopped it" })
      const told = async () => (await scene.hub.ask({ kind: "log" })) as LoggedLines
      await expect
        .poll(async () => (await told()).lines.map(({ level, text }) => `${level} ${text}`))
        .toEqual([
          expect.stringMatching(/^info Runner started, version \d/),
          "info Connected to hub",
          "info Agent started",
          expect.stringMatching(/^warn Launch refused: .*gone/),
          "info Agent ended: somebody stopped it",
        ])
      const tail = await told()
      expect(tail.lines.filter(({ session }) => session === "session-1")).toHaveLength(2)
      expect(JSON.stringify(tail)).not.toMatch(/runner-token|key-of|words-of/)
      expect(await scene.hub.ask({ kind: "log", lines: 1 })).toMatchObject({ lines: [{ level: "info" }], more: true })
    } finally {
      await scene.dispose()
    }
  })
})
