import { Health, Readiness } from "@signalbox/protocol/hub-api/schemas"
import { HubError } from "../../errors.ts"
import { loginScript, plainPage } from "../page.ts"
import { openRoute, type Route, route } from "../route.ts"

export interface OperationsOptions {
  /** Why the hub is not ready, in words; undefined when it is. */
  readonly notReady: () => string | undefined
  readonly metrics: { text(): Promise<string>; readonly contentType: string }
  readonly openApi: () => unknown
}

export function operationsRoutes({ notReady, metrics, openApi }: OperationsOptions): Route[] {
  return [
    openRoute({
      method: "GET",
      path: "/healthz",
      access: "anybody",
      summary: "Whether the hub lives",
      reply: { status: 200, description: "it does", schema: Health },
      handle: () => ({ status: "ok" }),
    }),
    openRoute({
      method: "GET",
      path: "/readyz",
      access: "anybody",
      summary: "Whether the hub takes work",
      reply: { status: 200, description: "it does", schema: Readiness },
      handle() {
        const reason = notReady()
        if (reason !== undefined) throw new HubError("hub/stopping", reason)
        return { status: "ready" }
      },
    }),
    openRoute({
      method: "GET",
      path: "/metrics",
      access: "viewer unless loopback",
      summary: "What the hub counts, as Prometheus text",
      reply: { status: 200, description: "metrics", contentType: "text/plain" },
      handle: async () => new Response(await metrics.text(), { headers: { "content-type": metrics.contentType } }),
    }),
    route({
      method: "GET",
      path: "/api/openapi.json",
      access: "viewer",
      summary: "This description",
      reply: { status: 200, description: "OpenAPI 3.1", contentType: "application/json" },
      handle: () => openApi(),
    }),
    ...pageRoutes(),
  ]
}

function pageRoutes(): Route[] {
  const page = { status: 200, description: "a page", contentType: "text/html" }
  const open = { method: "GET", access: "anybody" } as const
  return [
    openRoute({ ...open, path: "/", summary: "What this is", reply: page, handle: plainPage }),
    openRoute({
      ...open,
      path: "/login",
      summary: "Signs in with a code in the fragment",
      reply: page,
      handle: plainPage,
    }),
    openRoute({
      ...open,
      path: "/login.js",
      summary: "The script of that page",
      reply: { status: 200, description: "a script", contentType: "text/javascript" },
      handle: loginScript,
    }),
  ]
}
