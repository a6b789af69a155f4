import { textOf } from "@signalbox/protocol/envelope"
import type { NoteRow } from "@signalbox/transcript"
import { classes } from "../../design/classes.ts"
import { Notice } from "../../design/notice.tsx"
import { oneLine } from "../../design/visible-characters.ts"
import { shortPath } from "../../design/words.ts"
import { OutputText } from "../content/output-text.tsx"
import { Divider } from "./small-rows.tsx"

const LEVELS = {
  quiet: "text-meta text-text-3",
  info: "text-dense text-info",
  warning: "text-dense text-caution",
  danger: "text-dense text-danger",
} as const

export function NoteRowView({ row }: { readonly row: NoteRow }) {
  if (row.isDivider) return <Divider>{oneLine(row.text, 200)}</Divider>
  if (row.level === "danger")
    return (
      <Notice tone="danger">
        <p className="whitespace-pre-wrap first-line:font-medium">{row.text}</p>
      </Notice>
    )
  if (row.topic === "local_command_output") return <OutputText text={row.text} from="end" />
  return (
    <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
      <p className={classes("whitespace-pre-wrap", LEVELS[row.level])}>{row.text}</p>
      <Chips names={namesIn(row)} />
    </div>
  )
}

const MAX_CHIPS = 8

function Chips({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return null
  const rest = names.length - MAX_CHIPS
  return (
    <ul className="flex min-w-0 flex-wrap gap-1.5">
      {names.slice(0, MAX_CHIPS).map((name, index) => (
        <li key={index} title={name} className={CHIP}>
          {oneLine(shortPath(name, 2), 60)}
        </li>
      ))}
      {rest > 0 && <li className={CHIP}>{`and ${rest} more`}</li>}
    </ul>
  )
}

const CHIP = "max-w-full truncate rounded-[4px] border border-line px-1.5 text-meta text-text-2"

/** What a note only counts: files that were stored, memories that were recalled. */
function namesIn({ topic, details }: NoteRow): readonly string[] {
  const [list, field] =
    topic === "files_persisted"
      ? [details["files"], "filename"]
      : topic === "memory_recall"
        ? [details["memories"], "path"]
        : [undefined, ""]
  return Array.isArray(list) ? list.flatMap((item: unknown) => textOf(item, field) ?? []) : []
}
