import type { Scenario } from "@signalbox/simulator"
import { expect } from "vitest"
import type { Json } from "../hub/hub-process.ts"
import type { Machine } from "./runner-process.ts"

export const WORDS = Array.from({ length: 60 }, (_, n) => `word${n}`).join(" ")

/** A turn that speaks for a second and a half, and one that asks for something, in turn. */
export const ASKING_TURNS: Scenario = {
  turns: Array.from({ length: 30 }, (_, n) => [
    { steps: [{ say: `Turn ${n}: ${WORDS}`, pauseMs: 25, chunk: 8 }] },
    {
      steps: [
        { tool: "Bash", input: { command: `touch asked-${n}`, description: "make a file" } },
        { say: `Asked ${n}.` },
      ],
    },
  ]).flat(),
}

/** What the agent said, in its order. */
export function textsOf(events: readonly Json[]): string[] {
  return events.flatMap(({ from, message }) =>
    from === "agent" && message.type === "assistant"
      ? message.message.content.flatMap((block: Json) => (block.type === "text" ? [block.text] : []))
      : [],
  )
}

export async function pendingAsk(on: Machine, session: string): Promise<Json> {
  const look = async () => (await on.hub.get(`/api/asks?state=pending&session=${session}`)).asks.length
  await expect.poll(look, { timeout: 60_000, interval: 50, message: on.log }).toBe(1)
  return (await on.hub.get(`/api/asks?state=pending&session=${session}`)).asks[0]
}

/** Nothing is missing, nothing is there twice, and nothing is out of its order. */
export function expectWhole(events: readonly Json[], said: readonly string[]): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1))
  expect(textsOf(events)).toEqual(said)
  const results = events.filter(({ message }) => message.type === "result")
  expect(results.map(({ message }) => message.subtype)).toEqual(said.map(() => "success"))
  const uuids = events.flatMap(({ message }) => message.uuid ?? [])
  expect(new Set(uuids).size).toBe(uuids.length)
}
