import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import {
  claudeEnvironment,
  createLaunch,
  decodeRecording,
  encodeRecording,
  openReplay,
  openScriptedApi,
  openSimulatedAgent,
  parseScenario,
  type RecordedLine,
  recordTransport,
  replayOf,
  scenarioOf,
} from "@signalbox/simulator"
import {
  type ChildTransport,
  claudeArguments,
  createLinkedPair,
  createWebSocketAcceptor,
  openChildProcess,
  type Transport,
} from "@signalbox/transport"
import { describe, expect, it } from "vitest"
import { ensureClaude } from "../../../../scripts/claude-cli.mjs"
import { type AgentFolder, makeFolder } from "../../../../test/conformance/agent-host.ts"
import { converse, type Heard, recordedScenario, withNumberedIds, withoutIds } from "./conversation.ts"

interface Road {
  readonly transport: Transport
  close(): Promise<void>
}

async function startCli(
  version: string,
  folder: AgentFolder,
  apiUrl: string,
  sdkUrl?: string,
): Promise<ChildTransport> {
  const claude = await ensureClaude(version)
  const flags = {
    permissionPromptTool: "stdio",
    settingSources: [],
    includePartialMessages: true,
    replayUserMessages: true,
    ...(sdkUrl === undefined ? {} : { sdkUrl }),
  }
  return openChildProcess({
    command: claude.command,
    args: [...claude.args, ...claudeArguments(flags)],
    cwd: folder.cwd,
    env: claudeEnvironment({ home: folder.home, apiUrl, extra: {} }),
    killAfterMs: 2000,
  })
}

async function stdioRoad(folder: AgentFolder, apiUrl: string): Promise<Road> {
  const transport = await startCli("2.1.325", folder, apiUrl)
  return { transport, close: () => transport.close("test over") }
}

async function webSocketRoad(folder: AgentFolder, apiUrl: string): Promise<Road> {
  const acceptor = createWebSocketAcceptor({})
  const server = createServer()
  const dialled = new Promise<Transport>((resolve) => {
    server.on("upgrade", (request, socket, head) => {
      void acceptor.handleUpgrade(request, socket, head).then((accepted) => accepted && resolve(accepted))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  // A server that listens on TCP has an address of this form.
  const { port } = server.address() as AddressInfo
  const child = await startCli("2.1.120", folder, apiUrl, `ws://127.0.0.1:${port}/v1/ws/recorded`)
  const transport = await dialled
  return {
    transport,
    async close() {
      await child.close("test over")
      await transport.close("test over")
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const roads = { "2.1.325 on stdio": stdioRoad, "2.1.120 on a WebSocket": webSocketRoad }

async function record(open: (typeof roads)[keyof typeof roads]): Promise<{ heard: Heard; lines: RecordedLine[] }> {
  const folder = await makeFolder()
  const api = await openScriptedApi({ scenario: recordedScenario })
  try {
    const road = await open(folder, api.url)
    const lines: RecordedLine[] = []
    try {
      return {
        heard: await converse(recordTransport(road.transport, { onLine: (line) => lines.push(line) }), "hook_0"),
        lines,
      }
    } finally {
      await road.close()
    }
  } finally {
    await api.close()
    await folder.remove()
  }
}

async function replay(lines: readonly RecordedLine[], hookId: string): Promise<Heard> {
  const [host, end] = createLinkedPair()
  // Through the file, as it would be kept.
  const recording = decodeRecording(encodeRecording({ lines }), "test.ndjson")
  const agent = openReplay({ transport: end, replay: replayOf(recording), timeScale: 0 })
  try {
    return await converse(host, hookId)
  } finally {
    await host.close("test over")
    await agent.exited
  }
}

describe.each(Object.entries(roads))("a conversation with CLI %s", (_, open) => {
  it("[SR1] [SR3] [SR4] is recorded and played back: the same messages and questions, under new ids", async () => {
    const { heard, lines } = await record(open)
    expect(heard.asked).toEqual(expect.arrayContaining(["hook_callback hook_0", "can_use_tool", "mcp_message"]))
    const again = await replay(lines, "hook_0")
    expect(again.asked).toEqual(heard.asked)
    expect(withoutIds(again.messages)).toEqual(withoutIds(heard.messages))
    expect(withNumberedIds(again.messages)).toEqual(withNumberedIds(heard.messages))
    const sessions = (side: Heard) => side.messages.flatMap((message) => message["session_id"] ?? [])
    expect(sessions(again)[0]).not.toBe(sessions(heard)[0])
  })

  it("[SR8] becomes a scenario of turns, which the simulator plays with the same words, calls and results", async () => {
    const { heard, lines } = await record(open)
    const scenario = parseScenario(scenarioOf({ lines }))
    const folder = await makeFolder()
    const [host, end] = createLinkedPair()
    const launch = createLaunch({ cwd: folder.cwd, configDir: join(folder.home, ".claude") })
    const agent = openSimulatedAgent({ transport: end, scenario, launch, timeScale: 0 })
    const again = await converse(host, "hook_0")
    await host.close("test over")
    await agent.exited
    await folder.remove()
    expect(contents(again)).toEqual(contents(heard))
  })
})

/** What was said and done, without how. */
function contents({ messages }: Heard): unknown[] {
  return messages
    .filter(({ type }) => type === "assistant" || type === "user" || type === "result")
    .flatMap((message): unknown[] => {
      if (message.type === "result") return [message["result"]]
      const { content } = Object(message["message"])
      return (Array.isArray(content) ? content : []).flatMap(
        ({ type, text, thinking, name, input, content: result }) =>
          message["isReplay"] === true ? [] : [{ type, text, thinking, name, input, result }],
      )
    })
}
