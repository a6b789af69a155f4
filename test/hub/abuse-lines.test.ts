import { randomUUID } from "node:crypto"
import { afterEach, expect } from "vitest"
import { abuseCase, Bystander, expectUnharmed, logged, type PlayedAgent, Stage } from "./abuse-actors.ts"
import type { HubProcess, Json } from "./hub-process.ts"

const stage = new Stage()
afterEach(() => stage.end())

const DEPTH = 100_000
const nested = `${"[".repeat(DEPTH)}${"]".repeat(DEPTH)}`
const deep = `${'{"a":'.repeat(DEPTH)}1${"}".repeat(DEPTH)}`

/** Lines that are no message at all: noted, and gone. */
const RUBBISH: Readonly<Record<string, string | Uint8Array>> = {
  "not JSON": "hello\n",
  "half an object": '{"type":"assistant"\n',
  null: "null\n",
  "a number": "42\n",
  "a text": '"assistant"\n',
  "an array": "[]\n",
  "an array of messages": '[{"type":"assistant"}]\n',
  "no type": "{}\n",
  "a type that is no text": '{"type":{"toString":"x"}}\n',
  "deep arrays": `${nested}\n`,
  "NUL bytes": "\0\0\0\n",
  "bytes that are no UTF-8": Buffer.from([0xff, 0xfe, 0xc0, 0x80, 0x0a]),
  "blank lines": "\n\n   \n\t\n\r\n\n",
  "two objects on one line": '{"type":"user"}{"type":"user"}\n',
}

/** Lines that are messages of some kind, and none that a sane agent writes. */
const HOSTILE: Readonly<Record<string, string>> = {
  "prototype names":
    '{"type":"__proto__","__proto__":{"isAdmin":true},"constructor":{"prototype":{"x":1}},"uuid":"__proto__"}',
  "a type of Object's": '{"type":"constructor","subtype":"toString","uuid":"hasOwnProperty"}',
  "lone surrogates":
    '{"type":"assistant","uuid":"\\ud800","message":{"content":[{"type":"text","text":"\\udfff\\ud800"}]}}',
  "NUL in texts": '{"type":"assistant","uuid":"a\\u0000b","message":{"content":[{"type":"text","text":"\\u0000"}]}}',
  "a uuid that would begin another header": '{"type":"system","subtype":"note","uuid":"x\\r\\nSet-Cookie: a=b"}',
  "huge numbers":
    '{"type":"result","subtype":"success","total_cost_usd":1e999,"usage":{"input_tokens":1e308,"output_tokens":-1e999}}',
  "huge numbers again": '{"type":"result","subtype":"success","total_cost_usd":1e308,"usage":{"input_tokens":1e308}}',
  "numbers that are texts": '{"type":"result","total_cost_usd":"9","usage":{"input_tokens":"9"},"is_error":"no"}',
  "a usage that is a list": '{"type":"result","usage":[1,2,3]}',
  "content of every kind":
    '{"type":"assistant","message":{"content":[null,1,"x",[],{},{"type":"text"},{"type":"text","text":9}]}}',
  "no content": '{"type":"assistant","message":null}',
  "a user message without content": '{"type":"user","message":{}}',
  "a control_response without a response": '{"type":"control_response"}',
  "a control_response to nobody":
    '{"type":"control_response","response":{"subtype":"success","request_id":"hub-nobody"}}',
  "a control_response of null": '{"type":"control_response","response":null}',
  "a control_request without a request": '{"type":"control_request","request_id":"r"}',
  "a control_request without an id": '{"type":"control_request","request":{"subtype":"can_use_tool","input":{}}}',
  "a request of an unknown kind": '{"type":"control_request","request_id":"k","request":{"subtype":"__proto__"}}',
  "a cancel of nothing": '{"type":"control_cancel_request","request_id":"never"}',
  "a cancel without an id": '{"type":"control_cancel_request"}',
  "a stream event without an event": '{"type":"stream_event"}',
  "a stream event of null": '{"type":"stream_event","event":null}',
  "a delta out of nowhere": '{"type":"stream_event","event":{"type":"content_block_delta","index":-1,"delta":null}}',
  "an init of lists": '{"type":"system","subtype":"init","cwd":[],"model":{},"tools":"all","session_id":7}',
  "a system without a subtype": '{"type":"system"}',
  "a keep_alive with luggage": '{"type":"keep_alive","x":[1]}',
  "an unknown type": '{"type":"of tomorrow","uuid":"tomorrow"}',
  "deep fields": `{"type":"of tomorrow","uuid":"deep","x":${deep}}`,
  "many fields": `{"type":"of tomorrow","uuid":"wide",${Array.from({ length: 20_000 }, (_, n) => `"f${n}":${n}`).join(",")}}`,
}

