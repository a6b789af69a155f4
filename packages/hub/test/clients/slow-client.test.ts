import { expect, it } from "vitest"
import { openAgent, openClient, openStage } from "./stage.ts"

it("[RC38] a client that does not read is closed with 1012 at the bound, and nobody else notices", async () => {
  const stage = await openStage()
  const { agent, id } = await openAgent(stage)
  const [slow, quick] = [await openClient(stage, id), await openClient(stage, id)]
  slow.pause()
  const text = "x".repeat(512 * 1024)
  // The bound is 16 MiB, and what the sockets of both ends hold comes on top.
  const lines = 80
  for (let n = 0; n < lines; n++) agent.say({ type: "assistant", message: { content: [{ type: "text", text }] }, n })
  await quick.find((message) => message["n"] === lines - 1)
  slow.resume()
  expect(await slow.closed).toMatchObject({ code: 1012 })
  expect(quick.messages.map((message) => message["n"]).filter((n) => n !== undefined)).toEqual([...Array(lines).keys()])
})
