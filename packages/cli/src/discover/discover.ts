import type { CommandContext } from "../command-context.ts"
import type { DiscoverOptions } from "../commands/discover.ts"
import { dataDirectory } from "../data-directory.ts"
import { readCard } from "../process-card.ts"
import { coloursFor } from "../terminal/colours.ts"
import { print, printJson } from "../terminal/output.ts"
import { type Found, PORTS, probePorts } from "./probe.ts"

export async function discover(options: DiscoverOptions, context: CommandContext): Promise<void> {
  const found = await probePorts()
  if (options.json === true) return printJson(context, { found })
  if (found.length === 0) {
    context.stderr.write(`Nothing answers on ports ${PORTS.at(0)} to ${PORTS.at(-1)}. Start a hub: signalbox up\n`)
    return
  }
  const ownUrl = readCard(dataDirectory(options, context.env).hubCard)?.url
  const { dim, bold } = coloursFor(context.stdout, context.env)
  for (const each of found)
    await print(context.stdout, `${bold(each.url)}  ${each.kind}  ${dim(advice(each, ownUrl))}\n`)
}

function advice({ kind, url }: Found, ownUrl: string | undefined): string {
  if (kind === "relay") return "a plain relay: its agents can be brought here with --sdk-url instead"
  return url === ownUrl ? "yours: signalbox ls" : `SIGNALBOX_URL=${url} SIGNALBOX_TOKEN=… signalbox ls`
}
