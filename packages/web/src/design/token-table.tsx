import { type ModelUses, TOKEN_KINDS, type TokenCount, totalTokens } from "@signalbox/protocol/transcript"
import { oneLine } from "./visible-characters.ts"
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
  return (
    <div className="max-w-full overflow-x-auto" tabIndex={0} role="group" aria-label="Tokens">
      <table className="text-end text-meta whitespace-nowrap tabular-nums [&_:is(td,th)]:px-2 [&_:is(td,th)]:py-0.5 [&_th]:font-medium [&_th]:text-text-2">
        <thead>
          <tr>
            <td />
            {TOKEN_KINDS.map(([kind, words]) => (
              <th key={kind} scope="col" className="text-end">
                {words}
              </th>
            ))}
            <th scope="col" className="text-end">
              total
            </th>
            {uses.length > 0 && (
              <th scope="col" className="text-end">
                cost
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          <Count name={name} tokens={tokens} cost={uses.length > 0 ? "" : undefined} />
          {uses.map(([model, use]) => (
            <Count key={model} name={oneLine(model, 60)} tokens={use} cost={money(use.costUsd)} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Count({ name, tokens, cost }: { name: string; tokens: TokenCount; cost: string | undefined }) {
  return (
    <tr>
      <th scope="row" className="text-start">
        {name}
      </th>
      {TOKEN_KINDS.map(([kind]) => (
        <td key={kind}>{tokens[kind].toLocaleString("en")}</td>
      ))}
      <td>{totalTokens(tokens).toLocaleString("en")}</td>
      {cost !== undefined && <td>{cost}</td>}
    </tr>
  )
}
