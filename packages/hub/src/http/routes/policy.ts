import {
  AuditList,
  AuditListQuery,
  GrantList,
  GrantListQuery,
  GrantRevoked,
  Policy,
  PolicyInForce,
} from "@signalbox/protocol/hub-api/schemas"
import type { HubCore } from "../../core.ts"
import { pageJson } from "../event-page-json.ts"
import { AHEAD_BYTES } from "../paced-body.ts"
import { streamReply } from "../reply.ts"
import { BODY_BYTES, type Route, route } from "../route.ts"

export function policyRoutes(core: HubCore): Route[] {
  return [
    route({
      method: "GET",
      path: "/api/policy",
      access: "viewer",
      summary: "The rules in force",
      reply: { status: 200, description: "the policy, and what it can judge", schema: PolicyInForce },
      handle: () => core.getPolicy(),
    }),
    route({
      method: "PUT",
      path: "/api/policy",
      access: "admin",
      summary: "Replace the rules in force",
      body: { schema: Policy, maxBytes: BODY_BYTES },
      reply: { status: 200, description: "the policy, and what it can judge", schema: PolicyInForce },
      handle: ({ body, caller }) => core.putPolicy(body, caller),
    }),
    route({
      method: "GET",
      path: "/api/grants",
      access: "viewer",
      summary: "Standing permissions",
      query: GrantListQuery,
      reply: { status: 200, description: "the grants", schema: GrantList },
      handle: async ({ query }) => ({ grants: await core.listGrants(query), more: false }),
    }),
    route({
      method: "DELETE",
      path: "/api/grants/:id",
      access: "operator",
      summary: "Revoke a standing permission",
      reply: { status: 200, description: "the grant, and whether it is gone or only noted", schema: GrantRevoked },
      handle: ({ param, caller }) => core.revokeGrant(param("id"), caller),
    }),
    route({
      method: "GET",
      path: "/api/audit",
      access: "viewer",
      summary: "Who or what decided, when, and why",
      query: AuditListQuery,
      reply: { status: 200, description: "audit records in their order", schema: AuditList },
      async handle({ query, reserve }) {
        const page = await core.listAudit(query)
        reserve(page.largestBytes + AHEAD_BYTES)
        return streamReply(200, pageJson("records", page))
      },
    }),
  ]
}
