import type { Hub, Token } from "@signalbox/client"
import type { CommandContext } from "../base/command-context.ts"
import type { JsonOption } from "../base/define-command.ts"
import { CliError, usageError } from "../base/failure.ts"
import { nextCommand } from "../base/next-command.ts"
import type { NewTokenOptions, TokenListOptions } from "../commands/token.ts"
import { coloursFor } from "../terminal/colours.ts"
import { ago } from "../terminal/moments.ts"
import { print, printJson, tellPerson, widthOf } from "../terminal/output.ts"
import { onOneLine } from "../terminal/plain-text.ts"
import { tableText } from "../terminal/table.ts"
import { withHub } from "./with-hub.ts"

export async function createToken(options: NewTokenOptions, context: CommandContext): Promise<void> {
  const { role, name, expires } = options
  if (expires !== undefined && Number.isNaN(Date.parse(expires)))
    throw usageError(`--expires ${expires}: write a time such as 2031-01-31T12:00:00Z`)
  if (expires !== undefined && Date.parse(expires) <= Date.now())
    throw usageError(`--expires ${expires} is over already: write a time to come, such as 2031-01-31T12:00:00Z`)
  const body = {
    role,
    ...(name === undefined ? {} : { name }),
    ...(expires === undefined ? {} : { expiresAt: new Date(expires).toISOString() }),
  }
  const made = await withHub(options, context, (hub) => hub.tokens.create(body))
  if (options.json === true) return printJson(context, made)
  await print(context.stdout, `${made.token}\n`)
  const revoke = nextCommand(`token revoke ${made.id.slice(0, 8)}`, options, context.env)
  context.stderr.write(`It is not shown again; take it back with: ${revoke}\n`)
}

export async function listTokens(options: TokenListOptions, context: CommandContext): Promise<void> {
  const all = await withHub(options, context, tokensOf)
  const tokens = options.all === true ? all : all.filter((token) => isValid(token) && token.role !== "agent")
  if (options.json === true) return printJson(context, { tokens })
  const colours = coloursFor(context.stdout, context.env)
  const text = tableText(
    tokens,
    [
      { title: "ID", text: ({ id }) => id, paint: colours.bold },
      { title: "ROLE", text: ({ role }) => role },
      { title: "NAME", text: ({ name }) => onOneLine(name ?? ""), isWide: true },
      { title: "MADE", text: ({ createdAt }) => `${ago(createdAt, Date.now())} ago`, paint: colours.dim },
      { title: "VALID", text: validity, paint: colours.dim },
    ],
    { width: widthOf(context.stdout), title: colours.dim },
  )
  await print(context.stdout, text)
}

export function revokeToken(given: string, options: JsonOption, context: CommandContext): Promise<void> {
  if (given.trim() === "") throw usageError(`the id is empty: see "${nextCommand("token ls", options, context.env)}"`)
  return withHub(options, context, async (hub) => {
    const found = (await tokensOf(hub)).filter(({ id }) => id === given || id.startsWith(given))
    const token = found.find(({ id }) => id === given) ?? found[0]
    if (token === undefined)
      throw new CliError("cli/failed", `there is no token whose id begins with ${given}`, { list: "token ls --all" })
    if (token.id !== given && found.length > 1)
      throw usageError(`${given} fits ${found.length} tokens: give more of the id`)
    const revoked = await hub.tokens.revoke(token.id)
    if (options.json === true) await printJson(context, revoked)
    else tellPerson(context, "Revoked, and its connections are closed.")
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
