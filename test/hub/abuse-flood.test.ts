import { afterEach, expect } from "vitest"
import { abuse } from "../gate.ts"
import { abuseCase, Bystander, expectUnharmed, Stage } from "./abuse-actors.ts"
import { RawSocket } from "./abuse-socket.ts"
import type { Json } from "./hub-process.ts"

const stage = new Stage()
afterEach(() => stage.end())

const DELTA = JSON.stringify({
  type: "stream_event",
  event: { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "word " } },
})
const BLOCK = 1_000

abuseCase(
  "[AB16] a hundred thousand deltas a second from one agent do not keep another's message and ask from going through",
  async () => {
    const hub = await stage.hub()
    const bystander = await Bystander.on(stage, hub)
    const agent = await stage.agent(hub)
    const viewer = await stage.viewer(hub, agent.sessionId)
    viewer.isKeeping = false
    const frame = Buffer.from(`${DELTA}\n`.repeat(BLOCK))
    let sent = 0
    const flood = async () => {
      const endsAt = performance.now() + abuse.floodMs
      // On a machine that is busy elsewhere three rounds take longer; what the hub may do in each is bounded all the same.
      while (performance.now() < endsAt || bystander.rounds < 3) {
        agent.socket.write(frame)
        sent += BLOCK
        await agent.socket.drained()
        // As fast as asked for, not faster: the rest of the second belongs to whoever else is here.
        const aheadMs = sent / 100 - (performance.now() - (endsAt - abuse.floodMs))
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, aheadMs)))
      }
    }
    const times = await bystander.workWhile(flood())
    expect(times).toBeGreaterThan(2)
    // Bounded by what the hub reads, not by what we could have sent.
    expect(sent).toBeGreaterThan(abuse.floodMs * 20)
    await expect.poll(() => viewer.received, { timeout: 30_000 }).toBeGreaterThan(1_000_000)
    await expectUnharmed(hub, bystander)
  },
)

abuseCase("[AB17] a message in progress that never ends, with ever new speakers and blocks, is not kept", async () => {
  const hub = await stage.hub()
  const bystander = await Bystander.on(stage, hub)
  const agent = await stage.agent(hub)
  const luggage = "x".repeat(50_000)
  const flood = async () => {
    for (let n = 0; n < 4_000; n += 1) {
      const parent_tool_use_id = n % 2 === 0 ? `speaker ${n}` : "speaker 0"
      const event = n % 2 === 0 ? { type: "message_start", luggage } : deltaOf(n, luggage)
      agent.socket.say({ type: "stream_event", parent_tool_use_id, event })
      await agent.socket.drained()
    }
    agent.speak("over")
  }
  await bystander.workWhile(flood())
  await expectUnharmed(hub, bystander, { maxPeakMb: 450 })
})

function deltaOf(index: number, luggage: string): Json {
  return { type: "content_block_delta", index, luggage, delta: { type: "text_delta", text: "" } }
}

abuseCase("[AB18] forty at once, through REST and raw clients: one wins, one line goes to the agent", async () => {
  const hub = await stage.hub()
  const bystander = await Bystander.on(stage, hub)
  const agent = await stage.agent(hub)
  const url = `${hub.ready.url.replace("http", "ws")}/ws/session/${agent.sessionId}`
  const raws = await Promise.all(Array.from({ length: 20 }, () => RawSocket.open(url, { token: hub.ready.token })))
  for (const raw of raws) stage.onEnd(() => raw.end())
  const requestId = agent.ask()
  const shown = await Promise.all(raws.map((raw) => raw.until((line) => line.type === "control_request")))
  const { asks } = await hub.get(`/api/asks?state=pending&session=${agent.sessionId}`)
  const answers = raws.map(async (raw, index): Promise<{ status: number; body: Json }> => {
    const response = { behavior: "deny", message: `raw ${index}` }
    raw.say({
      type: "control_response",
      response: { subtype: "success", request_id: shown[index].request_id, response },
    })
    return { status: 0, body: {} }
  })
  for (let n = 0; n < 20; n += 1) {
    answers.push(hub.call("POST", `/api/asks/${asks[0].id}/answer`, { behavior: "deny", message: `rest ${n}` }))
  }
  const replies = (await Promise.all(answers)).filter(({ status }) => status !== 0)
  const settled = await hub.get(`/api/asks/${asks[0].id}`)
  expect(settled.state).toBe("denied")
  const won = replies.filter(({ status }) => status === 200)
  expect(won).toHaveLength(settled.answer.message.startsWith("rest") ? 1 : 0)
  expect(replies.filter(({ status, body }) => status === 409 && body.error.code === "ask/settled")).toHaveLength(
    20 - won.length,
  )
  // Its own question after it: whatever else was sent for the first would have come before this one's answer.
  await bystander.work()
  const second = agent.ask()
  const { ask } = await (await stage.viewer(hub, agent.sessionId)).until((line) => line.ask?.requestId === second)
  await hub.post(`/api/asks/${ask.id}/answer`, { behavior: "allow" })
  await agent.socket.until((line) => line.response?.request_id === second)
  const lines = agent.socket.lines.filter((line) => line.response?.request_id === requestId)
  expect(lines).toHaveLength(1)
  expect(lines[0].response.response.message).toBe(settled.answer.message)
  await expectUnharmed(hub, bystander)
})
