import type { Run } from "@signalbox/protocol/hub-api"
import { describe, expect, it } from "vitest"
import { runOf } from "../../src/model/purged.ts"
import { RunDesk } from "../../src/runs/run-desk.ts"
import { MemoryDirectory } from "../../src/testing/memory-directory.ts"
import { auditRecord, keptSession } from "../../src/testing/records.ts"
import { openStage, tokenOf } from "../clients/stage.ts"
import { rest } from "./launching.ts"

const NEW_RUN = { title: "All of it", tasks: [{ text: "one" }, { text: "two" }], options: { tries: 3 } }

describe("runs", () => {
  it("[HR40] are recorded, changed and found again, also after a restart", async () => {
    const stage = await openStage()
    const operator = await tokenOf(stage, "operator")
    const created = await rest<Run>(stage, "POST", "/api/runs", { body: NEW_RUN, token: operator.token })
    expect(created).toMatchObject({ status: 201, body: { state: "running", createdBy: "a operator" } })
    const { id } = created.body
    expect(created.body.tasks).toEqual([
      { text: "one", state: "waiting" },
      { text: "two", state: "waiting" },
    ])
    const done = { state: "done", session: "s1", tries: 2, costUsd: 0.25, note: "fine" }
    await rest(stage, "PATCH", `/api/runs/${id}/tasks/1`, { body: done })
    await rest(stage, "PATCH", `/api/runs/${id}`, { body: { state: "stopped", note: "Ctrl-C" } })
    const newer = await rest<Run>(stage, "POST", "/api/runs", { body: { ...NEW_RUN, title: "More" } })
    const again = await stage.reopen()
    const kept = await rest<Run>(again, "GET", `/api/runs/${id}`)
    expect(kept.body).toMatchObject({ ...NEW_RUN, state: "stopped", note: "Ctrl-C" })
    expect(kept.body.tasks).toEqual([
      { text: "one", ...done },
      { text: "two", state: "waiting" },
    ])
    const listed = await rest<{ runs: Run[]; more: boolean }>(again, "GET", "/api/runs?limit=1")
    expect(listed.body).toMatchObject({ runs: [{ id: newer.body.id }], more: true })
  })

  it("[HR40] no more than 1,000 are kept, the newest", async () => {
    const directory = new MemoryDirectory()
    const desk = new RunDesk({ directory })
    const first = await desk.create(NEW_RUN, "somebody")
    for (let index = 0; index < 1_000; index++) await desk.create(NEW_RUN, "somebody")
    expect((await desk.list(2_000)).runs).toHaveLength(1_000)
    await expect(desk.get(first.id)).rejects.toMatchObject({ code: "run/unknown" })
  })

  it("[HR41] tasks are counted from 1, and changes at the same time are all there", async () => {
    const stage = await openStage()
    const { body: run } = await rest<Run>(stage, "POST", "/api/runs", { body: NEW_RUN })
    await Promise.all(
      [1, 2].map((task) => rest(stage, "PATCH", `/api/runs/${run.id}/tasks/${task}`, { body: { state: "running" } })),
    )
    const { tasks } = (await rest<Run>(stage, "GET", `/api/runs/${run.id}`)).body
    expect(tasks.map(({ state }) => state)).toEqual(["running", "running"])
    for (const path of [`/api/runs/${run.id}/tasks/3`, `/api/runs/${run.id}/tasks/0`, "/api/runs/nowhere/tasks/1"]) {
      const refused = await rest(stage, "PATCH", path, { body: { state: "done" } })
      expect(refused).toMatchObject({ status: 404, body: { error: { code: "run/unknown" } } })
    }
  })

  it("[HR40] one that was named and never written does not hide the others", async () => {
    const directory = new MemoryDirectory()
    const desk = new RunDesk({ directory })
    const { id } = await desk.create(NEW_RUN, "ada")
    await directory.putDocument("runs", [id, "lost"])
    expect(await desk.list(10)).toMatchObject({ runs: [{ id }], more: false })
  })

  it("[PG6] a purge of the session that did a task takes its text and its note", async () => {
    const directory = new MemoryDirectory()
    const desk = new RunDesk({ directory })
    for (const id of ["s1", "s2"]) await directory.saveSession(keptSession(id, { state: "ended" }))
    const { id } = await desk.create(NEW_RUN, "ada")
    await desk.changeTask(id, 1, { state: "running", session: "s1" })
    await desk.changeTask(id, 1, { state: "done", note: "it went well" })
    await desk.changeTask(id, 2, { state: "running", session: "nobody's" })
    expect(await directory.getDocument(runOf("nobody's"))).toBeUndefined()
    await desk.changeTask(id, 2, { state: "failed", session: "s2" })
    await directory.purgeSession("s1", auditRecord("session/purged", "s1"))
    expect((await desk.get(id)).tasks).toEqual([
      { text: "", state: "done", session: "s1" },
      { text: "two", state: "failed", session: "s2" },
    ])
  })
})
