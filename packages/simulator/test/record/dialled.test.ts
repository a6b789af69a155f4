import { readFileSync } from "node:fs"
import { join } from "node:path"
import { composeAllow, composeUserMessage, type Envelope, encode, fieldOf } from "@signalbox/protocol"
import { decodeRecording } from "@signalbox/simulator"
import { describe, expect, it } from "vitest"
import { question } from "../../../../test/conformance/answers.ts"
import { DialledHost } from "../support/dialled-host.ts"
import { makeFolder, startSim } from "../support/sim-process.ts"
import { withoutIds } from "./conversation.ts"

type Way = "websocket" | "hybrid"

/** One turn with an agent that dials and asks for permissions, which it gets; then it is sent home. */
async function oneTurn(way: Way, profile: string, args: readonly string[], folder: string): Promise<Envelope[]> {
  const host = await DialledHost.open({
    onConnection: async (connection) => {
      await connection.send(encode(composeUserMessage("go")))
      for (let answered = 0; ; ) {
        await host.until(() => host.lines.length > answered, "another line")
        const message: Envelope = JSON.parse(host.lines[answered++] ?? "{}")
        if (message.type === "result") return
        if (message.type !== "control_request") continue
        const request = fieldOf(message, "request") ?? {}
        await connection.send(encode(composeAllow(question(String(message["request_id"]), request))))
      }
    },
  })
  const posting: Record<string, string> = way === "hybrid" ? { CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2: "1" } : {}
  const child = await startSim(["--profile", profile, "--sdk-url", host.url("/v2/session_ingress/ws/one"), ...args], {
    folder,
    env: { CLAUDE_CODE_SESSION_ACCESS_TOKEN: "a-token", ...posting },
  })
  await host.until(() => host.count("result") === 1, "the result")
  await host.sendHome()
  await child.closed
  expect(host.posts.length > 0).toBe(way === "hybrid")
  return host.lines.map((line): Envelope => JSON.parse(line))
}

describe.each([
  ["websocket", "2.1.120"],
  ["hybrid", "2.1.120"],
  ["hybrid", "2.1.37"],
] as const)("a recording of an agent that dials (%s, %s)", (way, profile) => {
  it("[SR1] [SR9] has what passed in both directions, and plays it again on the same road and on another", async () => {
    const folder = makeFolder()
    const file = join(folder, "talk.ndjson")
    const seen = await oneTurn(way, profile, ["--scenario", "deploy", "--record", file], folder)
    const { lines } = decodeRecording(readFileSync(file, "utf8"), file)
    const of = (side: "host" | "agent") => lines.filter(({ from }) => from === side)
    expect(of("agent").map(({ line }): unknown => JSON.parse(line))).toEqual(seen)
    expect(of("host").length).toBe(1 + seen.filter(({ type }) => type === "control_request").length)
    for (const road of [way, "websocket"] as const) {
      const again = await oneTurn(road, profile, ["--replay", file], folder)
      expect(withoutIds(again)).toEqual(withoutIds(seen))
    }
  })
})
