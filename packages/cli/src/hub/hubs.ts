import type { CommandContext, JsonOption } from "../base/context.ts"
import { printJson, tellPerson } from "../terminal/output.ts"
import { printTable } from "../terminal/table.ts"
import { ago } from "../terminal/text.ts"
import { withHub } from "./connect.ts"

export interface HubsOptions extends JsonOption {
  readonly rotateSecret?: boolean
}

const SHORT_ID = 8

export async function hubs(options: HubsOptions, context: CommandContext): Promise<void> {
  if (options.rotateSecret === true) {
    const rotated = await withHub(options, context, (hub) => hub.hubs.rotateSecret())
    if (options.json === true) return printJson(context, rotated)
    return tellPerson(context, "Replaced. The hubs take the new secret within seconds.")
  }
  const all = await withHub(options, context, (hub) => hub.hubs.list())
  if (options.json === true) return printJson(context, { hubs: all })
  const now = Date.now()
  await printTable(context, all, ({ bold, dim }) => [
    { title: "ID", text: ({ id }) => id.slice(0, SHORT_ID), paint: bold },
    { title: "ADDRESS", text: ({ url, self }) => (self ? `${url} (replied)` : url), isWide: true },
    { title: "VERSION", text: ({ version }) => version },
    { title: "SESSIONS", text: ({ sessions }) => String(sessions) },
    { title: "RUNNERS", text: ({ runners }) => String(runners) },
    { title: "VIEWERS", text: ({ viewers }) => String(viewers) },
    { title: "UP", text: ({ startedAt }) => ago(startedAt, now), paint: dim },
  ])
}
