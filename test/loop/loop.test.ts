import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Scenario } from "@signalbox/simulator"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { LoopScene, livingIn, mostAtOnce, POLL } from "./loop-scene.ts"

const scene = new LoopScene()
beforeAll(() => scene.startHub())
afterAll(() => scene.dispose())

const answers: Scenario = { turns: [{ repeat: true, steps: [{ say: "Done." }], costUsd: 0.25 }] }
const asksFirst: Scenario = {
  turns: [{ repeat: true, steps: [{ tool: "Bash", input: { command: "npm test" }, result: "ok" }, { say: "Done." }] }],
}
/** Never ends by itself; told to go on, it does its task. */
const hangs: Scenario = {
  turns: [
    { on: "You were stopped", repeat: true, steps: [{ say: "Now it is done." }] },
    { repeat: true, steps: [{ say: "One moment." }, { hang: true }] },
  ],
}

describe("signalbox loop", () => {
  it("[LP2] [LP3] [LP10] [LP21] each task has a session of its own, and a failed check goes back to it until it passes", async () => {
    const check = 'test "$SIGNALBOX_TRY" -ge 2 || { echo "$SIGNALBOX_TASK is not yet right"; exit 3; }'
    const list = scene.list("first", "second", "third")
    const loop = scene.loop(list, "--json", "--at-once", "2", "--verify", check, ...scene.playing(answers))
    expect([await loop.exit, loop.said()]).toEqual([0, ""])
    const [{ run: id }] = loop.events("run")
    const run = await scene.run(id)
    expect(run).toMatchObject({ state: "done", title: "TASKS.md", options: { atOnce: 2, verify: check } })
    expect(run.tasks).toMatchObject([1, 2, 3].map(() => ({ state: "done", tries: 2, costUsd: 0.5, note: "" })))
    expect(new Set(run.tasks.map(({ session }: { session: string }) => session)).size).toBe(3)
    expect(mostAtOnce(loop)).toBe(2)
    for (const [index, { session, text }] of run.tasks.entries()) {
      expect(await scene.session(session)).toMatchObject({ state: "ended", turns: 2, title: text })
      const [prompt, again] = await scene.messages(session)
      expect(prompt).toBe(text)
      expect(again).toMatch(new RegExp(`failed \\(exit code 3\\)[^]*\\n${index + 1} is not yet right\\n[^]*${text}$`))
    }
    expect(loop.events("summary")).toMatchObject([{ state: "done", done: 3, failed: 0, turns: 6, costUsd: 1.5 }])
  })

  it("[LP3] [LP20] [LP22] a task whose check never passes has failed, and that is told with the reason", async () => {
    const loop = scene.loop("Do it", "--verify", "exit 7", "--tries", "2", ...scene.playing(answers))
    expect(await loop.exit).toBe(1)
    const text = loop.lines.join("\n")
    expect(text).toMatch(/task 1 of 1 checking \(try 2\) Do it\n/)
    expect(text).toMatch(
      /\nFailed: 0 of 1 done, 1 failed · \$0\.50 · 2 turns · [\d.]+ s\n {2}1\. Do it: exit 7 failed \(exit code 7\) \(signalbox log [0-9a-f]{8} --data \S+\)$/,
    )
  })

  it("[LP3] an agent that dies is started again, told so, and goes on in its session", async () => {
    const scenario: Scenario = { ...answers, faults: ["exit=3@result"] }
    const loop = scene.loop("Be brave", "--json", "--tries", "2", ...scene.playing(scenario))
    expect(await loop.exit).toBe(1)
    const last = loop.events("task").at(-1)
    expect(last).toMatchObject({ state: "failed", tries: 2, note: expect.stringContaining("process ended") })
    expect(await scene.messages(last.session)).toMatchObject([
      "Be brave",
      expect.stringContaining("Continue with the task"),
    ])
  })

  it("[LP4] stops at the cost limit, says so, and goes on when it may cost more", async () => {
    const list = scene.list("a", "b", "c", "d")
    const loop = scene.loop(list, "--json", "--max-cost", "0.5", ...scene.playing(answers))
    expect(await loop.exit).toBe(1)
    const [summary] = loop.events("summary")
    expect(summary).toMatchObject({
      state: "stopped",
      done: 2,
      waiting: 2,
      costUsd: 0.5,
      reason: "--max-cost reached",
    })
    expect(await scene.run(summary.run)).toMatchObject({ state: "stopped", note: "--max-cost reached" })
    const same = scene.loop("--json", "--resume", summary.run)
    expect([await same.exit, same.events("task")]).toEqual([1, []])
    const more = scene.loop("--json", "--resume", summary.run.slice(0, 8), "--max-cost", "5")
    expect(await more.exit).toBe(0)
    expect(more.events("summary")).toMatchObject([{ state: "done", done: 4, turns: 4 }])
  })

  it("[LP5] deny-and-interrupt stops the run, and its agents", async () => {
    const list = scene.list("one", "two", "three")
    const loop = scene.loop(list, "--json", "--at-once", "2", ...scene.playing(asksFirst))
    const [ask, other] = await scene.asks(2)
    await scene.answer(ask.id, { behavior: "deny", message: "Stop all this", interrupt: true })
    expect(await loop.exit).toBe(1)
    const [summary] = loop.events("summary")
    expect(summary).toMatchObject({ state: "stopped", done: 0, waiting: 3 })
    expect(summary.reason).toMatch(/^admin denied and interrupted task [12]$/)
    for (const { sessionId } of [ask, other]) expect(await scene.session(sessionId)).toMatchObject({ state: "ended" })
    await scene.asks(0)
  })

  it("[LP5] who interrupts a task's turn, or stops its session, gives up that task alone", async () => {
    const scenario: Scenario = {
      turns: [
        { on: "slow", steps: [{ hang: true }] },
        { repeat: true, steps: [{ say: "Done." }] },
      ],
    }
    const loop = scene.loop(scene.list("slow one", "slow too", "quick one"), "--json", ...scene.playing(scenario))
    const running = async (task: number): Promise<string> => {
      const told = () => loop.events("task").findLast((event) => event.task === task)?.session
      await expect.poll(told, POLL).toBeTypeOf("string")
      await expect.poll(async () => (await scene.session(told())).state, POLL).toBe("running")
      return told()
    }
    await scene.call("POST", `/api/sessions/${await running(1)}/interrupt`)
    await scene.call("DELETE", `/api/sessions/${await running(2)}`)
    expect(await loop.exit).toBe(1)
    const { tasks, state } = await scene.run(loop.events("summary")[0].run)
    expect([state, ...tasks]).toMatchObject([
      "failed",
      { state: "failed", tries: 1, note: "admin interrupted it" },
      { state: "failed", tries: 1, note: "its session was stopped by admin" },
      { state: "done" },
    ])
  })

  it("[LP6] [LP12] Ctrl-C interrupts and stops agents and checks; a run that was stopped goes on in its sessions", async () => {
    const pid = join(scene.base, "check.pid")
    const check = `if [ "$SIGNALBOX_TASK" = 1 ]; then exit 0; fi; echo $$ > ${pid}; sleep 1000 & sleep 1000`
    const scenario: Scenario = { turns: [{ on: "quick", repeat: true, steps: [{ say: "Done." }] }, ...hangs.turns] }
    const list = scene.list("hang", "quick")
    const loop = scene.loop(list, "--json", "--at-once", "2", "--verify", check, ...scene.playing(scenario))
    await expect.poll(() => existsSync(pid) && readFileSync(pid, "utf8").trim() !== "", POLL).toBe(true)
    const [{ run: id }] = loop.events("run")
    await expect.poll(async () => (await scene.run(id)).tasks[0].session, POLL).toBeTypeOf("string")
    loop.child.kill("SIGINT")
    expect(await loop.exit).toBe(1)
    const group = Number(readFileSync(pid, "utf8"))
    await expect.poll(() => livingIn(group), POLL).toBe(0)
    const stopped = await scene.run(id)
    expect(stopped).toMatchObject({ state: "stopped", note: "you stopped it" })
    expect(stopped.tasks).toMatchObject([1, 2].map(() => ({ state: "waiting", tries: 0, turns: 1 })))
    const sessions = stopped.tasks.map(({ session }: { session: string }) => session)
    for (const session of sessions) expect(await scene.session(session)).toMatchObject({ state: "ended" })
    const again = scene.loop("--json", "--resume", id, "--verify", "true")
    expect(await again.exit).toBe(0)
    const { tasks, state } = await scene.run(id)
    expect([state, ...tasks]).toMatchObject([
      "done",
      ...sessions.map((session: string) => ({ state: "done", session, tries: 1, turns: 2 })),
    ])
  })

  it("[LP23] --list shows the runs, the newest first, as a table or as the hub has them", async () => {
    const first = scene.loop(scene.list("a", "b"), "--json", "--max-turns", "1", ...scene.playing(answers))
    expect(await first.exit).toBe(1)
    const second = scene.loop("Only this", "--json", ...scene.playing(answers))
    expect(await second.exit).toBe(0)
    const ids = [second, first].map((loop) => loop.events("run")[0].run)
    const table = scene.loop("--list")
    expect(await table.exit).toBe(0)
    const [head, newest, before] = table.lines
    expect(head).toMatch(/^RUN +STATE +DONE +FAILED +COST +WHAT +AGE$/)
    expect(newest).toMatch(new RegExp(`^${ids[0].slice(0, 8)} +done +1 of 1 +\\$0\\.25 +Only this`))
    expect(before).toMatch(
      new RegExp(`^${ids[1].slice(0, 8)} +stopped +1 of 2 +\\$0\\.25 +TASKS\\.md: --max-turns reached`),
    )
    const json = scene.loop("--list", "--json")
    expect(await json.exit).toBe(0)
    expect(
      JSON.parse(json.lines[0] ?? "")
        .runs.slice(0, 2)
        .map(({ id }: { id: string }) => id),
    ).toEqual(ids)
  })

  it("[LP8] what is refused for every task is told once, and stops the run", async () => {
    const list = scene.list("one", "two")
    const loop = scene.loop(list, "--json", "--cwd", join(scene.base, "nowhere"), ...scene.playing(answers))
    expect(await loop.exit).toBe(1)
    expect(loop.events("summary")).toMatchObject([
      { state: "stopped", waiting: 2, turns: 0, reason: expect.stringContaining("nowhere") },
    ])
    expect(loop.events("task").filter(({ state }) => state === "working")).toHaveLength(1)
  })

  it("[LP2] with --worktrees each task is worked on and checked on a branch of its own", async () => {
    const repository = join(scene.base, "repository")
    mkdirSync(repository)
    const git = (...args: string[]) =>
      execFileSync("git", ["-C", repository, "-c", "user.name=t", "-c", "user.email=t@example.org", ...args], {
        encoding: "utf8",
      })
    git("init", "--quiet")
    writeFileSync(join(repository, "file"), "text")
    git("add", "file")
    git("commit", "--quiet", "-m", "first")
    const seen = join(scene.base, "seen")
    const check = `git branch --show-current >> ${seen}`
    const list = scene.list("one", "two")
    const loop = scene.loop(
      list,
      "--json",
      "--worktrees",
      "--cwd",
      repository,
      "--verify",
      check,
      ...scene.playing(answers),
    )
    expect([await loop.exit, loop.said()]).toEqual([0, ""])
    const [{ run }] = loop.events("run")
    const branches = [`signalbox/${run.slice(0, 8)}-1`, `signalbox/${run.slice(0, 8)}-2`]
    expect(readFileSync(seen, "utf8").trim().split("\n")).toEqual(branches)
    expect(git("branch", "--list", "signalbox/*").match(/signalbox\/\S+/g)).toEqual(branches)
  })

  it("[LP12] [LP22] wrong use is told before anything is started", async () => {
    for (const args of [
      ["--tries", "0", "x"],
      ["--max-cost", "much", "x"],
      ["missing.md"],
      [],
      ["x", "--agent", "robot"],
      ["x", "--resume", "1"],
      ["x", "--list"],
      ["--resume", "1", "--list"],
    ]) {
      const loop = scene.loop(...args)
      expect({ args, code: await loop.exit, out: loop.lines }).toEqual({ args, code: 2, out: [] })
      expect(loop.said()).toMatch(/^signalbox: [^\n]+\n$/)
    }
    const unknown = scene.loop("--resume", "zzz")
    expect([await unknown.exit, unknown.said()]).toEqual([
      1,
      `signalbox: no run has an id starting with zzz: see "signalbox loop --list --data ${scene.data}"\n`,
    ])
  })
})
