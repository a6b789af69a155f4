import type { PolicyInForce } from "@signalbox/client"
import { SEES } from "@signalbox/policy"
import { useCallback, useState } from "react"
import { useMe } from "../app/hub-context.ts"
import { Button } from "../design/button.tsx"
import { Dialog } from "../design/dialog.tsx"
import { ChangeReview, type Policy } from "./change-review.tsx"

interface PolicySettingsProps {
  readonly policy: PolicyInForce
  readonly onChanged: () => void
}

interface Setting {
  readonly name: string
  readonly title: string
  /** The value now and the one it can be changed to, each in words. */
  readonly now: string
  readonly other: string
  /** To know before it is changed. */
  readonly note?: string
  readonly points?: readonly string[]
  readonly value: unknown
}

const ENFORCE_NOTE =
  "Agents that can't be judged are refused: external ones, and Claude Code before 2.1.200. Hooks of settings files and plugins don't run. Rules still can't judge:"

/** Switches of the policy besides its rules. A hub that does not know one does not tell it. */
function settingsOf(policy: PolicyInForce): readonly Setting[] {
  const isEverything = policy["enforce"] === "everything"
  const asked = "Rules judge what agents ask about."
  const everything = "Rules judge every tool call. Applies to agents started from now on."
  const isRelayOn = policy.relayAutoApproval
  const relayed = "Plain relay sessions allow every tool automatically."
  const notRelayed = "Plain relay sessions ask like any other."
  return [
    ...("enforce" in policy
      ? [
          {
            name: "enforce",
            title: "What rules judge",
            now: isEverything ? everything : asked,
            other: isEverything ? asked : everything,
            value: isEverything ? "asked" : "everything",
            ...(isEverything ? {} : { note: ENFORCE_NOTE, points: SEES.everything.notJudged }),
          },
        ]
      : []),
    {
      name: "relayAutoApproval",
      title: "Plain relay",
      now: isRelayOn ? relayed : notRelayed,
      other: isRelayOn ? notRelayed : relayed,
      value: !isRelayOn,
    },
  ]
}

/** How the policy works as a whole, and what no rule can stop. */
export function PolicySettings({ policy, onChanged }: PolicySettingsProps) {
  const isAdmin = useMe().role === "admin"
  const [changing, setChanging] = useState<Setting | undefined>(undefined)
  return (
    <section aria-label="How rules apply" className="mt-4 flex flex-col gap-3 border-t border-line pt-4">
      <dl className="flex flex-col gap-2">
        {settingsOf(policy).map((setting) => (
          <div key={setting.name} className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <dt className="font-medium">{setting.title}</dt>
            <dd className="min-w-0 flex-1 text-text-2">{setting.now}</dd>
            {isAdmin && (
              <dd>
                <Button aria-label={`Change: ${setting.title}`} onClick={() => setChanging(setting)}>
                  Change…
                </Button>
              </dd>
            )}
          </div>
        ))}
      </dl>
      <details className="text-dense text-text-2">
        <summary className="w-fit cursor-pointer rounded-control py-1 coarse:min-h-11">What rules can't stop</summary>
        <p className="max-w-prose pt-1">{policy.sees.judged}</p>
        <Points points={policy.sees.notJudged} />
      </details>
      {isAdmin && <ChangeSetting setting={changing} onClose={() => setChanging(undefined)} onChanged={onChanged} />}
    </section>
  )
}

function Points({ points }: { readonly points: readonly string[] }) {
  return (
    <ul className="mt-1 flex max-w-prose list-disc flex-col gap-1 ps-5">
      {points.map((words) => (
        <li key={words}>{words}</li>
      ))}
    </ul>
  )
}

interface ChangeSettingProps {
  readonly setting: Setting | undefined
  readonly onClose: () => void
  readonly onChanged: () => void
}

function ChangeSetting({ setting, onClose, onChanged }: ChangeSettingProps) {
  const { name = "", value } = setting ?? {}
  const change = useCallback((policy: Policy) => ({ ...policy, [name]: value }), [name, value])
  return (
    <Dialog title={setting?.title ?? ""} open={setting !== undefined} onClose={onClose}>
      <div className="flex flex-col gap-4 overflow-y-auto px-4 pb-4">
        <p>{setting?.other}</p>
        {setting?.note !== undefined && (
          <div className="text-dense text-text-2">
            <p>{setting.note}</p>
            <Points points={setting.points ?? []} />
          </div>
        )}
        <ChangeReview
          change={change}
          action="Change"
          onSaved={() => {
            onClose()
            onChanged()
          }}
          onCancel={onClose}
        />
      </div>
    </Dialog>
  )
}
