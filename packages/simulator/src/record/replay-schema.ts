import { z } from "zod"

// A replay: a conversation that was recorded, as steps. What the host did is waited for, what the agent did is done again.

const message = z.looseObject({ type: z.string().min(1) })
const request = z.looseObject({ subtype: z.string().min(1) })
/** How long the agent took for it, at the pace of the recording. */
const afterMs = z.exactOptional(z.number().min(0))
const name = z.string().min(1)

/** The host speaks. `midTurn`: it did while a turn ran, so the agent did not wait for it. */
const userStep = z.strictObject({ user: message, midTurn: z.exactOptional(z.boolean()) })
/** The host asks for something; `as` names it for the reply. */
const requestStep = z.strictObject({ request, as: name, midTurn: z.exactOptional(z.boolean()) })
/** The host has answered what was asked under this name. */
const answeredStep = z.strictObject({ answered: name, response: z.exactOptional(z.unknown()) })
/** The agent says this. */
const emitStep = z.strictObject({ emit: message, afterMs })
/** The agent asks the host, under a new id; `as` names it for what follows. */
const askStep = z.strictObject({ ask: request, as: name, afterMs })
/** The agent takes a question back. */
const cancelStep = z.strictObject({ cancel: name, afterMs })
/** The agent answers a request of the host's. */
const replyStep = z.strictObject({ reply: z.looseObject({ subtype: z.string() }), to: name, afterMs })
/** The agent says something that is no message at all. */
const rawStep = z.strictObject({ raw: z.string(), afterMs })

const replayStepSchema = z.union(
  [userStep, requestStep, answeredStep, emitStep, askStep, cancelStep, replyStep, rawStep],
  { error: "must be an object with one of: user, request, answered, emit, ask, cancel, reply, raw" },
)

export const replaySchema = z.strictObject({
  name: z.exactOptional(z.string()),
  description: z.exactOptional(z.string()),
  /** The process ends with this code when its input has ended. */
  exitCode: z.exactOptional(z.int().min(0).max(255)),
  replay: z.array(replayStepSchema).min(1),
})

export type ReplayStep = z.infer<typeof replayStepSchema>
export type Replay = z.infer<typeof replaySchema>
