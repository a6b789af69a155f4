import { expect, it } from "vitest"
import { folder, startHub } from "./signalbox-process.ts"

it("[PG35] rm and prune delete ended sessions when they are told to, and nothing without", async () => {
  const hub = await startHub("runner")
  const made = async (title: string): Promise<string> =>
    (await hub.json("new", "--agent", "simulator", "--title", title, "--cwd", folder())).id
  const [first, second] = [await made("the first"), await made("the second")]
  const live = await hub.run(["rm", first, "--yes"])
  expect([live.code, live.stderr]).toEqual([1, expect.stringContaining("has not ended: stop it first")])
  await hub.run(["stop", first, second])
  const alone = await hub.run(["rm", first])
  expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining("--yes")])
  expect(await hub.json("rm", first)).toEqual({ purged: first })
  expect((await hub.run(["log", first])).code).toBe(1)
  expect((await hub.run(["prune", "--older-than", "soon"])).code).toBe(2)
  const old = await hub.json("prune", "--older-than", "1d")
  expect(old).toMatchObject({ count: 0, sessions: [], more: false })
  const dry = await hub.run(["prune", "--older-than", "90d", "--dry-run"])
  expect([dry.code, dry.stderr]).toEqual([0, "No ended sessions are older than 90d. Nothing to delete.\n"])
  expect((await hub.json("ls", "--all")).sessions).toMatchObject([{ id: second }])
})
