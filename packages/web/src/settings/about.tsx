import type { ReactNode } from "react"
import { APP_NAME } from "../app/app-name.ts"
import { unknownEvents } from "../app/unknown-events.ts"
import { useValue } from "../app/value-store.ts"
import { oneLine } from "../design/visible-characters.ts"
import { plural } from "../design/words.ts"
import { useMachines } from "../fleet/machine-store.tsx"
import { OWN_VERSION } from "../machines/own-version.ts"

/** What runs here and on the machines, and what of it the cockpit does not know yet. */
export function About() {
  const { all } = useMachines()
  const unknown = [...useValue(unknownEvents)].toSorted(([, a], [, b]) => b - a)
  return (
    <div className="flex flex-col gap-6">
      <Part title="Versions">
        <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1.5">
          <Version of={APP_NAME}>{OWN_VERSION}</Version>
          {all.map(({ id, name, version, cliVersions }) => (
            <Version key={id} of={oneLine(name, 80)}>
              runner {version}
              {cliVersions.length > 0 && `, Claude Code ${cliVersions.join(", ")}`}
            </Version>
          ))}
        </dl>
      </Part>
      <Part title="Events that this version does not know">
        {unknown.length === 0 ? (
          <p className="text-text-2">None was shown since this page was opened.</p>
        ) : (
          <>
            <ul aria-label="Unknown events" className="flex flex-col gap-1">
              {unknown.map(([kind, count]) => (
                <li key={kind} className="flex gap-3">
                  <bdi className="min-w-0 truncate font-mono text-dense">{oneLine(kind, 80)}</bdi>
                  <span className="shrink-0 text-text-2 tabular-nums">{plural(count, "event")}</span>
                </li>
              ))}
            </ul>
            <p className="text-dense text-text-2">
              Shown since this page was opened, as they came. A newer {APP_NAME} may know what they mean.
            </p>
          </>
        )}
      </Part>
    </div>
  )
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="flex flex-col gap-2">
      <h2 className="font-medium">{title}</h2>
      {children}
    </section>
  )
}

function Version({ of, children }: { readonly of: string; readonly children: ReactNode }) {
  return (
    <>
      <dt className="text-text-2">
        <bdi>{of}</bdi>
      </dt>
      <dd className="min-w-0 tabular-nums">{children}</dd>
    </>
  )
}
