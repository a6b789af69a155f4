import { type ContractLimits, type ContractSetup, describeTransportContract } from "../../src/testing/index.ts"
import { Inbox, sendFrame } from "../websocket/support.ts"
import { openHybrid, type PostReceived, post, receiveOne } from "./support.ts"

async function openDialled(limits: ContractLimits, preset: "patient" | "once" | "cli2137"): Promise<ContractSetup> {
  const { server, connection, socket, raw, dispose } = await openHybrid({ ...limits, preset })
  const lines = new Inbox<string>()
  const held: PostReceived[] = []
  let paused = false
  const answer = (posted: PostReceived) => {
    for (const event of JSON.parse(posted.body).events) lines.put(JSON.stringify(event))
    posted.response.writeHead(200).end()
  }
  server.onPost((posted) => {
    if (paused) held.push(posted)
    else answer(posted)
  })
  return {
    transport: connection,
    peer: {
      send: (line) => sendFrame(socket, `${line}\n`),
      receive: () => lines.next(),
      async end() {
        socket.close(1000, "peer ended")
        await raw.ended
      },
      pause() {
        paused = true
      },
      resume() {
        paused = false
        for (const posted of held.splice(0)) answer(posted)
      },
    },
    dispose,
  }
}

for (const preset of ["patient", "cli2137"] as const) {
  describeTransportContract(`hybrid, dialled, ${preset}`, (limits) => openDialled(limits, preset), {
    boundsLines: true,
    outlivesPeer: true,
  })
}
describeTransportContract("hybrid, dialled once", (limits) => openDialled(limits, "once"), { boundsLines: true })

describeTransportContract(
  "hybrid, received",
  async (limits) => {
    const { server, connection, client, raw, dispose } = await receiveOne(limits)
    // An agent has one POST in flight.
    let turn: Promise<unknown> = Promise.resolve()
    const postLine = async (line: string) => {
      const reply = await post(server.port, { body: `{"events":[${line}]}` })
      if (reply.status !== 200) throw new Error(`the post was answered with ${reply.status}: ${reply.body}`)
    }
    return {
      transport: connection,
      peer: {
        send(line) {
          const sent = turn.then(() => postLine(line))
          turn = sent.catch(() => undefined)
          return sent
        },
        receive: () => raw.lines.next(),
        async end() {
          client.close(1000, "peer ended")
          await raw.ended
        },
        pause: () => client.pause(),
        resume: () => client.resume(),
      },
      dispose,
    }
  },
  { boundsLines: true },
)
