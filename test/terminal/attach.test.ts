import { dirname, join } from "node:path"
import type { Scenario } from "@signalbox/simulator"
import { afterEach, describe, expect } from "vitest"
import { startAgent } from "../hub/agent-process.ts"
import { HubProcess } from "../hub/hub-process.ts"
import { AskingAgent } from "../web/asking-agent.ts"
import { inTerminal, SIGNALBOX, Terminal, tmux } from "./terminal.ts"

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
})

interface Attached {
  readonly hub: HubProcess
  readonly id: string
  readonly terminal: Terminal
  /** How often a text is among what the agent was told. */
  readonly told: () => Promise<string>
}

/** A hub, a simulated agent that dials it, and somebody who watches. */
async function attach(scenario: Scenario, size: readonly [number, number] = [80, 24]): Promise<Attached> {
  const hub = await HubProcess.start(["--no-runner"])
  cleanUps.push(() => hub.dispose())
  const { id, ingress } = await hub.post("/api/sessions", { agent: "external", prompt: "begin", title: "A journey" })
  const agent = await startAgent({
    kind: "simulator",
    version: "2.1.120",
    url: ingress.url,
    token: ingress.token,
    scenario,
  })
  cleanUps.push(() => agent.dispose())
  const terminal = await watch(hub, id, size)
  const told = async () => JSON.stringify((await hub.get(`/api/sessions/${id}/events?limit=500`)).events)
  return { hub, id, terminal, told }
}

async function watch(hub: HubProcess, id: string, [width, height]: readonly [number, number]): Promise<Terminal> {
  const command = [process.execPath, SIGNALBOX, "attach", id, "--data", hub.data]
  const terminal = await Terminal.open({ width, height, command })
  cleanUps.push(() => terminal.close())
  return terminal
}

const bash = (command: string, result: string) => ({ tool: "Bash", input: { command }, result })
const POLL = { timeout: 30_000, interval: 100 }

