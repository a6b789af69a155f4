import { describe, expect, it } from "vitest"
import {
  createSdkMcpServer,
  InMemorySessionStore,
  type Options,
  query,
  type SDKUserMessage,
  startup,
  tool,
  unstable_v2_createSession,
} from "../src/index.ts"
import { captureOptions, environmentOf } from "../src/launch/capture.ts"
import { type FakeAgent, fakeAgent, hear, result } from "./fake-agent.ts"

const oneTurn = [{ until: "user" }, { say: result() }]

function message(text: string): SDKUserMessage {
  return { type: "user", message: { role: "user", content: text }, parent_tool_use_id: null }
}

function server(tenant: string) {
  return createSdkMcpServer({ name: tenant, tools: [tool(tenant, tenant, {}, async () => ({ content: [] }))] })
}

/** Options that say everywhere whose they are. */
function tenantOptions(tenant: string): Options {
  return {
    mcpServers: { [tenant]: server(tenant), [`${tenant}-out`]: { command: tenant, args: [tenant] } },
    agents: { [tenant]: { description: tenant, prompt: tenant, tools: [tenant] } },
    allowedTools: [tenant],
    hooks: { [tenant === "first" ? "Stop" : "SessionStart"]: [{ hooks: [async () => ({})] }] },
    systemPrompt: { type: "preset", preset: "claude_code", append: tenant },
    outputFormat: { type: "json_schema", schema: { title: tenant } },
    settings: { model: tenant, permissions: { allow: [tenant] } },
    thinking: { type: "enabled", budgetTokens: tenant === "first" ? 1111 : 2222 },
    plugins: [{ type: "local", path: `/${tenant}` }],
    toolAliases: { [tenant]: tenant },
    extraArgs: { [tenant]: tenant },
  }
}

/** Makes every object within `one` say what the same object of `other` says, in place. */
function overwrite(one: object, other: object): void {
  for (const key of Object.keys(one)) if (!(key in other)) Reflect.deleteProperty(one, key)
  for (const [key, value] of Object.entries(other)) {
    const mine: unknown = Reflect.get(one, key)
    const isPlain = typeof mine === "object" && mine !== null && typeof value === "object" && key !== "instance"
    if (isPlain && value !== null) overwrite(mine, value)
    else Reflect.set(one, key, value)
  }
}

/** Everything that reached the agent. */
function told(agent: FakeAgent): string {
  return JSON.stringify([agent.log()[0]?.argv, agent.sent("control_request"), agent.sent("user")])
}

function change(options: Options): void {
  const second = tenantOptions("second")
  for (const [name, value] of Object.entries(second)) overwrite(Reflect.get(options, name), value)
  Object.assign(options.env ?? {}, { TENANT: "second" })
}

function expectFirst(agent: FakeAgent): void {
  expect(told(agent)).toContain("first")
  expect(told(agent)).not.toContain("second")
  expect(told(agent)).not.toContain("2222")
  expect(agent.log()[0]?.env?.["TENANT"]).toBe("first")
}

const env = { TENANT: "first" }

