import { AnswerBody, AskList, AskListQuery, Ask as AskSchema, ExtendBody } from "@signalbox/protocol/hub-api/schemas"
import { mayAnswer } from "../../auth/roles.ts"
import type { HubCore } from "../../core.ts"
import { HubError } from "../../errors.ts"
import type { Ask } from "../../model/ask.ts"
import { pageJson } from "../event-page-json.ts"
import { AHEAD_BYTES } from "../paced-body.ts"
import { publicAsk } from "../public-ask.ts"
import { streamReply } from "../reply.ts"
import { LARGE_BODY_BYTES, type Route, route, SMALL_BODY_BYTES } from "../route.ts"

export function askRoutes(core: HubCore): Route[] {
  return [
    route({
      method: "GET",
      path: "/api/asks",
      access: "viewer",
      summary: "Asks, of one state or one session if so asked",
      query: AskListQuery,
      reply: { status: 200, description: "the asks", schema: AskList },
      async handle({ query: { order, ...filter }, reserve }) {
        const page = await core.listAsks({ ...filter, newestFirst: order === "newest" })
        reserve(page.largestBytes + AHEAD_BYTES)
        return streamReply(200, pageJson("asks", page, publicAsk))
      },
    }),
    route({
      method: "GET",
      path: "/api/asks/:id",
      access: "viewer",
      summary: "One ask",
      reply: { status: 200, description: "the ask", schema: AskSchema },
      handle: async ({ param }) => publicAsk(await core.getAsk(param("id"))),
    }),
    route({
      method: "POST",
      path: "/api/asks/:id/answer",
      access: "operator",
      summary: "Answer an ask; the first valid answer wins",
      body: { schema: AnswerBody, maxBytes: LARGE_BODY_BYTES },
      reply: { status: 200, description: "the ask as it was settled", schema: AskSchema },
      async handle({ param, body, caller }) {
        const { inputHash, answerId, ...answer } = body
        if (!mayAnswer(caller.role, answer, core.getSettings())) {
          throw new HubError("auth/forbidden", "A permission mode without questions needs an admin token")
        }
        const how = {
          caller,
          ...(inputHash === undefined ? {} : { inputHash }),
          ...(answerId === undefined ? {} : { answerId }),
        }
        return publicAsk(await core.answerAsk(param("id"), answer, how).catch(hidePrivateParts))
      },
    }),
    route({
      method: "POST",
      path: "/api/asks/:id/extend",
      access: "operator",
      summary: "Give an ask that expires more time: as long again as its rule gave it, as often as the rule allows",
      body: { schema: ExtendBody, maxBytes: SMALL_BODY_BYTES, optional: true },
      reply: { status: 200, description: "the ask with its later end", schema: AskSchema },
      async handle({ param, body, caller }) {
        return publicAsk(await core.extendAsk(param("id"), { caller, ...body }).catch(hidePrivateParts))
      },
    }),
  ]
}

/** A refusal shows the ask it is about, and that one too without what only the hub needs. */
function hidePrivateParts(error: unknown): never {
  if (!(error instanceof HubError) || !isAsk(error.details["ask"])) throw error
  const details = { ...error.details, ask: publicAsk(error.details["ask"]) }
  throw new HubError(error.code, error.message, { cause: error, details })
}

/** Only asks have an incarnation, among everything that the core puts into an error. */
function isAsk(value: unknown): value is Ask {
  return typeof value === "object" && value !== null && "incarnation" in value
}
