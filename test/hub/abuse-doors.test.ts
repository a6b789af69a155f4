import { afterEach, expect } from "vitest"
import { abuseCase, Bystander, expectUnharmed, type PlayedAgent, Stage, socketUrl, streamUrl } from "./abuse-actors.ts"
import { RawSocket } from "./abuse-socket.ts"
import type { HubProcess, Json } from "./hub-process.ts"

const stage = new Stage()
afterEach(() => stage.end())

interface Door {
  readonly name: string
  readonly knock: (headers: Readonly<Record<string, string>>) => Promise<number>
  /** What it answers to: nobody, a wrong token, viewer, operator, admin, runner, another session's agent. */
  readonly answers: readonly number[]
}

const READERS = [401, 401, 200, 200, 200, 403, 403]
const SOCKETS = [401, 401, 101, 101, 101, 403, 403]
/** Who brings no token may still bring one in the first line. */
const RAW_SOCKETS = [101, 401, 101, 101, 101, 403, 403]
const AGENTS_ONLY = [401, 401, 401, 401, 401, 401, 401]

function doorsOf(hub: HubProcess, agent: PlayedAgent): readonly Door[] {
  const id = agent.sessionId
  const rest = (method: string, path: string, body?: Json) => async (headers: Readonly<Record<string, string>>) => {
    const type = body === undefined ? {} : { "content-type": "application/json" }
    const response = await fetch(`${hub.ready.url}${path}`, {
      method,
      headers: { ...headers, ...type },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    await response.body?.cancel()
    return response.status
  }
  const upgrade = (path: string) => async (headers: Readonly<Record<string, string>>) => {
    const opened = await RawSocket.upgrade(`${socketUrl(hub)}${path}`, { headers })
    if (!(opened instanceof RawSocket)) return opened.status
    opened.end()
    return 101
  }
  return [
    { name: "reading", knock: rest("GET", "/api/sessions"), answers: READERS },
    { name: "an unknown session", knock: rest("GET", "/api/sessions/x"), answers: [401, 401, 404, 404, 404, 403, 403] },
    {
      name: "sending",
      knock: rest("POST", `/api/sessions/${id}/messages`, { content: "x" }),
      answers: [401, 401, 403, 202, 202, 403, 403],
    },
    { name: "tokens", knock: rest("GET", "/api/tokens"), answers: [401, 401, 403, 403, 200, 403, 403] },
    { name: "/v1 stream", knock: rest("GET", `/v1/code/sessions/${id}/events/stream`), answers: READERS },
    { name: "/v1 events", knock: rest("POST", `/v1/code/sessions/${id}/events`, { events: [] }), answers: READERS },
    { name: "/sessions", knock: rest("POST", "/sessions", {}), answers: [401, 401, 403, 409, 409, 403, 403] },
    { name: "/api/stream", knock: upgrade("/api/stream"), answers: SOCKETS },
    { name: "/ws/session", knock: upgrade(`/ws/session/${id}`), answers: RAW_SOCKETS },
    { name: "/ws", knock: upgrade("/ws"), answers: RAW_SOCKETS },
    { name: "an agent's", knock: upgrade(`/ws/cli/${id}`), answers: AGENTS_ONLY },
    {
      name: "an agent's posts",
      knock: rest("POST", `/session/cli/${id}/events`, { events: [] }),
      answers: AGENTS_ONLY,
    },
  ]
}

async function tokenOf(hub: HubProcess, role: string): Promise<{ id: string; token: string }> {
  return hub.post("/api/tokens", { role })
}

abuseCase("[AB19] lets in whom it is for and nobody else, whatever token is shown", async () => {
  const hub = await stage.hub()
  const bystander = await Bystander.on(stage, hub)
  const agent = await stage.agent(hub)
  const made = await Promise.all(["viewer", "operator", "admin", "runner"].map((role) => tokenOf(hub, role)))
  const tokens = ["sbx_wrong", ...made.map(({ token }) => token), bystander.agent.ingress.token]
  for (const { name, knock, answers } of doorsOf(hub, agent)) {
    const got = [await knock({})]
    for (const token of tokens) got.push(await knock({ Authorization: `Bearer ${token}` }))
    expect(got, name).toEqual(answers)
  }
  // A token in the URL is none.
  const inUrl = await fetch(`${hub.ready.url}/api/sessions?token=${hub.ready.token}`)
  expect(inUrl.status).toBe(401)
  await expectUnharmed(hub, bystander)
})

abuseCase("[AB20] refuses foreign Origins and Hosts before anything else, with the right token too", async () => {
  const hub = await stage.hub(["--anonymous-relay", "--anonymous-agents"])
  const bystander = await Bystander.on(stage, hub)
  const agent = await stage.agent(hub)
  const foreign = [
    { Origin: "https://evil.example" },
    { Origin: "null" },
    { Origin: "http://127.0.0.1:1" },
    { Origin: `${hub.ready.url}.evil.example` },
  ]
  for (const { name, knock } of doorsOf(hub, agent)) {
    const own = name.startsWith("an agent's") ? agent.ingress.token : hub.ready.token
    for (const headers of foreign) {
      expect(await knock({ ...headers, Authorization: `Bearer ${own}` }), `${name} ${headers.Origin}`).toBe(403)
      expect(await knock(headers), `${name} ${headers.Origin}, without a token`).toBe(403)
    }
  }
  const { port } = new URL(hub.ready.url)
  for (const path of ["/api/stream", `/ws/session/${agent.sessionId}`, "/ws", agent.ingress.url, "/"]) {
    const url = new URL(path, `${socketUrl(hub)}/`).href
    for (const Host of ["evil.example", `evil.example:${port}`, "127.0.0.1.evil.example", ""]) {
      const refused = await RawSocket.upgrade(url, { token: hub.ready.token, headers: { Host } })
      expect(refused, `${path} as ${Host}`).toMatchObject({ status: Host === "" ? expect.any(Number) : 403 })
      expect(refused).not.toBeInstanceOf(RawSocket)
    }
  }
  await expectUnharmed(hub, bystander)
})

abuseCase("[AB21] an id that is a path, a prototype's name or rubbish is an unknown thing", async () => {
  const hub = await stage.hub()
  const bystander = await Bystander.on(stage, hub)
  const ids = [
    "..%2f..%2fadmin-token",
    "%2e%2e%2fsignalbox.db",
    "..%5c..%5cadmin-token",
    "%00",
    "a%00b",
    "%ff%fe",
    "%",
    "%zz",
    "__proto__",
    "constructor",
    "*",
    "%27%20OR%201=1--",
    "%ud800",
    "x".repeat(5_000),
  ]
  const places = [
    ["GET", (id: string) => `/api/sessions/${id}`],
    ["DELETE", (id: string) => `/api/sessions/${id}`],
    ["GET", (id: string) => `/api/sessions/${id}/events`],
    ["GET", (id: string) => `/api/sessions/${id}/outline`],
    ["POST", (id: string) => `/api/sessions/${id}/interrupt`],
    ["DELETE", (id: string) => `/api/sessions/${bystander.agent.sessionId}/messages/${id}`],
    ["GET", (id: string) => `/api/asks/${id}`],
    ["DELETE", (id: string) => `/api/grants/${id}`],
    ["DELETE", (id: string) => `/api/tokens/${id}`],
    ["GET", (id: string) => `/api/runners/${id}/folders?path=${id}`],
    ["GET", (id: string) => `/api/runs/${id}`],
    ["GET", (id: string) => `/v1/code/sessions/${id}/events/stream`],
    ["DELETE", (id: string) => `/sessions/${id}`],
    ["GET", (id: string) => `/${id}`],
  ] as const
  for (const [method, path] of places) {
    for (const id of ids) {
      const response = await fetch(`${hub.ready.url}${path(id)}`, {
        method,
        headers: { authorization: `Bearer ${hub.ready.token}` },
      })
      expect([400, 404], `${method} ${path(id).slice(0, 80)}`).toContain(response.status)
      expect(await response.text()).not.toContain(hub.ready.token)
    }
  }
  for (const id of ids) {
    for (const path of [`/ws/session/${id}`, `/ws/cli/${id}`, `/ws/../${id}`, `/a/ws/${id}`]) {
      const refused = await RawSocket.upgrade(`${socketUrl(hub)}${path}`, { token: hub.ready.token })
      expect(refused, path.slice(0, 80)).not.toBeInstanceOf(RawSocket)
      if (!(refused instanceof RawSocket)) expect([400, 401, 404], path.slice(0, 80)).toContain(refused.status)
    }
  }
  await expectUnharmed(hub, bystander)
})

abuseCase("[AB22] a token that is revoked closes what it has open, at every door, and nothing else", async () => {
  const hub = await stage.hub()
  const bystander = await Bystander.on(stage, hub)
  const agent = await stage.agent(hub)
  const operator = await tokenOf(hub, "operator")
  const login = await fetch(`${hub.ready.url}/api/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token: operator.token }),
  })
  const Cookie = login.headers.get("set-cookie")?.split(";")[0] ?? ""
  const raw = `${socketUrl(hub)}/ws/session/${agent.sessionId}`
  const open = [
    await stage.socket(streamUrl(hub), operator.token),
    await RawSocket.open(streamUrl(hub), { headers: { Cookie } }),
    await stage.socket(raw, operator.token),
    await stage.socket(`${socketUrl(hub)}/ws`, operator.token),
    await stage.socket(raw),
    await stage.socket(`${socketUrl(hub)}/ws`),
  ]
  for (const socket of open.slice(-2)) {
    socket.say({ type: "auth", credential: { type: "oauth", token: operator.token } })
    await expect.poll(async () => (await hub.get(`/api/sessions/${agent.sessionId}`)).viewers).toBeGreaterThan(1)
  }
  const sse = await fetch(`${hub.ready.url}/v1/code/sessions/${agent.sessionId}/events/stream`, {
    headers: { authorization: `Bearer ${operator.token}` },
  })
  const streamed = sse.text()
  await hub.call("DELETE", `/api/tokens/${operator.id}`)
  expect(await Promise.all(open.map((socket) => socket.closed))).toEqual(open.map(() => 4001))
  await streamed
  expect((await hub.call("GET", "/api/sessions", undefined, operator.token)).status).toBe(401)
  expect(agent.socket.isOpen).toBe(true)
  const { tokens } = await hub.get("/api/tokens")
  const ofAgent = tokens.find((token: Json) => token.role === "agent" && token.sessionId === agent.sessionId)
  await hub.call("DELETE", `/api/tokens/${ofAgent.id}`)
  expect(await agent.socket.closed).toBe(4001)
  const again = await RawSocket.upgrade(agent.ingress.url, { token: agent.ingress.token })
  expect(again).toMatchObject({ status: 401 })
  await expectUnharmed(hub, bystander)
})

abuseCase(
  "[AB31] strangers who send half a line in little pieces, or fill the room, keep nobody else waiting",
  async () => {
    const hub = await stage.hub()
    const bystander = await Bystander.on(stage, hub)
    const url = `${socketUrl(hub)}/ws/session/${bystander.agent.sessionId}`
    const pieces = async (socket: RawSocket) => {
      socket.write('{"type":"auth","x":"')
      const piece = Buffer.from(`${"x".repeat(4_000)}}`)
      for (let n = 0; n < 2_500 && socket.isOpen; n += 1) {
        socket.write(piece)
        await socket.drained()
      }
    }
    const strangers = await Promise.all(Array.from({ length: 4 }, () => stage.socket(url)))
    await bystander.workWhile(Promise.all(strangers.map(pieces)), 3_000)
    const crowd = await Promise.all(Array.from({ length: 700 }, () => RawSocket.upgrade(url)))
    for (const one of crowd) if (one instanceof RawSocket) stage.onEnd(() => one.end())
    expect(crowd.filter((one) => !(one instanceof RawSocket)).length, "refused for want of room").toBeGreaterThan(50)
    const known = await stage.socket(url, hub.ready.token)
    known.say({ type: "control_request", request_id: "i", request: { subtype: "initialize" } })
    await known.until((line) => line.response?.request_id === "i")
    await expectUnharmed(hub, bystander)
  },
)

abuseCase(
  "[AB23] guessing is throttled, by login and by the first line of a socket alike; who is signed in does not notice",
  async () => {
    const hub = await stage.hub()
    const bystander = await Bystander.on(stage, hub)
    const guess = (token: string) =>
      fetch(`${hub.ready.url}/api/login`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ token }),
      })
    for (let n = 0; n < 5; n += 1) {
      const socket = await stage.socket(`${socketUrl(hub)}/ws`)
      socket.say({ type: "auth", credential: { type: "oauth", token: `sbx_guess${n}` } })
      expect(await socket.closed).toBe(4001)
    }
    const replies = await Promise.all(Array.from({ length: 20 }, (_, n) => guess(`sbx_guess${n}`)))
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(5)
    const throttled = replies.filter(({ status }) => status === 429)
    expect(throttled).toHaveLength(15)
    expect(Number(throttled[0]?.headers.get("retry-after"))).toBeGreaterThan(0)
    expect((await guess(hub.ready.token)).status).toBe(200)
    await expectUnharmed(hub, bystander)
  },
)
