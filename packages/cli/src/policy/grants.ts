import type { Grant, Hub } from "@signalbox/client"
import { isObject, textOf } from "@signalbox/protocol"
import { stillKeptWords } from "@signalbox/transcript"
import type { CommandContext, JsonOption } from "../base/context.ts"
import { findSession, only } from "../hub/abbreviated-id.ts"
import { withHub } from "../hub/connect.ts"
import { printJson } from "../terminal/output.ts"
import { printTable } from "../terminal/table.ts"
import { ago, onOneLine } from "../terminal/text.ts"

export interface GrantsOptions extends JsonOption {
  readonly session?: string
}

const SHORT_ID = 8

export function listGrants(options: GrantsOptions, context: CommandContext): Promise<void> {
  return withHub(options, context, async (hub) => {
    const session = options.session === undefined ? undefined : (await findSession(hub, options.session)).id
    const { grants } = await hub.grants(session === undefined ? {} : { session })
    if (options.json === true) return printJson(context, { grants })
    if (grants.length === 0) return void context.stderr.write("No standing permissions.\n")
    const machines = await machineNames(hub)
    await printTable(context, grants, ({ bold, dim }) => [
      { title: "ID", text: ({ id }) => id.slice(0, SHORT_ID), paint: bold },
      { title: "SESSION", text: ({ sessionId }) => sessionId.slice(0, SHORT_ID) },
      { title: "ALLOWS", text: grantText, isWide: true },
      {
        title: "KEPT",
        text: ({ where, machine }) =>
          onOneLine(
            where === "hub" ? "hub" : machine === null ? where : `${where} on ${machines.get(machine) ?? machine}`,
          ),
      },
      { title: "BY", text: ({ grantedBy }) => onOneLine(grantedBy) },
      { title: "AGE", text: ({ grantedAt }) => ago(grantedAt, Date.now()), paint: dim, isRight: true },
    ])
  })
}

export function revokeGrant(given: string, options: JsonOption, context: CommandContext): Promise<void> {
  return withHub(options, context, async (hub) => {
    const { grants } = await hub.grants()
    const found = grants.filter(({ id }) => id === given || (given !== "" && id.startsWith(given)))
    const { id } = only(found, { given, what: "standing permission", list: "grants ls" })
    const revoked = await hub.revokeGrant(id)
    if (options.json === true) return printJson(context, revoked)
    const { gone, grant } = revoked
    if (gone) return void context.stderr.write("Revoked.\n")
    const machine = (await machineNames(hub)).get(grant.machine ?? "") ?? grant.machine ?? undefined
    const session = await hub
      .session(grant.sessionId)
      .get()
      .catch(() => undefined)
    context.stderr.write(`${onOneLine(stillKeptWords(grant.where, { machine, folder: session?.cwd }))}\n`)
  })
}

/** The names of machines by their ids. */
async function machineNames(hub: Hub): Promise<ReadonlyMap<string, string>> {
  return new Map((await hub.runners.list()).map(({ id, name }) => [id, name]))
}

/** As Claude Code writes rules: `Bash(npm test:*)`. */
function grantText({ update }: Grant): string {
  const rules = Array.isArray(update["rules"]) ? update["rules"].filter(isObject) : []
  const texts = rules.map((rule) => {
    const content = textOf(rule, "ruleContent")
    return `${textOf(rule, "toolName") ?? "?"}${content === undefined ? "" : `(${content})`}`
  })
  return onOneLine(texts.length === 0 ? JSON.stringify(update) : texts.join(", "), "decision")
}
