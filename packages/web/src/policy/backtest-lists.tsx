import type { Backtest, BacktestExample } from "@signalbox/client"
import { useNow } from "../app/clock.ts"
import { Link } from "../app/router.tsx"
import { classes } from "../design/classes.ts"
import { oneLine } from "../design/visible-text.tsx"
import { moment, plural } from "../design/words.ts"

type ListName = "contradicts" | "noLongerAsked" | "newlyAsked" | "newlyDenied"

/** The worst first. */
const LISTS: readonly (readonly [name: ListName, title: string, look: string])[] = [
  ["contradicts", "Allowed, although a person denied it", "text-danger"],
  ["newlyDenied", "Newly denied", "text-danger"],
  ["newlyAsked", "Newly asked", "text-caution"],
  ["noLongerAsked", "No longer asked", "text-clear"],
]

/** Lists the requests that a policy decides otherwise than the one in force. */
export function BacktestLists({ result }: { readonly result: Backtest }) {
  const now = useNow()
  const since = result.since === null ? "" : ` since ${moment(Date.parse(result.since), now)}`
  const changed = LISTS.filter(([name]) => result[name].count > 0)
  return (
    <section aria-label="Test on past requests" className="flex flex-col gap-3">
      <p role="status" className="text-dense text-text-2">
        Tested on {plural(result.requests, "request")}
        {since}.
        {result.notTestable > 0 && ` ${plural(result.notTestable, "request")} can't be tested: the input is gone.`}
        {!result.complete && " Older requests weren't tested: it took too long."}
        {changed.length === 0 && " Nothing would have changed."}
      </p>
      {changed.map(([name, title, look]) => (
        <section key={name} className="flex flex-col gap-1">
          <h3 className={classes("text-dense font-bold", look)}>
            {title} <span className="tabular-nums">({result[name].count.toLocaleString("en")})</span>
          </h3>
          <ExampleList label={title} list={result[name]} />
        </section>
      ))}
    </section>
  )
}

export function ExampleList({ label, list }: { readonly label: string; readonly list: Backtest[ListName] }) {
  const left = list.count - list.examples.length
  return (
    <>
      <ul aria-label={label} className="flex flex-col divide-y divide-line rounded-card border border-line bg-surface">
        {list.examples.map((example, index) => (
          // A message may call the same tool twice, and the list never changes.
          <Example key={index} example={example} />
        ))}
      </ul>
      {left > 0 && <p className="text-meta text-text-3">And {left.toLocaleString("en")} more.</p>}
    </>
  )
}

function Example({ example }: { readonly example: BacktestExample }) {
  const now = useNow()
  const { session, seq, tool, text, at, was, would, rule, by } = example
  return (
    <li className="relative flex flex-col gap-0.5 px-3 py-2 hover:bg-sunken">
      <Link
        href={`/s/${encodeURIComponent(session)}?seq=${seq}`}
        className="truncate font-mono text-dense after:absolute after:inset-0"
      >
        <bdi>{oneLine(text === "" ? tool : text, 200)}</bdi>
      </Link>
      <span className="flex flex-wrap gap-x-2 text-meta text-text-3">
        <span>{oneLine(tool, 60)}</span>
        <span className="tabular-nums">{moment(Date.parse(at), now)}</span>
        <span>
          {was} → {would}
        </span>
        {by !== undefined && <span>answered by {oneLine(by, 60)}</span>}
        {rule !== null && <span>rule {oneLine(rule, 60)}</span>}
      </span>
    </li>
  )
}