async function eventsOf(hub: HubProcess, id: string): Promise<Json[]> {
  return (await hub.get(`/api/sessions/${id}/events?limit=500`)).events
}

/** Looked for at the end: a page that begins with a giant line has room for nothing else. */
async function untilSaid(hub: HubProcess, agent: PlayedAgent): Promise<void> {
  const uuid = agent.speak("still here")
  const tail = `/api/sessions/${agent.sessionId}/events?before=1000000000&limit=5`
  const isSaid = async () => (await hub.get(tail)).events.some((event: Json) => event.message.uuid === uuid)
  await expect.poll(isSaid, { timeout: 20_000 }).toBe(true)
}

abuseCase("[AB1] what is no message is dropped and noted; the agent's next line counts", async () => {
  const hub = await stage.hub()
  const bystander = await Bystander.on(stage, hub)
  const agent = await stage.agent(hub)
  for (const bytes of Object.values(RUBBISH)) agent.socket.write(bytes)
  await untilSaid(hub, agent)
  const events = await eventsOf(hub, agent.sessionId)
  expect(events.filter((event) => event.from === "agent")).toHaveLength(1)
  expect(logged(hub, 40).filter((line) => line.msg === "a malformed line").length).toBeGreaterThan(5)
  await expectUnharmed(hub, bystander)
})

abuseCase(
  "[AB2] what is a message of any shape is kept as it came, and the session can still be read and used",
  async () => {
    const hub = await stage.hub()
    const bystander = await Bystander.on(stage, hub)
    const agent = await stage.agent(hub)
    for (const line of Object.values(HOSTILE)) agent.socket.write(`${line}\n`)
    await untilSaid(hub, agent)
    const text = await (await fetch(`${hub.ready.url}/api/sessions/${agent.sessionId}/events`, authorized(hub))).text()
    for (const name of ["prototype names", "lone surrogates", "NUL in texts", "deep fields"]) {
      expect(text.includes(HOSTILE[name] ?? "?"), name).toBe(true)
    }
    const session = await hub.get(`/api/sessions/${agent.sessionId}`)
    for (const number of [session.costUsd, ...Object.values<number>(session.tokens)]) {
      expect(Number.isFinite(number) && number >= 0, JSON.stringify(session)).toBe(true)
    }
    const viewer = await stage.viewer(hub, agent.sessionId)
    await viewer.until((line) => line.ev === "event" && line.message.uuid === "wide")
    await expectUnharmed(hub, bystander)
  },
)

abuseCase("[AB3] an agent whose last uuid fits in no header comes back all the same", async () => {
  const hub = await stage.hub()
  const bystander = await Bystander.on(stage, hub)
  const agent = await stage.agent(hub)
  agent.socket.say({ type: "system", subtype: "note", uuid: "x\r\nSet-Cookie: a=b" })
  await expect.poll(async () => (await eventsOf(hub, agent.sessionId)).length).toBeGreaterThan(1)
  agent.socket.end()
  const again = await stage.socket(agent.ingress.url, agent.ingress.token)
  await again.until((line) => line.request?.subtype === "initialize")
  await expectUnharmed(hub, bystander)
})

