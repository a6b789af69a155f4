import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect } from "vitest"
import type { World } from "./world.ts"

/**
 * The pages' examples of what differs on every machine, and what takes their place: the address of a hub, a token, and
 * the ids of things that are made first, as a reader would have made them.
 */
export async function standIn(text: string, world: World): Promise<string> {
  const { hostname, port } = new URL(world.url)
  let result = text
    .replaceAll("https://signalbox.example.org", world.url)
    .replaceAll("http://10.0.0.5:8765", world.url)
    .replaceAll("127.0.0.1:8765", `${hostname}:${port}`)
  const replace = async (word: string, make: () => Promise<string>) => {
    if (result.includes(word)) result = result.replaceAll(word, await make())
  }
  if (result.includes("CLAUDE_CODE_SESSION_ACCESS_TOKEN=…")) {
    const made = await world.hub().launch({ agent: "external" })
    const token = /CLAUDE_CODE_SESSION_ACCESS_TOKEN=(\S+)/.exec(made.ingress?.command ?? "")?.[1] ?? "none"
    result = result.replace("CLAUDE_CODE_SESSION_ACCESS_TOKEN=…", `CLAUDE_CODE_SESSION_ACCESS_TOKEN=${token}`)
    result = result.replace("3f2a", made.id)
  }
  await replace("SIGNALBOX_TOKEN=…", async () => `SIGNALBOX_TOKEN=${await world.runnerToken()}`)
  await replace("1b0e9a52-6f0c-4d0e-9d7e-0c3a1f2b4d5e", () => conversation(world))
  await replace("1b0e9a52", () => stoppedRun(world))
  await replace("3f2a91c4", () => tokenId(world))
  await replace("ask_8c11", () => openAsk(world, wordsFor(result)))
  await replace("grants revoke 8c11", async () => `grants revoke ${await grantId(world)}`)
  await replace("signalbox policy edit", async () => "EDITOR=true signalbox policy edit")
  await replace("3f2a", () => session(world))
  await replace("91c0", () => session(world))
  if (result.includes("~/runner-token")) {
    mkdirSync(join(world.folder, "other"), { recursive: true })
    writeFileSync(join(world.folder, "other/runner-token"), await world.runnerToken(), { mode: 0o600 })
  }
  await replace("postgres://signalbox@db.example.org/signalbox", () => world.database())
  // A directory that no hub uses; to be saved it need not be damaged.
  const [, unused] = /--data (\.\/(?:damaged|stopped))/.exec(result) ?? []
  if (unused !== undefined)
    await world.run(`signalbox backup whole.db && signalbox restore whole.db --data ${unused}; rm -f whole.db`, {
      cwd: world.project,
    })
  if (result.includes("--watch")) await openAsk(world, "permission please")
  return result
}

function wordsFor(command: string): string {
  if (command.includes("--choose")) return "choose please"
  return command.includes("--input") ? "form please" : "permission please"
}

async function session(world: World): Promise<string> {
  const { id } = await world.hub().launch({ cwd: world.project, prompt: "hello" })
  await expect.poll(async () => (await world.hub().session(id).get()).turns, { timeout: 60_000 }).toBe(1)
  return id
}

async function openAsk(world: World, prompt: string): Promise<string> {
  const { id } = await world.hub().launch({ cwd: world.project, prompt })
  const asks = async () => world.hub().asks({ state: "pending", session: id })
  await expect.poll(async () => (await asks()).length, { timeout: 60_000 }).toBe(1)
  return (await asks())[0]?.id ?? "none"
}

/** "Always allow", for one session. */
async function grantId(world: World): Promise<string> {
  const ask = await openAsk(world, "permission please")
  const rules = [{ toolName: "Bash", ruleContent: "touch made" }]
  const updatedPermissions = [{ type: "addRules", rules, behavior: "allow", destination: "session" }]
  await world.hub().answer(ask, { behavior: "allow", updatedPermissions })
  return (await world.hub().grants()).grants.at(-1)?.id ?? "none"
}

/** The id under which the CLI itself recorded a conversation in the project. */
async function conversation(world: World): Promise<string> {
  const id = await session(world)
  return (await world.hub().session(id).get()).agentSessionId ?? "none"
}

async function stoppedRun(world: World): Promise<string> {
  const run = await world.hub().runs.create({ title: "TASKS.md", tasks: [{ text: "One more" }], options: {} })
  await world.hub().runs.change(run.id, { state: "stopped" })
  return run.id
}

async function tokenId(world: World): Promise<string> {
  const made = await world.hub().request({ method: "POST", path: "/api/tokens", body: { role: "viewer" } })
  return (made as { id: string }).id
}
