import { VisibleText } from "../../design/visible-text.tsx"
import { Markdown } from "../../transcript/content/markdown.tsx"
import { requestedApprovals } from "./plan-comments.ts"

export function PlanText({ plan }: { readonly plan: string | undefined }) {
  if (plan === undefined) return <p>The plan is in a file on its machine.</p>
  return <Markdown text={plan} live={false} />
}

/** What would be allowed along with the plan. */
export function RequestedApprovals({ input }: { readonly input: Readonly<Record<string, unknown>> | undefined }) {
  const approvals = requestedApprovals(input)
  if (approvals.length === 0) return null
  return (
    <div className="text-dense">
      <p className="font-medium">It asks to be allowed, without further questions:</p>
      <ul className="list-disc ps-5">
        {approvals.map((approval) => (
          <li key={approval}>
            <VisibleText text={approval} />
          </li>
        ))}
      </ul>
    </div>
  )
}