abuseCase(
  "[AB4] a question of any shape is an ask that can be answered, or is refused to the agent: never left hanging",
  async () => {
    const hub = await stage.hub()
    const bystander = await Bystander.on(stage, hub)
    const agent = await stage.agent(hub)
    const requests: Readonly<Record<string, string>> = {
      deep: `{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":${deep}}}`,
      surrogate: '{"subtype":"can_use_tool","tool_name":"\\ud800","input":{"command":"\\ud800\\u0000"}}',
      prototype:
        '{"subtype":"can_use_tool","tool_name":"__proto__","input":{"__proto__":{"command":"x"}},"permission_suggestions":{"a":1}}',
      bare: '{"subtype":"can_use_tool"}',
      suggestions:
        '{"subtype":"can_use_tool","tool_name":"Bash","input":{},"permission_suggestions":[null,1,{"type":"addRules"}]}',
      elicitation: '{"subtype":"elicitation","message":7,"requestedSchema":[]}',
      dialog: '{"subtype":"request_user_dialog","dialog":null}',
    }
    for (const [name, request] of Object.entries(requests)) {
      agent.socket.write(`{"type":"control_request","request_id":"${name}","request":${request}}\n`)
    }
    for (const name of Object.keys(requests)) {
      await expect.poll(() => answerOrRefusal(hub, agent, name), { timeout: 20_000 }).toMatch(/^(answered|refused)$/)
    }
    await expectUnharmed(hub, bystander)
  },
)

function authorized(hub: HubProcess): RequestInit {
  return { headers: { authorization: `Bearer ${hub.ready.token}` } }
}

async function answerOrRefusal(hub: HubProcess, agent: PlayedAgent, requestId: string): Promise<string> {
  const reply = agent.socket.lines.find((line) => line.response?.request_id === requestId)
  if (reply !== undefined) return reply.response.subtype === "error" ? "refused" : "answered"
  const { asks } = await hub.get(`/api/asks?state=pending&session=${agent.sessionId}`)
  const ask = asks.find((one: Json) => one.requestId === requestId)
  if (ask === undefined) return "not seen"
  const body =
    ask.kind === "elicitation"
      ? { action: "cancel" }
      : ask.kind === "dialog"
        ? { cancelled: true }
        : { behavior: "deny" }
  const { status } = await hub.call("POST", `/api/asks/${ask.id}/answer`, body)
  return `answer ${status}`
}

abuseCase(
  "[AB5] a line within the bound is kept whole, one over it is dropped, a frame over it ends the connection",
  async () => {
    const hub = await stage.hub()
    const bystander = await Bystander.on(stage, hub)
    const agent = await stage.agent(hub)
    const piece = Buffer.alloc(4 * 1024 * 1024, "x")
    const uuid = randomUUID()
    const abuse = async () => {
      agent.socket.write(`{"type":"of tomorrow","uuid":"${uuid}","x":"`)
      for (let n = 0; n < 7; n += 1) agent.socket.write(piece)
      agent.socket.write('"}\n')
      agent.socket.write('{"type":"of tomorrow","uuid":"too long","x":"')
      for (let n = 0; n < 20; n += 1) {
        agent.socket.write(piece)
        await agent.socket.drained()
      }
      agent.socket.write('"}\n')
      await untilSaid(hub, agent)
      agent.socket.write(Buffer.alloc(65 * 1024 * 1024, "y"))
      expect(await agent.socket.closed).toBe(1009)
    }
    await bystander.workWhile(abuse())
    const head = (await hub.get(`/api/sessions/${agent.sessionId}/events?after=1&limit=1`)).events
    const kept = head.find((event: Json) => event.message.uuid === uuid)
    expect(kept?.message.x.length).toBe(28 * 1024 * 1024)
    expect(hub.log).toContain("too long and dropped")
    await expectUnharmed(hub, bystander, { maxPeakMb: 900 })
  },
)

abuseCase("[AB6] half a line and then silence holds nobody up and is no line", async () => {
  const hub = await stage.hub()
  const bystander = await Bystander.on(stage, hub)
  const agents = await Promise.all(Array.from({ length: 20 }, () => stage.agent(hub)))
  for (const agent of agents) agent.socket.write(`{"type":"of tomorrow","x":"${"x".repeat(100_000)}`)
  // Half a frame: its head promises more than ever comes.
  for (const agent of agents) agent.socket.socket.write(Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff]))
  await bystander.work()
  for (const agent of agents) {
    expect((await eventsOf(hub, agent.sessionId)).filter((event) => event.from === "agent")).toEqual([])
  }
  await expectUnharmed(hub, bystander)
})