describe("one options object for several queries", () => {
  it("[Q8] a query keeps what it was given, however deep the program changes its object afterwards", async () => {
    const agent = fakeAgent(oneTurn, { ...tenantOptions("first"), env })
    const running = query({ prompt: "hello", options: agent.options })
    change(agent.options)
    await hear(running)
    expectFirst(agent)
  })

  it("[Q8] so do startup() and the sessions of 0.2", async () => {
    const warm = fakeAgent(oneTurn, { ...tenantOptions("first"), env })
    const starting = startup({ options: warm.options })
    change(warm.options)
    await hear((await starting).query("hello"))
    expectFirst(warm)

    const agent = fakeAgent(oneTurn, { allowedTools: ["first"], env })
    const options = { ...agent.options, model: "m" }
    const session = unstable_v2_createSession(options)
    options.allowedTools?.splice(0, 1, "second")
    const words = message("first")
    const sending = session.send(words)
    words.message.content = "second"
    await sending
    for await (const said of session.stream()) expect(said.type).toBe("result")
    await session[Symbol.asyncDispose]()
    expectFirst(agent)
  })

  it("[Q8] with a session store, which is asked first, also the environment and the folder of this process", async () => {
    const agent = fakeAgent(oneTurn, { ...tenantOptions("first"), sessionStore: new InMemorySessionStore() })
    const { env: given = {}, ...options } = agent.options
    const before = { ...process.env }
    const folder = process.cwd()
    try {
      Object.assign(process.env, given, { TENANT: "first" })
      const running = query({ prompt: "hello", options })
      process.env["TENANT"] = "second"
      process.chdir("/")
      change(options)
      await hear(running)
    } finally {
      process.chdir(folder)
      for (const name of Object.keys(process.env)) if (!(name in before)) Reflect.deleteProperty(process.env, name)
      Object.assign(process.env, before)
    }
    expectFirst(agent)
    expect(agent.log()[0]?.cwd).toBe(folder)
  })

  it("[Q8] the arguments of a method are taken when it is called, before there is an agent to tell", async () => {
    const agent = fakeAgent([{ until: "control_request/mcp_set_servers" }, ...oneTurn])
    const running = query({ prompt: "hello", options: agent.options })
    const settings = { model: "first", permissions: { allow: ["first"] } }
    const servers = { first: { command: "first", args: ["first"] } }
    const body = { subtype: "of_tomorrow", inner: { name: "first" } }
    void running.applyFlagSettings(settings)
    void running.control(body)
    void running.setMcpServers(servers)
    overwrite(settings, { model: "second", permissions: { allow: ["second"] } })
    overwrite(servers, { first: { command: "second", args: ["second"] } })
    overwrite(body, { subtype: "of_tomorrow", inner: { name: "second" } })
    await hear(running)
    expect(told(agent).match(/first/g)?.length).toBeGreaterThan(5)
    expect(told(agent)).not.toContain("second")
  })

  it("[Q8] a message that was read is written as it was then; a list of messages is the list of then", async () => {
    const agent = fakeAgent([{ until: "user" }, { until: "user" }, { say: result() }])
    const list = [message("first"), message("first")]
    // A list is no async iterable by its type, but `for await` takes it.
    const prompt = list as unknown as AsyncIterable<SDKUserMessage>
    const running = query({ prompt, options: agent.options })
    for (const each of list) each.message.content = "second"
    list.length = 0
    await hear(running)
    expect(agent.sent("user").map((line) => Reflect.get(Object(line["message"]), "content"))).toEqual([
      "first",
      "first",
    ])
  })

  it("[Q8] each getter is read once; frozen objects, proxies and objects of classes say what JSON would see", async () => {
    let reads = 0
    class Reviewer {
      description = "first"
      #secret = "second"
      get prompt() {
        return this.#secret
      }
      toJSON() {
        return { description: this.description, prompt: "first" }
      }
    }
    const agents = Object.freeze({
      classy: new Reviewer(),
      frozen: Object.freeze({ description: "first", prompt: "first" }),
      proxy: new Proxy({ description: "second", prompt: "first" }, { get: () => "first" }),
    })
    const options: Options = Object.freeze({
      get agents() {
        return ++reads === 1 ? agents : {}
      },
    })
    expect(captureOptions(options).agents).toEqual({
      classy: { description: "first", prompt: "first" },
      frozen: { description: "first", prompt: "first" },
      proxy: { description: "first", prompt: "first" },
    })
    expect(reads).toBe(1)
  })

  it("[Q8] what is called or listened to is the program's own object, and no key can reach a prototype", () => {
    const own = server("own")
    const sessionStore = { append: async () => undefined, load: async () => null }
    const abortController = new AbortController()
    const canUseTool = async () => null
    const mcpServers: Options["mcpServers"] = JSON.parse('{"__proto__":{"command":"x"}}')
    const captured = captureOptions({ mcpServers: { own }, sessionStore, abortController, canUseTool })
    expect(captured.mcpServers?.["own"]).not.toBe(own)
    expect(captured.mcpServers?.["own"]).toHaveProperty("instance", own.instance)
    expect(captured).toMatchObject({ sessionStore, abortController, canUseTool })
    expect(captured.sessionStore).toBe(sessionStore)
    const hostile = captureOptions({ mcpServers }).mcpServers ?? {}
    expect(Object.keys(hostile)).toEqual(["__proto__"])
    expect(Object.getPrototypeOf(hostile)).toBe(Object.prototype)
    expect(environmentOf(captureOptions({}))).toEqual({ ...process.env })
  })

  it("[Q6] an option that contains itself is refused by name", () => {
    const settings: Record<string, unknown> = {}
    settings["inner"] = [settings]
    const start = () => query({ prompt: "hello", options: { settings } })
    expect(start).toThrow(expect.objectContaining({ code: "sdk/bad-option", details: { option: "settings" } }))
  })
})
