import type { Hub, NewToken, Token } from "@signalbox/client"
import { defined } from "@signalbox/protocol"
import { type CommandContext, type JsonOption, nextCommand } from "../base/context.ts"
import { CliError, usageError } from "../base/failure.ts"
import { print, printJson, tellPerson } from "../terminal/output.ts"
import { printTable } from "../terminal/table.ts"
import { ago, onOneLine } from "../terminal/text.ts"
import { withHub } from "./connect.ts"

export interface NewTokenOptions extends JsonOption {
  readonly role: NewToken["role"]
  readonly name?: string
  readonly expires?: string
}

export interface TokenListOptions extends JsonOption {
  readonly all?: boolean
}

export async function createToken(options: NewTokenOptions, context: CommandContext): Promise<void> {
  const { role, name, expires } = options
  if (expires !== undefined && Number.isNaN(Date.parse(expires)))
    throw usageError(`--expires ${expires}: must be a time such as 2031-01-31T12:00:00Z`)
  if (expires !== undefined && Date.parse(expires) <= Date.now())
    throw usageError(`--expires ${expires} is in the past: choose a later time, such as 2031-01-31T12:00:00Z`)
  const expiresAt = expires === undefined ? undefined : new Date(expires).toISOString()
  const body = { role, ...defined({ name, expiresAt }) }
  const made = await withHub(options, context, (hub) => hub.tokens.create(body))
  if (options.json === true) return printJson(context, made)
  await print(context.stdout, `${made.token}\n`)
  const revoke = nextCommand(`token revoke ${made.id.slice(0, 8)}`, options, context.env)
  context.stderr.write(`This token is shown only once. To revoke it: ${revoke}\n`)
}

export async function listTokens(options: TokenListOptions, context: CommandContext): Promise<void> {
  const all = await withHub(options, context, tokensOf)
  const tokens = options.all === true ? all : all.filter((token) => isValid(token) && token.role !== "agent")
  if (options.json === true) return printJson(context, { tokens })
  await printTable(context, tokens, ({ bold, dim }) => [
    { title: "ID", text: ({ id }) => id, paint: bold },
    { title: "ROLE", text: ({ role }) => role },
    { title: "NAME", text: ({ name }) => onOneLine(name ?? ""), isWide: true },
    { title: "CREATED", text: ({ createdAt }) => `${ago(createdAt, Date.now())} ago`, paint: dim },
    { title: "VALID", text: validity, paint: dim },
  ])
}

export function revokeToken(given: string, options: JsonOption, context: CommandContext): Promise<void> {
  if (given.trim() === "") throw usageError(`the id is empty: see "${nextCommand("token ls", options, context.env)}"`)
  return withHub(options, context, async (hub) => {
    const found = (await tokensOf(hub)).filter(({ id }) => id === given || id.startsWith(given))
    const token = found.find(({ id }) => id === given) ?? found[0]
    if (token === undefined)
      throw new CliError("cli/failed", `no token id starts with ${given}`, { list: "token ls --all" })
    if (token.id !== given && found.length > 1)
      throw usageError(`${given} matches ${found.length} tokens: give more of the id`)
    const revoked = await hub.tokens.revoke(token.id)
    if (options.json === true) await printJson(context, revoked)
    else tellPerson(context, "Revoked. Its connections are closed.")
  })
}

async function tokensOf(hub: Hub): Promise<readonly Token[]> {
  return (await hub.tokens.list()).tokens
}

function isValid({ revokedAt, expiresAt }: Token): boolean {
  return revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > Date.now())
}

function validity(token: Token): string {
  if (token.revokedAt !== null) return "revoked"
  if (!isValid(token)) return "expired"
  return token.expiresAt === null ? "" : `until ${token.expiresAt}`
}
