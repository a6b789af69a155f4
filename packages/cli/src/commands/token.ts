import type { NewToken } from "@signalbox/client"
import type { Command } from "commander"
import type { CommandContext } from "../base/command-context.ts"
import type { DataOption } from "../base/data-directory.ts"
import { defineCommand, errorLine, type JsonOption, jsonOption } from "../base/define-command.ts"
import { usageError } from "../base/failure.ts"

export interface NewTokenOptions extends DataOption {
  readonly role: NewToken["role"]
  readonly name?: string
  readonly expires?: string
  readonly json?: boolean
}

export interface TokenListOptions extends DataOption {
  readonly all?: boolean
  readonly json?: boolean
}

const ROLES: readonly NewToken["role"][] = ["viewer", "operator", "admin", "runner"]
const work = () => import("../hub/tokens.ts")

export function addToken(program: Command, context: CommandContext): void {
  const token = program.command("token").description("Tokens, with which people and machines are let in")
  token.configureOutput({ outputError: (text, write) => write(errorLine(text, "signalbox token")) })
  token.addHelpText("after", "\nExample:\n  signalbox token create --role operator --name phone")
  const create = defineCommand(token, {
    name: "create",
    summary: "Make a token and print it, this once only",
    examples: [
      "signalbox token create --role operator --name phone",
      "signalbox token create --role runner --name build-machine --expires 2031-01-31T00:00:00Z",
    ],
  })
  create
    .requiredOption("--role <role>", `what it may do: ${ROLES.join(", ")}`, readRole)
    .option("--name <name>", "whose it is: shown with everything done with it")
    .option("--expires <time>", "until when it is valid, such as 2031-01-31T12:00:00Z")
  jsonOption(create, "print the token with its id as JSON").action(async (options: NewTokenOptions) =>
    (await work()).createToken(options, context),
  )
  const list = defineCommand(token, {
    name: "ls",
    summary: "The tokens, without their secrets",
    examples: ["signalbox token ls"],
  }).option("--all", "also those that are revoked or have expired, and those of single agents")
  jsonOption(list, "print the list as JSON").action(async (options: TokenListOptions) =>
    (await work()).listTokens(options, context),
  )
  const revoke = defineCommand(token, {
    name: "revoke <id>",
    summary: "Make a token invalid and close its connections",
    examples: ["signalbox token revoke 3f2a91c4"],
  })
  jsonOption(revoke, "print the revoked token, without its secret, as JSON").action(
    async (id: string, options: JsonOption) => (await work()).revokeToken(id, options, context),
  )
}

function readRole(given: string): NewToken["role"] {
  const role = ROLES.find((each) => each === given)
  if (role !== undefined) return role
  throw usageError(`--role ${given}: give one of ${ROLES.join(", ")}`)
}
