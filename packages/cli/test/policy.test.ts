import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { COMMAND, folder, openAsk, run, startHub } from "./signalbox-process.ts"

const TESTS = { id: "tests", effect: "allow", tool: "Bash", input: { command: "npm test" } }

function rulesFile(...rules: object[]): string {
  const path = join(folder(), "rules.json")
  writeFileSync(path, JSON.stringify({ rules }))
  return path
}

describe("signalbox policy, grants and audit", () => {
  it("[BT14] a policy is tested, refused, forced, read, edited, listed and restored; the audit tells who did it", async () => {
    const hub = await startHub("runner")
    expect((await hub.run(["answer", await openAsk(hub), "deny"])).code).toBe(0)
    const file = rulesFile(TESTS)

    const tested = await hub.run(["policy", "test", file, "--since", "1d"])
    expect(tested).toMatchObject({ code: 1, stderr: "" })
    expect(tested.stdout).toMatch(/^1 request judged, back to \d{4}-\d\d-\d\d\.\n/)
    expect(tested.stdout).toMatch(
      /Allowed now, although a person denied it: 1\n {2}Bash npm test\n {4}ask → allow \(rule tests\)/,
    )
    expect(JSON.parse((await hub.run(["policy", "test", file, "--json"])).stdout).contradicts.count).toBe(1)

    const refused = await hub.run(["policy", "set", file])
    expect(refused.code).toBe(1)
    expect(refused.stderr).toMatch(
      /^signalbox: This policy would allow a request that a person denied: .* policy test \S*rules\.json .* --force.*\n$/,
    )
    expect((await hub.run(["policy", "set", file, "--force"])).code).toBe(0)
    expect(JSON.parse((await hub.run(["policy", "get"])).stdout)).toMatchObject({ rules: [TESTS] })
    expect((await hub.json("policy", "get")).sees.judged).toMatch(/^Only what an agent asks about/)

    const env = { EDITOR: "sed -i s/tests/unit-tests/" }
    expect((await run(["policy", "edit", "--data", hub.data], { env })).code).toBe(0)
    const same = await run(["policy", "edit", "--data", hub.data], { env: { EDITOR: "true" } })
    expect(same).toMatchObject({ code: 0, stderr: "No changes.\n" })
    const broken = await run(["policy", "edit", "--data", hub.data], { env: { EDITOR: "sed -i s/allow/maybe/" } })
    expect(broken.code).toBe(1)
    expect(broken.stderr).toMatch(/^Your text is kept in .*policy\.json\. To try again: signalbox policy set /)

    const log = (await hub.run(["policy", "log"])).stdout
    expect(log).toMatch(
      /^VERSION +AGE +BY +RULES +CHANGES\n +2 .* admin +1 +\+unit-tests -tests\n +1 .*\+tests \(forced\)\n$/,
    )
    const second = (await hub.run(["policy", "log", "2"])).stdout
    expect(second).toMatch(/^Version 2, put in force at .* by admin\n- \{"id":"tests".*\n\+ \{"id":"unit-tests"/)
    expect((await hub.run(["policy", "log", "7"])).code).toBe(1)
    expect((await hub.run(["policy", "log", "x"])).code).toBe(2)
    expect((await hub.run(["policy", "log", "2", "--restore", "1"])).code).toBe(2)
    expect((await hub.run(["policy", "log", "--restore", "1"])).code).toBe(0)
    expect((await hub.json("policy", "log")).versions).toMatchObject([
      { version: 3 },
      { version: 2 },
      { version: 1, forced: 1 },
    ])

    // Commands that only read may run at once.
    const [suggested, said, audit, launched, lines, csv, none] = await Promise.all([
      hub.json("policy", "suggest"),
      hub.run(["policy", "suggest"]),
      hub.run(["audit", "--what", "policy/changed", "--by", "admin"]),
      hub.run(["audit", "--what", "session/launched"]),
      hub.run(["audit", "--tool", "Bash", "--json"]),
      hub.run(["audit", "--since", "1d", "--csv"]),
      hub.run(["audit", "--rule", "nobody's"]),
    ])
    expect(suggested).toMatchObject({ suggestions: [], idle: [] })
    expect(said.stderr).toBe("No suggestions from 1 request.\n")
    expect(audit.stdout.split("\n")).toHaveLength(5)
    expect(audit.stdout).toMatch(/ version 1: \+tests \(forced\)\n.* version 2: \+unit-tests -tests\n/)
    expect(launched.stdout).toMatch(/ simulator, in \/\S+/)
    const records = lines.stdout.trim().split("\n")
    expect(records.map((line) => JSON.parse(line).what)).toEqual(["ask/denied"])
    const cells = csv.stdout.split("\r\n")
    expect(cells[0]).toBe("id,at,what,by,via,rule,tool,session,ask,details")
    expect(cells.some((line) => line.includes("ask/denied,admin,person,,Bash,"))).toBe(true)
    expect(none.stderr).toBe("No audit records match.\n")
    const [time, unknown, both, invalid, list, missing] = await Promise.all([
      hub.run(["audit", "--since", "soon"]),
      hub.run(["audit", "--what", "nope"]),
      hub.run(["audit", "--json", "--csv"]),
      hub.run(["policy", "set", rulesFile({ id: "x" })]),
      hub.run(["policy", "set", "-"], { input: "[]" }),
      hub.run(["policy", "test", join(folder(), "none.json")]),
    ])
    expect([time.code, unknown.code, both.code]).toEqual([1, 2, 2])
    expect(unknown.stderr).toMatch(/^signalbox: --what nope: choose one of ask\/allowed, .*control\/…\n$/)
    expect(invalid.stderr).toMatch(/^signalbox: rule 1 \(x\): effect: /)
    expect(list.stderr).toMatch(/^signalbox: - is no policy: /)
    expect(missing.stderr).toMatch(/^signalbox: can't read /)
  })

  it("[CL65] asks, log and audit say why: the sentence, the rule's place with the part that decided, and what would change", async () => {
    const hub = await startHub("runner")
    const careful = { id: "careful", effect: "ask", tool: "Bash", input: { command: "npm *" }, reason: "It is slow." }
    const file = rulesFile({ id: "no-push", effect: "deny", tool: "Bash", input: { command: "git push*" } }, careful)
    expect((await hub.run(["policy", "set", file])).code).toBe(0)
    const ask = await openAsk(hub)
    const why = [
      'Rule "careful" wants a person to decide this: It is slow.',
      "Rule 2, “careful”: npm test",
      'To allow it without a person, change or remove rule "careful" (number 2).',
    ]
    const below = why.map((line) => `  ${line}\n`).join("")
    expect((await hub.run(["asks"])).stdout).toContain(`\n${below}`)
    const [told] = (await hub.json("asks")).asks
    expect(told).toMatchObject({ reason: why[0], why: { rules: [{ id: "careful", place: 2 }], change: why[2] } })
    const log = (await hub.run(["log", told.sessionId])).stdout.split("\n")
    const at = log.findIndex((line) => line.endsWith(`why: ${why[0]}`))
    expect(log[at - 1]).toMatch(/ asks: Bash npm test$/)
    expect(log.slice(at + 1, at + 3)).toEqual(why.slice(1).map((line) => `         ${line}`))
    expect((await hub.run(["log", told.sessionId, "--json"])).stdout).not.toContain(why[0])
    expect((await hub.run(["answer", ask, "deny"])).code).toBe(0)
    expect((await hub.run(["audit", "--rule", "careful"])).stdout).toMatch(
      /ask\/denied .* Bash, rule careful\n {2}Rule/,
    )
    expect((await hub.run(["audit", "--rule", "careful"])).stdout).toContain(`\n${below}`)
    const record = JSON.parse((await hub.run(["audit", "--rule", "careful", "--json"])).stdout)
    expect(record.details).toMatchObject({ reason: why[0], why: told.why })
  })

  it("[CL115] what somebody else put in force while the editor was open stays, and the text is kept", async () => {
    const hub = await startHub("no-runner")
    expect((await hub.run(["policy", "set", rulesFile(TESTS)])).code).toBe(0)
    const deny = { id: "no-push", effect: "deny", tool: "Bash", input: { command: "git push*" } }
    const put = `"${process.execPath}" "${COMMAND}" policy set "${rulesFile(TESTS, deny)}" --data "${hub.data}"`
    const script = join(folder(), "editor.sh")
    writeFileSync(script, `${put} && sed -i s/tests/unit-tests/ "$1"\n`)
    const edit = (EDITOR: string) => run(["policy", "edit", "--data", hub.data], { env: { EDITOR } })
    const { code, stderr } = await edit(`sh ${script}`)
    expect(code).toBe(1)
    const [, path = ""] =
      /^Your text is kept in (\S+)\. To try again: signalbox policy set \S+ --replaces 2 --data .*\n/.exec(stderr) ?? []
    expect(stderr).toMatch(/\nsignalbox: somebody changed the policy meanwhile, .* policy log .* --replaces 2\n$/)
    const rules = async () => (await hub.json("policy", "get")).rules.map(({ id }: { readonly id: string }) => id)
    expect(await rules()).toEqual(["tests", "no-push"])
    expect((await hub.run(["policy", "set", path, "--replaces", "1"])).code).toBe(1)
    expect((await hub.run(["policy", "set", path, "--replaces", "2"])).code).toBe(0)
    expect(await rules()).toEqual(["unit-tests"])
    const none = await edit("false")
    expect(none.stderr).toBe("signalbox: the editor false ended with 1: set EDITOR to one that works\n")
  })

  it("[CL116] a policy that judges less than the one in force is told as such, also if it only leaves the field out", async () => {
    const hub = await startHub("no-runner")
    const less = rulesFile(TESTS)
    const all = join(folder(), "all.json")
    writeFileSync(all, JSON.stringify({ rules: [], enforce: "everything" }))
    const said = async (...words: string[]) => (await hub.run(["policy", ...words])).stderr
    const LINE = /^Enforce goes from everything to asked: .*\n$/
    expect(await said("set", less)).toBe("")
    expect(await said("set", all)).toBe("")
    expect(await said("test", less)).toMatch(LINE)
    expect(await said("set", less)).toMatch(LINE)
    expect(await said("set", all)).toBe("")
    expect(await said("log", "--restore", "1")).toMatch(LINE)
    expect(await said("test", less)).toBe("")
  })

  it("[CL117] [CL118] a request is explained in words, and a policy that is no JSON by its line", async () => {
    const hub = await startHub("no-runner")
    const push = { id: "no-push", effect: "deny", tool: "Bash", input: { command: "git push*" }, message: "Not you." }
    const file = rulesFile(push, { id: "docs", effect: "allow", tool: "Read", cwd: "/srv/**" })
    writeFileSync(file, `\uFEFF${readFileSync(file, "utf8")}`)
    expect((await hub.run(["policy", "set", file])).code).toBe(0)
    const explain = (...words: string[]) => hub.run(["policy", "explain", ...words])
    const denied = await explain("Bash", "ls && git push origin")
    expect([denied.code, denied.stdout.split("\n")]).toEqual([
      0,
      [
        "deny (rule no-push)",
        expect.stringContaining("no-push"),
        "  Rule 1, “no-push”: git push origin",
        expect.stringMatching(/^ {2}To .*no-push/),
        "  The agent is told: Not you.",
        "",
      ],
    ])
    const { id } = await hub.json("new", "--agent", "external")
    const [there, elsewhere, wrong, unknown, twice, yaml] = await Promise.all([
      explain("Read", '{"file_path":"a.md"}', "--cwd", "/srv/app", "--json"),
      explain("Read", '{"file_path":"a.md"}', "--session", id),
      explain("Read", "a.md"),
      explain("Bash", "ls", "--runner", "nowhere"),
      hub.run(["policy", "set", "-"], { input: '{\n  "rules": [],,\n}' }),
      hub.run(["policy", "set", "-"], { input: "rules:\n  - id: tests\n" }),
    ])
    expect(JSON.parse(there.stdout)).toMatchObject({ effect: "allow", rule: "docs" })
    expect(elsewhere.stdout).toMatch(/^ask \(no rule\)\n {2}\S/)
    expect([wrong.code, unknown.code]).toEqual([2, 1])
    expect(twice.stderr).toBe("signalbox: - is not JSON at line 2, column 15: expected name\n")
    expect(yaml.stderr).toMatch(/^signalbox: - is not JSON at line 1, column 1: .*A policy is JSON, not YAML\n$/)
  })

  it("[BT14] standing permissions are listed and revoked by the start of their id", async () => {
    const hub = await startHub("runner")
    expect((await hub.run(["grants", "ls"])).stderr).toBe("No standing permissions.\n")
    const ask = await openAsk(hub)
    const rules = [{ toolName: "Bash", ruleContent: "npm test:*" }]
    const updatedPermissions = [{ type: "addRules", rules, behavior: "allow", destination: "session" }]
    await hub.call("POST", `/api/asks/${ask}/answer`, { behavior: "allow", updatedPermissions })
    const [grant] = (await hub.json("grants", "ls")).grants
    expect((await hub.run(["grants", "ls"])).stdout).toMatch(
      /\n[0-9a-f]{8} +[0-9a-f]{8} +Bash\(npm test:\*\) +hub +admin/,
    )
    expect(await hub.json("grants", "revoke", grant.id.slice(0, 8))).toMatchObject({
      gone: true,
      grant: { id: grant.id },
    })
    expect((await hub.json("grants", "ls")).grants).toEqual([])
    expect((await hub.run(["grants", "revoke", "zzz"])).code).toBe(1)
  })

  it("[AK15] a revoked permission that Claude Code keeps is told with the machine's name and the file", async () => {
    const hub = await startHub("runner")
    const ask = await openAsk(hub)
    const rules = [{ toolName: "Bash", ruleContent: "npm test:*" }]
    const updatedPermissions = [{ type: "addRules", rules, behavior: "allow", destination: "localSettings" }]
    await hub.call("POST", `/api/asks/${ask}/answer`, { behavior: "allow", updatedPermissions })
    const [grant] = (await hub.json("grants", "ls")).grants
    const [machine] = (await hub.call("GET", "/api/runners")).runners
    expect((await hub.run(["grants", "ls"])).stdout).toContain(` localSettings on ${machine.name} `)
    const { cwd } = await hub.call("GET", `/api/sessions/${grant.sessionId}`)
    expect((await hub.run(["grants", "revoke", grant.id])).stderr).toBe(
      `Noted, but Claude Code still has it, and does not ask: remove it from ${cwd}/.claude/settings.local.json on ${machine.name}.\n`,
    )
  })
})
