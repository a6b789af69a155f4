import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { folder, openAsk, run, startHub, type TestHub } from "./signalbox-process.ts"

const POLL = { timeout: 60_000, interval: 100 }

const FORM = {
  elicit: "Where to?",
  server: "deploy",
  schema: {
    type: "object",
    properties: { name: { type: "string" }, count: { type: "integer", minimum: 2 }, note: { type: "string" } },
    required: ["name", "count"],
  },
}
const QUESTION = {
  tool: "AskUserQuestion",
  input: {
    questions: [
      { question: "Which database?", header: "DB", multiSelect: false, options: [{ label: 'It\'s "Postgres"' }] },
    ],
  },
}

/** An agent that asks this, and the ask. */
async function asking(hub: TestHub, step: object): Promise<{ readonly id: string }> {
  const scenario = join(folder(), "asks.json")
  writeFileSync(scenario, JSON.stringify({ turns: [{ steps: [step, { say: "Thanks." }] }] }))
  const start = ["new", "--agent", "simulator", "--cwd", folder(), "--prompt", "go"]
  const { id } = await hub.json(...start, "--arg", "--scenario", "--arg", scenario)
  const open = async () => (await hub.json("asks", "--session", id)).asks
  await expect.poll(async () => (await open()).length, POLL).toBe(1)
  return (await open())[0]
}

/** The command that `asks` suggests, as a shell would take it. */
async function suggested(hub: TestHub): Promise<string> {
  const [, command = ""] = /^Answer one: signalbox (.*)\n$/.exec((await hub.run(["asks"])).stderr) ?? []
  return command
}

describe("signalbox answer", () => {
  it("[CL40] a form is not sent without what it requires, and `asks` suggests what it takes", async () => {
    const hub = await startHub("runner")
    const { id } = await asking(hub, FORM)
    const short = id.slice(0, 12)
    expect(await suggested(hub)).toBe(`answer ${short} allow --input '{"name":"…","count":2}' --data ${hub.data}`)
    const empty = await hub.run(["answer", short, "allow"])
    expect([empty.code, empty.stderr]).toEqual([
      2,
      `signalbox: the form needs name, count: give its fields, such as --input '{"name":"…","count":2}'\n`,
    ])
    const partly = await hub.run(["answer", short, "allow", "--input", '{"name":"staging"}'])
    expect([partly.code, partly.stderr]).toEqual([2, expect.stringContaining("the form needs count")])
    const content = { name: "staging", count: 3 }
    // What all asks' ids begin with may be left out.
    const options = ["--json", "--data", hub.data, "--input", JSON.stringify(content)]
    const settled = await run(["answer", ...options, "--", id.slice(4, 14), "allow"])
    expect(JSON.parse(settled.stdout)).toMatchObject({ id, answer: { action: "accept", content } })
  })

  it("[CL40] a question is not answered by nothing, and a label that a shell would act on is quoted", async () => {
    const hub = await startHub("runner")
    const { id } = await asking(hub, QUESTION)
    expect(await suggested(hub)).toBe(
      `answer ${id.slice(0, 12)} allow --choose 'It'\\''s "Postgres"' --data ${hub.data}`,
    )
    for (const choice of [[], ["--choose", ""]]) {
      const { code, stderr } = await hub.run(["answer", id, "allow", ...choice])
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(/^signalbox: 1 question to answer \("Which database\?"\): give /),
      ])
    }
    const nothing = await hub.run(["answer", "", "allow"])
    expect([nothing.code, nothing.stderr]).toEqual([
      2,
      `signalbox: the id is empty: see "signalbox asks --data ${hub.data}"\n`,
    ])
    expect((await hub.run(["answer", id, "allow", "--choose", "Postgres"])).code).toBe(0)
  })

  it("[CL11] who may not allow a request by its rule is told so with exit code 4", async () => {
    const hub = await startHub("runner")
    const input = JSON.stringify({ rules: [{ id: "second", effect: "ask", tool: "Bash", fourEyes: true }] })
    expect((await hub.run(["policy", "set", "-"], { input })).code).toBe(0)
    const ask = await openAsk(hub)
    const own = await hub.run(["answer", ask, "allow"])
    expect([own.code, own.stderr]).toEqual([4, expect.stringMatching(/^signalbox: admin started this session, so /)])
    expect((await hub.run(["answer", ask, "deny"])).code).toBe(0)
  })

  it("[CL44] --always keeps one grant, the others by number, and no mode changes unasked", async () => {
    const hub = await startHub("runner")
    // The newest CLI suggests a rule, a folder and a mode for this.
    const move = { tool: "Bash", input: { command: "mv a /var/tmp/b" }, result: "ok" }
    const kept = async () =>
      (await hub.call("GET", "/api/grants")).grants.map(
        ({ update }: { readonly update: { readonly type: string } }) => update.type,
      )
    const { id } = await asking(hub, move)
    const listed = await hub.run(["asks"])
    expect(listed.stdout).toMatch(
      /Always allow with ask_[\w-]+:\n {2}1\. allow Bash\(mv.*\(--always\)\n {2}2\. trust \/\S+, .*\n {2}3\. switch to mode acceptEdits, for this session\n/,
    )
    for (const wrong of [["4"], ["1", "--always", "4"]]) {
      const { code, stderr } = await hub.run(["answer", id, "allow", "--always", ...wrong])
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(/^signalbox: choose what to always allow, with --always and a number: .*1\. allow/),
      ])
    }
    expect((await hub.run(["answer", "--always", id, "allow"])).stderr).toContain("put --always last")
    const answered = await hub.run(["answer", id, "allow", "--always"])
    expect([answered.code, await kept()]).toEqual([0, ["addRules"]])
    expect(answered.stderr).toMatch(/^Kept: allow Bash\(mv.*, in this project \(just me\)\n$/)
    const second = await asking(hub, { ...move, input: { command: "mv c /var/tmp/d" } })
    await hub.json("answer", second.id, "allow", "--always", "3", "--always", "2")
    expect((await kept()).toSorted()).toEqual(["addDirectories", "addRules", "setMode"])
  })

  it("[CL44] where only a mode is suggested, --always asks which; where nothing is, it says so", async () => {
    const hub = await startHub("runner")
    const { id } = await asking(hub, { tool: "Write", input: { file_path: "a.txt", content: "a" }, result: "ok" })
    const unclear = await hub.run(["answer", id, "allow", "--always"])
    expect([unclear.code, unclear.stderr]).toEqual([
      2,
      "signalbox: choose what to always allow, with --always and a number: 1. switch to mode acceptEdits, for this session\n",
    ])
    expect((await hub.run(["answer", id, "allow"])).code).toBe(0)
    const question = await asking(hub, QUESTION)
    const none = await hub.run(["answer", question.id, "allow", "--choose", "x", "--always"])
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("offers nothing to always allow")])
  })
})
