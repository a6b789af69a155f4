import type { Session } from "@signalbox/client"
import { isObject, textOf } from "@signalbox/protocol/envelope"
import { useState } from "react"
import { type Offer, useAgentCatalog } from "../../agent/agent-catalog.ts"
import { refusalWords, useAgentQuestion } from "../../agent/agent-question.ts"
import { useHub } from "../../app/hub-context.ts"
import { Button } from "../../design/button.tsx"
import { classes } from "../../design/classes.ts"
import { Skeleton, Trouble } from "../../design/notice.tsx"
import { oneLine } from "../../design/visible-text.tsx"
import { plural } from "../../design/words.ts"
import type { PanelProps } from "./session-panels.tsx"

interface Server {
  readonly name: string
  readonly status: string
  readonly error: string
  readonly tools: number | undefined
}

function readServers(reply: unknown): readonly Server[] {
  const list: readonly unknown[] = isObject(reply) && Array.isArray(reply["mcpServers"]) ? reply["mcpServers"] : []
  return list.filter(isObject).map((server) => ({
    name: textOf(server, "name") ?? "",
    status: textOf(server, "status") ?? "unknown",
    error: oneLine(textOf(server, "error") ?? "", 300),
    tools: Array.isArray(server["tools"]) ? server["tools"].length : undefined,
  }))
}

/** The agent's servers, commands, and the agents it may set to work. */
export function ToolsPanel({ session, feed }: PanelProps) {
  const { commands, agents } = useAgentCatalog(session, feed, true)
  return (
    <div className="flex flex-col gap-5">
      <Servers session={session} />
      <Offers title="Commands" offers={commands} prefix="/" none="No commands yet." />
      <Offers title="Agents" offers={agents} prefix="" none="No sub-agents yet." />
    </div>
  )
}

function Servers({ session }: { readonly session: Session }) {
  const [reply, askAgain] = useAgentQuestion({ session, subtype: "mcp_status", read: readServers })
  const [trouble, setTrouble] = useState<string | undefined>(undefined)
  return (
    <section aria-label="MCP servers" className="flex flex-col gap-1">
      <h3 className="flex items-center justify-between text-dense font-bold">
        MCP servers
        {reply.name !== "unavailable" && (
          <Button look="quiet" onClick={askAgain}>
            Refresh
          </Button>
        )}
      </h3>
      <Trouble>{trouble}</Trouble>
      {reply.name === "asking" && <Skeleton rows={2} />}
      {(reply.name === "unavailable" || reply.name === "refused") && (
        <p className="text-dense text-text-2">{reply.why}</p>
      )}
      {reply.name === "told" && reply.value.length === 0 && <p className="text-dense text-text-2">No MCP servers.</p>}
      {reply.name === "told" && (
        <ul className="flex flex-col">
          {reply.value.map((server) => (
            <ServerItem
              key={server.name}
              server={server}
              session={session}
              onChanged={askAgain}
              onTrouble={setTrouble}
            />
          ))}
        </ul>
      )}
    </section>
  )
}

const STATUS_LOOKS: Readonly<Record<string, string>> = { connected: "text-clear", failed: "text-danger" }

interface ServerItemProps {
  readonly server: Server
  readonly session: Session
  readonly onChanged: () => void
  readonly onTrouble: (why: string | undefined) => void
}

function ServerItem({ server, session, onChanged, onTrouble }: ServerItemProps) {
  const hub = useHub()
  const [isBusy, setBusy] = useState(false)
  const { name, status, error, tools } = server
  const isOff = status === "disabled"
  const shown = oneLine(name, 80)

  /** The agent's own word is shown afterwards, whatever came of it. */
  async function change(request: { readonly subtype: string; readonly [field: string]: unknown }): Promise<void> {
    if (isBusy) return
    setBusy(true)
    onTrouble(undefined)
    try {
      await hub.session(session.id).control({ ...request, serverName: name })
    } catch (failure) {
      onTrouble(`${shown}: ${refusalWords(failure, session)}`)
    } finally {
      setBusy(false)
      onChanged()
    }
  }

  return (
    <li className="flex flex-col gap-1 border-b border-line py-2">
      <span className="flex flex-wrap items-center gap-2 text-dense">
        <bdi className="min-w-0 flex-1 truncate font-medium">{shown}</bdi>
        <span className={classes("shrink-0 text-meta", STATUS_LOOKS[status] ?? "text-text-2")}>
          {[oneLine(status, 40), tools === undefined ? "" : plural(tools, "tool")].filter(Boolean).join(" · ")}
        </span>
      </span>
      {error !== "" && <bdi className="text-meta text-danger">{error}</bdi>}
      <span className="flex items-center gap-3">
        <label className="flex min-h-8 items-center gap-2 text-dense coarse:min-h-11">
          <input
            type="checkbox"
            role="switch"
            aria-label={`Use ${shown}`}
            aria-busy={isBusy}
            checked={!isOff}
            onChange={() => void change({ subtype: "mcp_toggle", enabled: isOff })}
            className="size-4.5"
          />
          {isOff ? "Off" : "On"}
        </label>
        {!isOff && (
          <Button
            aria-label={`Reconnect ${shown}`}
            aria-disabled={isBusy}
            onClick={() => void change({ subtype: "mcp_reconnect" })}
          >
            Reconnect
          </Button>
        )}
      </span>
    </li>
  )
}

interface OffersProps {
  readonly title: string
  readonly offers: readonly Offer[]
  readonly prefix: string
  readonly none: string
}

function Offers({ title, offers, prefix, none }: OffersProps) {
  return (
    <section aria-label={title} className="flex flex-col gap-1">
      <h3 className="text-dense font-bold">
        {title} {offers.length > 0 && <span className="font-normal text-text-3">{offers.length}</span>}
      </h3>
      {offers.length === 0 && <p className="text-dense text-text-2">{none}</p>}
      <dl className="flex flex-col gap-1 text-dense">
        {offers.map(({ name, description, hint }) => (
          <div key={name}>
            <dt className="font-mono text-meta">
              {prefix}
              {name} {hint !== "" && <span className="text-text-3">{hint}</span>}
            </dt>
            {description !== "" && <dd className="text-text-2">{description}</dd>}
          </div>
        ))}
      </dl>
    </section>
  )
}
