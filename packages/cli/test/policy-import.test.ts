import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { folder, openAsk, run, startHub } from "./signalbox-process.ts"

/** A file of settings, in `.claude` of a folder. */
function settingsIn(place: string, permissions: unknown, name = "settings.json"): string {
  mkdirSync(join(place, ".claude"), { recursive: true })
  const path = join(place, ".claude", name)
  writeFileSync(path, JSON.stringify({ permissions }))
  return path
}

const PERMISSIONS = {
  allow: ["Bash(npm test:*)", "Bash(ls*)", "mcp__*", "Edit(/src/**)", "Bash(a && b)"],
  deny: ["Bash(rm:*)"],
  defaultMode: "plan",
}

describe("signalbox policy import", () => {
  it("[CL82] shows what was taken, what was not, what does something else than it seems to, and the rules, without a hub", async () => {
    const place = folder()
    const path = settingsIn(place, PERMISSIONS)
    const { code, stdout, stderr } = await run(["policy", "import", path])
    expect(code).toBe(0)
    expect(stderr).toBe(`Nothing was changed. Put these rules in force with: signalbox policy import ${path} --apply\n`)
    const lines = stdout.split("\n")
    expect(lines[0]).toBe(`${path}: 4 of 6 entries taken, for sessions in ${place}`)
    const part = (from: string, to: string) => lines.slice(lines.indexOf(from) + 1, lines.indexOf(to)).join("\n")
    expect(part("  Taken", "  Left out")).toMatch(
      /^ {4}deny Bash\(rm:\*\) → settings-\S+-1\n {4}allow Bash\(npm test:\*\) → .*\n {4}allow Bash\(ls\*\) → .*\n {6}Bash\(ls\*\) also matches "lsof".*\n {4}allow Edit\(\/src\/\*\*\) → .*\n {6}.*begins at the settings' folder/,
    )
    expect(part("  Left out", "  Other settings")).toMatch(
      /^ {4}allow mcp__\*\n {6}This cannot be said .*\n {6}mcp__\* matches no tool in Claude Code.*\n {4}allow Bash\(a && b\)\n {6}This cannot/,
    )
    expect(part("  Other settings", "")).toMatch(/^ {4}permissions\.defaultMode has no counterpart/)
    const rules = lines.slice(lines.indexOf("Rules") + 1, -1).map((line) => JSON.parse(line))
    expect(rules).toHaveLength(7)
    expect(rules[0]).toMatchObject({ effect: "deny", tool: "Bash", cwd: `${place}/**` })

    const json = await run(["policy", "import", path, "--cwd", "/srv/app", "--json"])
    expect(json.stderr).toBe("")
    const told = JSON.parse(json.stdout)
    expect(told).toMatchObject({
      files: [{ path, cwd: "/srv/app" }],
      taken: [
        { file: path, entry: "Bash(rm:*)", effect: "deny", rules: ["settings-app-1"] },
        { entry: "Bash(npm test:*)" },
        { entry: "Bash(ls*)" },
        {
          entry: "Edit(/src/**)",
          rules: [expect.any(String), expect.any(String), expect.any(String), expect.any(String)],
        },
      ],
      skipped: [{ entry: "mcp__*", notes: [expect.any(String), expect.any(String)] }, { entry: "Bash(a && b)" }],
      weaker: [{ entry: "Bash(ls*)" }, { entry: "Edit(/src/**)" }],
      notes: [{ file: path, note: expect.stringContaining("defaultMode") }],
      policy: {
        rules: expect.arrayContaining([expect.objectContaining({ id: "settings-app-1", cwd: "/srv/app/**" })]),
      },
    })
  })

  it("[CL82] without a file, reads the person's own settings and those of the project here", async () => {
    const [home, place] = [folder(), folder()]
    const env = { HOME: home }
    const read = async (cwd: string, more: NodeJS.ProcessEnv = {}) =>
      JSON.parse((await run(["policy", "import", "--json"], { env: { ...env, ...more }, cwd })).stdout)
    const own = settingsIn(home, { ask: ["Bash(git push:*)"] })
    const shared = settingsIn(place, { allow: ["Bash(npm test:*)"] })
    const local = settingsIn(place, { allow: ["Bash(make)", "Bash(npm test:*)"] }, "settings.local.json")
    const told = await read(place)
    expect(told.files).toEqual([
      { path: own, cwd: null },
      { path: shared, cwd: place },
      { path: local, cwd: place },
    ])
    // The entry that both of the project's files have became one rule.
    const [asked, test, made] = told.policy.rules
    expect(told.policy.rules).toHaveLength(3)
    expect([asked.id, asked.cwd, made.input]).toEqual(["settings-user-1", undefined, { command: ["make"] }])
    expect(told.taken.at(-1)).toMatchObject({ entry: "Bash(npm test:*)", rules: [test.id] })
    expect((await read(home)).files).toEqual([{ path: own, cwd: null }])
    const elsewhere = settingsIn(folder(), { deny: ["Bash(rm:*)"] })
    const config = join(elsewhere, "..")
    expect((await read(folder(), { CLAUDE_CONFIG_DIR: config })).files).toEqual([{ path: elsewhere, cwd: null }])

    const none = await run(["policy", "import"], { cwd: folder() })
    expect(none).toMatchObject({ code: 1, stdout: "" })
    expect(none.stderr).toMatch(/^signalbox: no settings of Claude Code in .*settings\.local\.json: name the file\n$/)
  })

  it("[CL83] adds the rules to those in force, each once; a taken id is not used again", async () => {
    const hub = await startHub("no-runner")
    const place = folder()
    const inForce = { id: "settings-app-2", effect: "deny", tool: "Bash", input: { command: "dd *" } }
    const file = join(folder(), "rules.json")
    writeFileSync(file, JSON.stringify({ rules: [inForce], enforce: "everything" }))
    expect((await hub.run(["policy", "set", file])).code).toBe(0)
    const args = ["policy", "import", settingsIn(place, { allow: ["Bash(make)", "Bash(ls)"] }), "--cwd", "/srv/app"]
    const first = await hub.json(...args, "--apply")
    expect(first.added).toEqual(["settings-app-1", "settings-app-2-2"])
    expect(first.policy).toMatchObject({ enforce: "everything", rules: [inForce, { id: "settings-app-1" }, {}] })

    const again = await hub.run([...args, "--apply"])
    expect([again.code, again.stderr]).toEqual([0, ""])
    expect(again.stdout).toContain("    allow Bash(ls) → settings-app-2-2\n")
    expect(again.stdout).not.toContain("New rules")
    expect((await hub.json("policy", "log")).versions).toHaveLength(2)

    // One entry more, in front: what is there already keeps its place and its id.
    settingsIn(place, { allow: ["Bash(npm ci)", "Bash(make)", "Bash(ls)"] })
    const third = await hub.run([...args, "--apply"])
    expect(third.stdout).toMatch(/\nNew rules\n\{"id":"settings-app-1-2",.*"npm ci".*\}\n$/)
    const { rules } = JSON.parse((await hub.run(["policy", "get"])).stdout)
    expect(rules.map(({ id }: { id: string }) => id)).toEqual([
      "settings-app-2",
      "settings-app-1",
      "settings-app-2-2",
      "settings-app-1-2",
    ])
    expect((await run([...args, "--apply", "--data", folder()])).code).toBe(3)
  })

  it("[CL83] what would contradict a person is refused with the requests, unless it is forced", async () => {
    const hub = await startHub("runner")
    expect((await hub.run(["answer", await openAsk(hub), "deny"])).code).toBe(0)
    const file = join(folder(), "settings.json")
    writeFileSync(file, JSON.stringify({ permissions: { allow: ["Bash(npm test:*)"] } }))
    const refused = await hub.run(["policy", "import", file, "--apply"])
    expect(refused).toMatchObject({ code: 1, stdout: "" })
    expect(refused.stderr).toBe(
      "signalbox: This policy would allow a request that a person denied: Bash npm test (rule settings-user-1); " +
        `leave out these entries, or force it with "signalbox policy import ${file} --apply --force --data ${hub.data}"\n`,
    )
    expect((await hub.json("policy", "get")).rules).toEqual([])
    expect((await hub.run(["policy", "import", file, "--apply", "--force"])).code).toBe(0)
    expect((await hub.json("policy", "log")).versions).toMatchObject([{ version: 1, forced: 1 }])
  })

  it("[CL82] [CL83] a deny that cannot be taken comes first, and nothing is applied without it unless it is forced", async () => {
    const hub = await startHub("no-runner")
    const file = join(folder(), "settings.json")
    writeFileSync(
      file,
      JSON.stringify({
        permissions: { allow: ["Bash"], deny: ["Read(.env)", "WebFetch(domain:x.com)", "Read(~/**)"] },
      }),
    )
    const shown = await run(["policy", "import", file])
    expect(shown.stdout).toMatch(
      /^.*: 2 of 4 entries taken\n {2}2 deny rules NOT in force here\n {4}deny WebFetch\(domain:x\.com\)\n {6}This cannot .*\n {4}deny Read\(~\/\*\*\)\n[^]*\n {2}Taken\n/,
    )
    expect(shown.stderr).toBe(
      `Nothing was changed. Put these rules in force, without 2 deny rules, with: signalbox policy import ${file} --apply --force\n`,
    )
    const refused = await hub.run(["policy", "import", file, "--apply"])
    expect(refused).toMatchObject({ code: 1, stdout: "" })
    expect(refused.stderr).toBe(
      "signalbox: 2 deny rules would NOT be in force: WebFetch(domain:x.com), Read(~/**); write rules for these yourself, " +
        `or go without them with "signalbox policy import ${file} --apply --force --data ${hub.data}"\n`,
    )
    expect((await hub.json("policy", "get")).rules).toEqual([])
    const forced = await hub.json("policy", "import", file, "--apply", "--force")
    expect([forced.deniesLeftOut, forced.added.length]).toEqual([2, 5])
  })

  it("[CL84] a file that cannot be settings is refused in one line that says what to do", async () => {
    const place = folder()
    const write = (text: string) => {
      const path = join(place, "settings.json")
      writeFileSync(path, text)
      return path
    }
    const refused = async (path: string, input?: string) => {
      const { code, stdout, stderr } = await run(["policy", "import", path], input === undefined ? {} : { input })
      expect([code, stdout]).toEqual([1, ""])
      expect(stderr.trimEnd()).not.toContain("\n")
      return stderr
    }
    expect(await refused(join(place, "none.json"))).toMatch(/none\.json doesn't exist: name a settings\.json/)
    for (const path of [place, "/dev/zero"])
      expect(await refused(path)).toBe(`signalbox: ${path} is not a file: name a settings.json of Claude Code\n`)
    expect(await refused(write(" ".repeat(1024 * 1024 + 1)))).toMatch(/is larger than 1024 KB/)
    for (const control of ["\u001b", "\u009b"]) {
      const said = await refused(write(`{"a":${control}[31m`))
      expect(said).toMatch(/settings\.json is not JSON: /)
      expect(said).not.toContain(control)
    }
    expect(await refused("-", "{")).toMatch(/^signalbox: - is not JSON: /)
    const empty = await run(["policy", "import", write("\uFEFF[]")])
    expect([empty.code, empty.stdout]).toEqual([0, expect.stringContaining("The settings have no permissions.")])
    expect(empty.stderr).toBe("Nothing was changed.\n")
    for (const wrong of [["--force"], ["--cwd", "app"]])
      expect((await run(["policy", "import", "x", ...wrong])).code).toBe(2)
  })

  it("[CL84] [CL13] nothing that stands in the settings can steer a terminal, or end the command", async () => {
    const path = join(folder(), "settings.json")
    const evil = "Bash(\u001b]0;mine\u0007\u009b31m\u202els)"
    const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`
    const lists = `"allow":[${JSON.stringify(evil)},${deep},"${"x".repeat(100_000)}"],"\u2066mode\\u001b":1`
    writeFileSync(path, `{"permissions":{${lists}}}`)
    const { code, stdout } = await run(["policy", "import", path])
    expect(code).toBe(0)
    // oxlint-disable-next-line no-control-regex -- they are what must not be there
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u2066]/)
    expect(stdout).toContain("    allow a value that is nested too deep\n")
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThan(500)
  })
})
