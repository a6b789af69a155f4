import { execFileSync } from "node:child_process"
import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { folder, startHub } from "../signalbox-process.ts"

const POLL = { timeout: 30_000, interval: 100 }

describe("signalbox export", () => {
  it("[EX3] writes a session's page and its events, whole or not at all, and only as asked", async () => {
    const hub = await startHub("runner")
    const made = await hub.run([
      "new",
      "--agent",
      "simulator",
      "--cwd",
      folder(),
      "--prompt",
      "think please",
      "--title",
      "To keep",
    ])
    const id = made.stdout.trim()
    await expect.poll(async () => (await hub.json("ls", "--all")).sessions[0].state, POLL).toBe("idle")
    const out = folder()
    const [page, events] = [join(out, "page.html"), join(out, "events.ndjson")]
    expect((await hub.run(["export", id.slice(0, 8), "--html", page])).code).toBe(0)
    expect(readFileSync(page, "utf8")).toMatch(
      /^<!doctype html>[^]*<title>To keep<\/title>[^]*think please[^]*<\/html>\n$/,
    )
    expect((await hub.run(["export", id, "--ndjson", events])).code).toBe(0)
    const log = await hub.run(["log", id, "--json"])
    expect(
      readFileSync(events, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual(
      log.stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    )
    expect((await hub.run(["export", id, "--ndjson", "-"])).stdout).toBe(readFileSync(events, "utf8"))
    expect(readdirSync(out).toSorted()).toEqual(["events.ndjson", "page.html"])
    // A link stays one, and a pipe is written to.
    symlinkSync(events, join(out, "link"))
    expect((await hub.run(["export", id, "--ndjson", join(out, "link")])).code).toBe(0)
    expect(lstatSync(join(out, "link")).isSymbolicLink()).toBe(true)
    execFileSync("sh", ["-c", `mkfifo ${join(out, "pipe")}`])
    const [piped] = await Promise.all([
      readFile(join(out, "pipe"), "utf8"),
      hub.run(["export", id, "--ndjson", join(out, "pipe")]),
    ])
    expect(piped).toBe(readFileSync(events, "utf8"))
    mkdirSync(join(out, "taken"))
    expect(await hub.run(["export", id, "--html", join(out, "taken")])).toMatchObject({ code: 2 })
    expect(await hub.run(["export", id, "--html", join(out, "no/such/folder.html")])).toMatchObject({ code: 1 })
    expect((await hub.run(["export", id])).stderr).toMatch(
      /choose what to write: signalbox export .* --html FILE, or --ndjson FILE/,
    )
    const both = [join(out, "both.html"), join(out, "both.ndjson")] as const
    expect((await hub.run(["export", id, "--html", both[0], "--ndjson", both[1]])).code).toBe(0)
    // But for the time it was written at.
    const timeless = (file: string) => readFileSync(file, "utf8").replace(/<footer>[^]*?<\/footer>/, "")
    expect(both.map(timeless)).toEqual([page, events].map(timeless))
    const same = await hub.run(["export", id, "--html", "-", "--ndjson", "-"])
    expect(same).toMatchObject({ code: 2, stdout: "" })
    expect(same.stderr).toMatch(/^signalbox: --html and --ndjson can't both be -: give each its own file\n$/)
    expect((await hub.run(["attach", id])).stderr).toMatch(/attach needs a terminal\. Without one, use: signalbox log/)
  })
})
