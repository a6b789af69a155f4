import { DEFAULT_PORTS } from "@signalbox/hub/ports"
import { type CommandContext, dataDirectory, type JsonOption } from "../base/context.ts"
import { readCard } from "../base/process-files.ts"
import { untilStopped } from "../terminal/input.ts"
import { coloursFor, print, printJson, tellPerson } from "../terminal/output.ts"
import { timeOfDay } from "../terminal/text.ts"
import { type Found, probePorts, watchPorts } from "./probe.ts"

export interface DiscoverOptions extends JsonOption {
  readonly watch?: boolean
}

const NOTHING = `Nothing answers on ports ${DEFAULT_PORTS.at(0)} to ${DEFAULT_PORTS.at(-1)}.`

export async function discover(options: DiscoverOptions, context: CommandContext): Promise<void> {
  if (options.watch === true) return untilStopped((signal) => watch(options, context, signal))
  const found = await probePorts()
  if (options.json === true) return printJson(context, { found })
  if (found.length === 0) {
    context.stderr.write(`${NOTHING} Start a hub: signalbox up\n`)
    return
  }
  const ownUrl = readCard(dataDirectory(options, context.env).hubCard)?.url
  const { dim, bold } = coloursFor(context.stdout, context.env)
  for (const each of found)
    await print(context.stdout, `${bold(each.url)}  ${each.kind}  ${dim(advice(each, ownUrl))}\n`)
}

/** Shows each hub as it comes and goes. */
async function watch(options: DiscoverOptions, context: CommandContext, signal: AbortSignal): Promise<void> {
  const { dim, bold, green } = coloursFor(context.stdout, context.env)
  tellPerson(context, "Watching for hubs and relays. Press Ctrl-C to stop.")
  for await (const { event, ...found } of watchPorts(signal)) {
    const at = new Date().toISOString()
    if (options.json === true) await printJson(context, { event, at, ...found })
    else {
      const word = event === "up" ? green("up  ") : dim("down")
      await print(context.stdout, `${dim(timeOfDay(at))} ${word} ${bold(found.url)}  ${found.kind}\n`)
    }
  }
}

function advice({ kind, url }: Found, ownUrl: string | undefined): string {
  if (kind === "relay") return "plain relay: connect its agents to a hub with --sdk-url instead"
  return url === ownUrl ? "yours: signalbox ls" : `SIGNALBOX_URL=${url} SIGNALBOX_TOKEN=… signalbox ls`
}
