import { expect } from "vitest"
import { AgentHost, makeFolder, withAgent } from "./agent-host.ts"
import { type Cell, conformance } from "./cells.ts"

const says = (text: string) => ({ turns: [{ steps: [{ say: text }] }] })

/** A session with one turn, left behind in its folder. */
async function leaveSession(cell: Cell, folder: Awaited<ReturnType<typeof makeFolder>>): Promise<string> {
  let sessionId = ""
  await withAgent(cell, { folder, scenario: says("The word is plum.") }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    const turn = await agent.turn("remember a word")
    sessionId = String(turn.at(-1)?.["session_id"])
    await agent.end()
  })
  return sessionId
}

/** What the API was sent on the resumed session's turn, as text. */
function historyOf(agent: AgentHost): string {
  return JSON.stringify(
    agent.api.requests.filter((request) => request.path.startsWith("/v1/messages")).at(-1)?.messages,
  )
}

conformance("resume", async (cell) => {
  const folder = await makeFolder()
  const sessionId = await leaveSession(cell, folder)
  await withAgent(cell, { folder, scenario: says("Plum."), flags: { resume: sessionId } }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    const turn = await agent.turn("which word")
    expect(turn.at(-1)).toMatchObject({ session_id: sessionId, result: "Plum." })
    expect(historyOf(agent)).toContain("The word is plum.")
    expect(JSON.stringify(agent.seen)).not.toContain("The word is plum.")
  })
  await folder.remove()
})

conformance("fork", async (cell) => {
  const folder = await makeFolder()
  const sessionId = await leaveSession(cell, folder)
  const flags = { resume: sessionId, forkSession: true }
  await withAgent(cell, { folder, scenario: says("Plum."), flags }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    const turn = await agent.turn("which word")
    expect(turn.at(-1)).toMatchObject({ session_id: expect.any(String), result: "Plum." })
    expect(turn.at(-1)?.["session_id"]).not.toBe(sessionId)
    expect(historyOf(agent)).toContain("The word is plum.")
  })
  await folder.remove()
})

conformance("fork up to a message", async (cell) => {
  const folder = await makeFolder()
  const left = { session: "", first: "" }
  const scenario = {
    turns: [{ on: "remember", steps: [{ say: "The word is plum." }] }, { steps: [{ say: "And fig." }] }],
  }
  await withAgent(cell, { folder, scenario }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    const turn = await agent.turn("remember a word")
    left.session = String(turn.at(-1)?.["session_id"])
    left.first = String(turn.findLast(({ type }) => type === "assistant")?.["uuid"])
    await agent.turn("and another")
    await agent.end()
  })
  const flags = { resume: left.session, forkSession: true, resumeSessionAt: left.first }
  await withAgent(cell, { folder, scenario: says("Plum."), flags }, async (agent) => {
    await agent.request({ subtype: "initialize" })
    const turn = await agent.turn("which words")
    expect(turn.at(-1)?.["session_id"]).not.toBe(left.session)
    expect(historyOf(agent)).toContain("The word is plum.")
    expect(historyOf(agent)).not.toContain("And fig.")
  })
  await folder.remove()
})
