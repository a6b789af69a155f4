import type { Command } from "commander"
import type { CommandContext, JsonOption } from "../base/context.ts"
import { choice, defineCommand, errorLine } from "../base/define-command.ts"
import type { NewTokenOptions, TokenListOptions } from "../hub/tokens.ts"

const ROLES = ["viewer", "operator", "admin", "runner"]
const work = () => import("../hub/tokens.ts")

export function addToken(program: Command, context: CommandContext): void {
  const token = program.command("token").description("Create, list and revoke the tokens of people and machines")
  token.configureOutput({ outputError: (text, write) => write(errorLine(text, "signalbox token")) })
  token.addHelpText("after", "\nExample:\n  signalbox token create --role operator --name phone")
  defineCommand(token, {
    name: "create",
    summary: "Create a token and print it once",
    examples: [
      "signalbox token create --role operator --name phone",
      "signalbox token create --role runner --name build-machine --expires 2031-01-31T00:00:00Z",
    ],
    json: "print the token and its id as JSON",
    options: (command) =>
      command
        .addOption(choice("--role <role>", "what the token allows", ROLES).makeOptionMandatory())
        .option("--name <name>", "whose token it is: shown with everything done with it")
        .option("--expires <time>", "when it expires, such as 2031-01-31T12:00:00Z"),
  }).action(async (options: NewTokenOptions) => (await work()).createToken(options, context))
  defineCommand(token, {
    name: "ls",
    summary: "List the tokens, without their secrets",
    examples: ["signalbox token ls"],
    json: "print the list as JSON",
    options: (command) => command.option("--all", "include revoked and expired tokens, and those of single agents"),
  }).action(async (options: TokenListOptions) => (await work()).listTokens(options, context))
  defineCommand(token, {
    name: "revoke <id>",
    summary: "Revoke a token and close its connections",
    examples: ["signalbox token revoke 3f2a91c4"],
    json: "print the revoked token, without its secret, as JSON",
  }).action(async (id: string, options: JsonOption) => (await work()).revokeToken(id, options, context))
}
