import { type ModelUses, TOKEN_KINDS, type TokenCount, totalTokens } from "@signalbox/transcript"
import type { ReactNode } from "react"
import { oneLine } from "./visible-text.tsx"
import { money } from "./words.ts"

interface TokenTableProps {
  /** Which turns they are of. */
  readonly name: string
  readonly tokens: TokenCount
  readonly models?: ModelUses | undefined
}

/** How many tokens of which kind, in all and by model. The kinds do not overlap. */
export function TokenTable({ name, tokens, models = {} }: TokenTableProps) {
  const uses = Object.entries(models)
  const columns = [{ name, tokens }, ...uses.map(([model, use]) => ({ name: oneLine(model, 60), tokens: use }))]
  return (
    <div className="max-w-full overflow-x-auto" tabIndex={0} role="group" aria-label="Tokens">
      <table className="text-meta whitespace-nowrap tabular-nums [&_:is(td,th)]:px-2 [&_:is(td,th)]:py-0.5 [&_:is(td,th)]:text-end [&_:is(td,th):first-child]:ps-0 [&_:is(td,th):first-child]:text-start [&_th]:font-medium [&_th]:text-text-2">
        <thead>
          <tr>
            <td />
            {columns.map((column) => (
              <th key={column.name} scope="col">
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {TOKEN_KINDS.map(([kind, words]) => (
            <Line key={kind} name={words} cells={columns.map((column) => column.tokens[kind].toLocaleString("en"))} />
          ))}
          <Line name="total" cells={columns.map((column) => totalTokens(column.tokens).toLocaleString("en"))} />
          {uses.length > 0 && <Line name="cost" cells={["", ...uses.map(([, { costUsd }]) => money(costUsd))]} />}
        </tbody>
      </table>
    </div>
  )
}

function Line({ name, cells }: { readonly name: string; readonly cells: readonly ReactNode[] }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      {cells.map((cell, index) => (
        <td key={index}>{cell}</td>
      ))}
    </tr>
  )
}
