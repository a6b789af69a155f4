import { randomBytes } from "node:crypto"
import { readdir, stat } from "node:fs/promises"
import { join } from "node:path"
import { fieldOf, isObject } from "@signalbox/protocol"
import type { Ask as PublicAsk } from "@signalbox/protocol/hub-api"
import { frameText } from "@signalbox/transport"
import { describe, expect, it, onTestFinished } from "vitest"
import { type RawData, WebSocket } from "ws"
import { call, openAgent, openStage, type Stage } from "../clients/stage.ts"

const MB = 1_000_000
/** One million characters that no page of a database packs any better. */
const INPUT = { file_path: "/project/long.txt", content: randomBytes(MB / 2).toString("hex") }

/** A viewer of `/api/stream` that counts what it gets. */
class Viewer {
  readonly lines: Record<string, unknown>[] = []
  bytes = 0
  readonly #socket: WebSocket
  #wakers: (() => void)[] = []

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on("message", (data: RawData) => {
      const text = frameText(data)
      this.bytes += Buffer.byteLength(text)
      for (const line of text.split("\n")) if (line !== "") this.lines.push(JSON.parse(line))
      for (const wake of this.#wakers.splice(0)) wake()
    })
  }

  static async open({ wsUrl, hub }: Stage): Promise<Viewer> {
    const headers = { authorization: `Bearer ${hub.admin.token}` }
    const socket = new WebSocket(`${wsUrl}/api/stream`, { headers })
    onTestFinished(() => socket.close())
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject))
    return new Viewer(socket)
  }

  subscribe(session: string): void {
    this.#socket.send(JSON.stringify({ op: "subscribe", session, after: session === "*" ? undefined : 0 }))
  }

  async find(fits: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
    for (;;) {
      const found = this.lines.find(fits)
      if (found !== undefined) return found
      await new Promise<void>((resolve) => this.#wakers.push(resolve))
    }
  }

  ask(state: string): Promise<Record<string, unknown>> {
    return this.find((line) => fieldOf(line, "ask")?.["state"] === state).then((line) => fieldOf(line, "ask") ?? {})
  }

  answerEvent(): Promise<Record<string, unknown>> {
    return this.find((line) => line["ev"] === "event" && fieldOf(line, "message")?.["type"] === "control_response")
  }
}

async function bytesAtRest({ folder }: Stage): Promise<number> {
  const names = await readdir(folder)
  // A journal of the search index may be gone again.
  const size = (name: string) =>
    stat(join(folder, name)).then(
      (file) => file.size,
      () => 0,
    )
  const sizes = await Promise.all(names.map(size))
  return sizes.reduce((sum, bytes) => sum + bytes, 0)
}

/** Asks with the long input and has it allowed. */
async function askAndAllow(answer: Record<string, unknown>) {
  const stage = await openStage()
  const { agent, id } = await openAgent(stage)
  const viewers = [await Viewer.open(stage), await Viewer.open(stage)]
  for (const viewer of viewers) viewer.subscribe("*")
  for (const viewer of viewers) viewer.subscribe(id)
  await Promise.all(
    viewers.map((viewer) => viewer.find((line) => line["ev"] === "subscribed" && line["session"] === id)),
  )
  const before = { rest: await bytesAtRest(stage), viewers: viewers.map(({ bytes }) => bytes) }
  const answered = agent.ask({ subtype: "can_use_tool", tool_name: "Write", input: INPUT, tool_use_id: "t1" }, "r1")
  const pending = await viewers[0]?.ask("pending")
  const reply = await call(stage, "POST", `/api/asks/${String(pending?.["id"])}/answer`, answer)
  await Promise.all(viewers.flatMap((viewer) => [viewer.ask("allowed"), viewer.answerEvent()]))
  const rest = (await bytesAtRest(stage)) - before.rest
  const told = viewers.map(({ bytes }, index) => bytes - (before.viewers[index] ?? 0))
  return { stage, id, pending, viewers, rest, told, answered, reply: (await reply.json()) as PublicAsk }
}

describe("a tool's input of 1 MB, asked and allowed", () => {
  it.each([
    ["without naming it", { behavior: "allow" }],
    ["by a client that sends it back unchanged", { behavior: "allow", updatedInput: INPUT }],
  ])("[AK19] %s takes at most 2.5 MB at rest and 2.5 MB for each viewer", async (_how, answer) => {
    const { stage, id, rest, told, answered, pending, reply } = await askAndAllow(answer)
    expect({ rest, told }).toEqual({
      rest: expect.toSatisfy(atMost(2.5)),
      told: told.map(() => expect.toSatisfy(atMost(2.5))),
    })
    // The agent gets all of it, and so does everybody who asks for the ask.
    expect(fieldOf(await answered, "response")).toMatchObject({ behavior: "allow", updatedInput: INPUT })
    expect(pending?.["input"]).toEqual(INPUT)
    const shown = { state: "allowed", input: INPUT, request: { input: INPUT }, answer: { updatedInput: INPUT } }
    expect(reply).toMatchObject(shown)
    expect(await (await call(stage, "GET", `/api/asks/${reply.id}`)).json()).toMatchObject(shown)
    const { asks } = (await (await call(stage, "GET", `/api/asks?session=${id}`)).json()) as { asks: unknown[] }
    expect(asks).toMatchObject([shown])
    const audit = (await (await call(stage, "GET", "/api/audit")).json()) as { records: unknown[] }
    const record = audit.records.find((one) => isObject(one) && one["what"] === "ask/allowed")
    expect(record).toMatchObject({ details: { input: INPUT, answer: { behavior: "allow", updatedInput: INPUT } } })
  })
})

function atMost(megabytes: number): (bytes: number) => boolean {
  return (bytes) => bytes <= megabytes * MB
}