describe.skipIf(tmux === undefined)("signalbox attach, in a terminal", () => {
  for (const [name, width, height] of [
    ["AT1 80", 80, 24],
    ["AT1 200", 200, 60],
  ] as const) {
    inTerminal(
      name,
      `[AT1] at ${width}×${height} shows a session and answers its ask; the terminal is as it was when it is left`,
      async () => {
        const scenario: Scenario = {
          turns: [{ steps: [{ say: "I run it." }, bash("npm test", "12 passed"), { say: "All is well." }] }],
        }
        const { terminal } = await attach(scenario, [width, height])
        const asked = await terminal.shows(/^A journey +waiting[^]*┌─ Allow Bash\?[^]*\$ npm test[^]*Tab: answer/)
        expect(asked).toContain("I run it.")
        expect(asked.split("\n").every((line) => line.length <= width)).toBe(true)
        await terminal.press("Tab")
        await terminal.shows("y allow")
        await expect.poll(async () => (await terminal.press("y"), terminal.screen()), POLL).toContain("All is well.")
        await terminal.shows(/^A journey +idle[^]*● \$ npm test[^]*12 passed[^]*── Done/)
        expect(await terminal.flag("alternate_on")).toBe("1")
        await terminal.press("C-c")
        const left = await terminal.shows("exit code 0")
        expect(left).toMatch(/^before\nexit code 0/)
        expect([await terminal.flag("alternate_on"), await terminal.flag("cursor_flag")]).toEqual(["0", "1"])
      },
    )
  }

  inTerminal("AT2 letters", "[AT2] letters typed into a message while an ask comes up answer nothing", async () => {
    const scenario: Scenario = { turns: [{ steps: [{ say: "Soon." }, { pause: 1500 }, bash("rm -rf build", "gone")] }] }
    const { hub, id, terminal } = await attach(scenario)
    await terminal.shows("Soon.")
    await terminal.type("yyyy")
    await terminal.shows("Tab: answer")
    await terminal.type("yya")
    const screen = await terminal.shows("❯ yyyyyya")
    expect(screen).toContain("waits for an answer")
    expect((await hub.get(`/api/asks?session=${id}&state=pending`)).asks).toHaveLength(1)
  })

  inTerminal(
    "AT2 seen",
    "[AT2] what does not fit on the screen cannot be allowed before its end was seen",
    async () => {
      const command = Array.from({ length: 60 }, (_, index) => `deploy step ${index}`).join("\n")
      const { hub, id, terminal } = await attach({ turns: [{ steps: [bash(command, "ran"), { say: "Done." }] }] })
      await terminal.shows("more lines")
      await terminal.press("Tab")
      await expect
        .poll(async () => (await terminal.press("y"), terminal.screen()), POLL)
        .toContain("Read to the end to allow")
      expect((await hub.get(`/api/asks?session=${id}&state=pending`)).asks).toHaveLength(1)
      for (let step = 0; step < 70; step++) await terminal.press("Down")
      await terminal.shows("y allow")
      await terminal.press("y")
      await terminal.shows("Done.")
    },
  )

  inTerminal("AT2 answers", "[AT2] an answer can be a reason, a changed input, or a choice", async () => {
    const questions = [{ question: "Which colour?", header: "Colour", options: [{ label: "Red" }, { label: "Blue" }] }]
    const steps = [
      bash("one", "1"),
      bash("two", "2"),
      { tool: "AskUserQuestion", input: { questions } },
      { say: "Over." },
    ]
    const { terminal, told } = await attach({ turns: [{ steps }] })
    await terminal.shows(/\$ one[^]*Tab: answer/)
    await terminal.press("Tab")
    await expect.poll(async () => (await terminal.press("n"), terminal.screen()), POLL).toContain("Reason:")
    await terminal.press("C-u")
    await terminal.type("too early")
    await terminal.press("Enter")
    await terminal.shows(/│ \$ two[^]*Tab: answer/)
    await terminal.press("Tab")
    await expect.poll(async () => (await terminal.press("e"), terminal.screen()), POLL).toContain("Instead:")
    await terminal.press("C-u")
    await terminal.type("two --dry")
    await terminal.press("Enter")
    await terminal.shows("y allow this")
    await terminal.press("y")
    await terminal.shows("Which colour?")
    await terminal.press("Tab")
    await terminal.type("2")
    await terminal.press("Enter")
    await terminal.shows("Over.")
    expect(await told()).toMatch(/too early[^]*two --dry[^]*Which colour\?[^]*Blue/)
  })

  inTerminal("AT10", "[AT10] a keeps one grant of several; the others are ticked by number", async () => {
    const steps = [bash("mv a /var/tmp/b", "1"), bash("mv c /var/tmp/d", "2"), { say: "Over." }]
    const { hub, terminal } = await attach({ turns: [{ steps }] })
    const kept = async () =>
      (await hub.get("/api/grants")).grants.map(({ update }: { update: { type: string } }) => update.type)
    await terminal.shows(/\[ \] 1\. trust \/\S+, for this session \(a\)[^]*\[ \] 2\. switch to mode acceptEdits/)
    await terminal.press("Tab")
    await terminal.shows("a always · 1-9 select")
    // Keys count a moment after Tab; this one may be pressed again and again.
    await expect.poll(async () => (await terminal.press("n"), terminal.screen()), POLL).toContain("Reason:")
    await terminal.press("Escape")
    await terminal.shows("a always · 1-9 select")
    await terminal.press("2")
    const ticked = await terminal.shows(/\[x\] 2\.[^]*y allow and keep 1 selected/)
    expect(ticked).not.toContain("a always")
    await terminal.press("2")
    await terminal.shows("a always")
    await terminal.press("a")
    await expect.poll(kept, POLL).toEqual(["addDirectories"])
  })

  inTerminal(
    "AT3",
    "[AT3] a message of several lines is sent; mode and model are switched; Esc interrupts",
    async () => {
      const scenario: Scenario = {
        turns: [{ steps: [{ say: "First." }] }, { steps: [{ say: "Second, and waiting." }, { hang: true }] }],
      }
      const { hub, id, terminal } = await attach(scenario)
      await terminal.shows(/First\.[^]*idle|idle[^]*First\./)
      await terminal.press("BTab")
      await terminal.shows("acceptEdits")
      await terminal.press("C-o")
      await terminal.shows(/❯ default\n +\w+/)
      await terminal.press("Down")
      await terminal.press("Enter")
      await terminal.shows("Model: ")
      await terminal.type("line one")
      await terminal.press("M-Enter")
      await terminal.type("line two")
      await terminal.shows(/❯ line one\n +line two|❯ line one\nline two/)
      await terminal.press("Enter")
      await terminal.shows("Second, and waiting.")
      const { events } = await hub.get(`/api/sessions/${id}/events?limit=500`)
      expect(JSON.stringify(events)).toContain("line one\\nline two")
      await terminal.press("Escape")
      await terminal.shows("Interrupted")
    },
  )

  inTerminal("AT11", "[AT11] Ctrl-T chooses how much it may think, and the header tells it", async () => {
    const { hub, id, terminal } = await attach({ turns: [{ steps: [{ say: "First." }] }] })
    await terminal.shows(/First\.[^]*idle|idle[^]*First\./)
    await terminal.press("C-t")
    await terminal.shows(/❯ Default thinking\n +No thinking\n +Thinking up to 4k/)
    await terminal.press("Down")
    await terminal.press("Enter")
    await expect.poll(async () => (await hub.get(`/api/sessions/${id}`)).maxThinkingTokens, POLL).toBe(0)
    await terminal.shows(/No thinking[^]*First\./)
    await terminal.press("C-t")
    await terminal.shows(/❯ No thinking/)
    await terminal.press("Escape")
  })

  inTerminal("AT12", "[AT12] a plan that stands only in the call is shown with the request about it", async () => {
    const hub = await HubProcess.start(["--no-runner"])
    cleanUps.push(() => hub.dispose())
    const agent = await AskingAgent.dial(hub, { title: "A plan" })
    cleanUps.push(() => agent.end())
    const input = { plan: "1. Read the notes\n2. Write the tests" }
    const content = [{ type: "tool_use", id: "toolu_plan", name: "ExitPlanMode", input }]
    agent.say({ type: "assistant", parent_tool_use_id: null, message: { role: "assistant", content } })
    agent.ask({}, { tool_name: "ExitPlanMode", tool_use_id: "toolu_plan" })
    const terminal = await watch(hub, agent.id, [80, 24])
    await terminal.shows(/Approve the plan\?[^]*│ 1\. Read the notes[^]*│ 2\. Write the tests/)
  })

  inTerminal("AT4", "[AT4] who scrolls up stays there while more is said, and End follows again", async () => {
    const loop = { loop: 40, steps: [{ say: "line number {{n}}" }] }
    const { terminal } = await attach({ turns: [{ steps: [loop] }, { steps: [{ say: "A new thing." }] }] })
    await terminal.shows("line number 40")
    await terminal.press("PageUp")
    const once = await terminal.shows(/End: jump to newest/)
    await terminal.press("PageUp")
    // Drawn a moment after the key: what is kept must be what is seen after the second one.
    await expect.poll(() => terminal.screen(), { timeout: 20_000 }).not.toBe(once)
    const before = await terminal.screen()
    await terminal.type("more")
    await terminal.press("Enter")
    await terminal.shows(/idle/)
    const [top, ...rest] = (await terminal.screen()).split("\n")
    expect(top).toContain("A journey")
    expect(rest.slice(0, 8)).toEqual(before.split("\n").slice(1, 9))
    await terminal.press("End")
    await terminal.shows("A new thing.")
    await terminal.press("Home")
    await terminal.shows("❯ admin")
  })

  inTerminal(
    "AT5",
    "[AT5] when the hub is killed the view says so, and goes on by itself when it is back",
    async () => {
      const { hub, terminal } = await attach({
        turns: [{ steps: [{ say: "Before." }] }, { steps: [{ say: "After." }] }],
      })
      await terminal.shows("Before.")
      await hub.kill()
      await terminal.shows(/Reconnecting \([^]*Last updated/)
      await hub.startAgain()
      await terminal.showsNot("Reconnecting")
      await terminal.type("again")
      await terminal.press("Enter")
      await terminal.shows("After.")
    },
  )

  inTerminal("AT5 elsewhere", "[AT5] [CL35] it goes on also when the hub is back at another port", async () => {
    const { hub, id, terminal } = await attach({ turns: [{ steps: [{ say: "Before." }] }] })
    await terminal.shows("Before.")
    await hub.kill()
    await terminal.shows(/Reconnecting \([^]*Last updated/)
    const { url } = hub.ready
    await hub.startElsewhere()
    expect(hub.ready.url).not.toBe(url)
    await terminal.showsNot("Reconnecting")
    await hub.call("PATCH", `/api/sessions/${id}`, { title: "Another journey" })
    await terminal.shows("Another journey")
  })

  inTerminal("AT6", "[AT6] another size of the terminal is drawn anew, however small", async () => {
    const { terminal } = await attach({ turns: [{ steps: [{ say: "word ".repeat(60) }, bash("deploy", "a")] }] })
    await terminal.shows("Tab: answer")
    for (const [width, height] of [
      [200, 60],
      [40, 12],
      [100, 30],
    ] as const) {
      await terminal.resize(width, height)
      const screen = await terminal.shows(new RegExp(`^A journey +waiting[^]{0,${width}}`))
      await expect
        .poll(
          async () => (await terminal.screen()).split("\n").filter((line) => line.startsWith("A journey")).length,
          POLL,
        )
        .toBe(1)
      expect(screen.split("\n").every((line) => line.length <= width)).toBe(true)
      await terminal.shows("Tab: answer")
    }
  })

  for (const [name, signal] of [
    ["AT7 SIGTERM", "SIGTERM"],
    ["AT7 SIGHUP", "SIGHUP"],
  ] as const) {
    inTerminal(name, `[AT7] after ${signal} the terminal is as it was`, async () => {
      const { terminal } = await attach({ turns: [{ steps: [{ say: "Here." }] }] })
      await terminal.shows("Here.")
      process.kill(await terminal.pid(), signal)
      expect(await terminal.shows("exit code")).toMatch(/^before\nexit code 0/)
      expect([await terminal.flag("alternate_on"), await terminal.flag("cursor_flag")]).toEqual(["0", "1"])
    })
  }

  inTerminal("AT7 crash", "[AT7] after a crash the terminal is as it was, and says what happened", async () => {
    const screen = join(dirname(dirname(SIGNALBOX)), "dist/attach/full-screen.js")
    const code = `const { FullScreen } = await import(${JSON.stringify(screen)})
      new FullScreen({ stdin: process.stdin, stdout: process.stdout, stderr: process.stderr }).enter()
      process.stdin.setRawMode(true)
      console.log("on the other screen")
      process.stdin.once("data", () => { throw new Error("it broke") })`
    const command = [process.execPath, "--input-type=module", "-e", code]
    const terminal = await Terminal.open({ width: 80, height: 24, command })
    cleanUps.push(() => terminal.close())
    await terminal.shows("on the other screen")
    await terminal.press("x")
    expect(await terminal.shows("exit code")).toMatch(/^before\nsignalbox: it broke\nexit code 1/)
    expect([await terminal.flag("alternate_on"), await terminal.flag("cursor_flag")]).toEqual(["0", "1"])
  })

  inTerminal("AT8", "[AT8] what agents and tools say cannot steer the terminal", async () => {
    const hostile = "x\u001b[2J\u001b]0;owned\u0007\u202ey"
    const scenario: Scenario = { turns: [{ steps: [{ say: hostile }, bash(`echo ${hostile}`, hostile)] }] }
    const { terminal } = await attach(scenario, [200, 60])
    const screen = await terminal.shows("Tab: answer")
    expect(screen.match(/x<U\+001B>\[2J<U\+001B>\]0;owned<U\+0007><U\+202E>y/g)?.length).toBeGreaterThanOrEqual(3)
  })
})