abuseCase("[AB7] a flood of rubbish does not flood the log", async () => {
  const hub = await stage.hub()
  const bystander = await Bystander.on(stage, hub)
  const agent = await stage.agent(hub)
  const flood = async () => {
    const frame = Buffer.from("rubbish\n".repeat(10_000))
    for (let n = 0; n < 20; n += 1) {
      agent.socket.write(frame)
      await agent.socket.drained()
    }
    await untilSaid(hub, agent)
  }
  await bystander.workWhile(flood())
  expect(hub.log.length).toBeLessThan(200_000)
  await expectUnharmed(hub, bystander)
})

abuseCase("[AB8] a new session_id on every line makes no more than a few sessions", async () => {
  const hub = await stage.hub()
  const bystander = await Bystander.on(stage, hub)
  const agent = await stage.agent(hub)
  const lines = Array.from(
    { length: 2_000 },
    (_, n) => `{"type":"assistant","uuid":"${n}","session_id":"s${n}","message":{"content":[]}}`,
  )
  agent.socket.write(`${lines.join("\n")}\n`)
  const last = async () => {
    let id = agent.sessionId
    for (let hops = 0; hops < 2_100; hops += 1) {
      const session = await hub.get(`/api/sessions/${id}`)
      if (session.next === undefined) break
      id = session.next
    }
    return (await hub.get(`/api/sessions/${id}/events?before=1000000&limit=1`)).events[0]?.message.uuid
  }
  await bystander.workWhile(expect.poll(last, { timeout: 30_000 }).toBe("1999"))
  expect((await hub.get("/api/sessions?limit=500")).sessions.length).toBeLessThan(200)
  await expectUnharmed(hub, bystander)
})

abuseCase(
  "[AB9] an initialize reply, a title and a folder of megabytes are not carried around in every record",
  async () => {
    const hub = await stage.hub()
    const bystander = await Bystander.on(stage, hub)
    const { id, ingress } = await hub.post("/api/sessions", { agent: "external" })
    const socket = await stage.socket(ingress.url, ingress.token)
    const { request_id } = await socket.until((line) => line.request?.subtype === "initialize")
    const big = "x".repeat(8 * 1024 * 1024)
    socket.say({
      type: "control_response",
      response: { subtype: "success", request_id, response: { claude_code_version: big, models: [big] } },
    })
    socket.say({
      type: "system",
      subtype: "init",
      uuid: "i",
      session_id: big,
      cwd: big,
      model: big,
      claude_code_version: big,
    })
    socket.say({ type: "system", subtype: "session_title_changed", uuid: "t", title: big })
    const chatter = async () => {
      for (let n = 0; n < 200; n += 1) {
        socket.say({ type: "assistant", uuid: `a${n}`, message: { content: [{ type: "text", text: `${n}` }] } })
        await hub.get(`/api/sessions/${id}`)
      }
    }
    await bystander.workWhile(chatter())
    expect(JSON.stringify(await hub.get(`/api/sessions/${id}`)).length).toBeLessThan(50_000)
    await expectUnharmed(hub, bystander, { maxPeakMb: 900 })
  },
)

abuseCase("[AB10] a flood of questions is bounded: those past the bound are refused to the agent", async () => {
  const hub = await stage.hub()
  const bystander = await Bystander.on(stage, hub)
  const agent = await stage.agent(hub)
  const questions = Array.from(
    { length: 5_000 },
    (_, n) =>
      `{"type":"control_request","request_id":"q${n}","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"${n}"}}}\n`,
  )
  const flood = async () => {
    agent.socket.write(questions.join(""))
    await agent.socket.until((line) => line.response?.request_id === "q4999", 60_000)
  }
  await bystander.workWhile(flood())
  const refused = agent.socket.lines.filter((line) => line.response?.subtype === "error")
  expect(refused.length).toBeGreaterThan(3_000)
  const { pendingAsks } = await hub.get(`/api/sessions/${agent.sessionId}`)
  expect(pendingAsks).toBe(5_000 - refused.length)
  await expectUnharmed(hub, bystander)
})
